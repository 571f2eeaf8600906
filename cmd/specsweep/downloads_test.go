package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// One line for each 64 MiB of each file, and none for what is there at once.
func TestDownloadsSpeakOfLargeFilesOnly(t *testing.T) {
	var out strings.Builder
	d := &downloads{out: &out}
	d.progress("small", 1<<20, 1<<20)
	for done := int64(0); done <= 150<<20; done += 10 << 20 {
		d.progress("data/a\x1b[31m.parquet", done, 200<<20)
	}
	d.progress("unknown", 65<<20, -1)
	want := "downloading data/a[31m.parquet: 73 of 209 MB\ndownloading data/a[31m.parquet: 136 of 209 MB\ndownloading unknown: 68 MB\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
