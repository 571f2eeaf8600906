package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

func render(t *testing.T, format string, s Set) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; go test ./report -update writes it anew (-want +got)\n%s", path, diff)
	}
}

// TestGolden compares every format of every set with its file.
func TestGolden(t *testing.T) {
	for name, set := range sets() {
		for _, f := range Formats() {
			t.Run(name+"/"+f.Name, func(t *testing.T) { golden(t, name+f.Ext, render(t, f.Name, set)) })
		}
		t.Run(name+"/bench table", func(t *testing.T) {
			var b bytes.Buffer
			if err := BenchTable(&b, set.Rows); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".bench.txt", b.String())
		})
		t.Run(name+"/bench json", func(t *testing.T) {
			text, err := BenchSweepJSON(set.Rows)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".bench.json", string(text))
		})
	}
}

// TestNothingUnsafe looks for what no format may let through.
func TestNothingUnsafe(t *testing.T) {
	for name, set := range sets() {
		for _, format := range []string{"terminal", "markdown"} {
			if text := render(t, format, set); strings.ContainsAny(text, "\x1b\x00\r\t\u202e") {
				t.Errorf("%s as %s holds control characters", name, format)
			}
			if text := render(t, format, set); strings.Contains(text, "NaN") || strings.Contains(text, "<nil>") {
				t.Errorf("%s as %s shows a missing value as something else than n/a", name, format)
			}
		}
	}
}

func TestTerminalColourAndWidth(t *testing.T) {
	set := sets()["two_servers"]
	set.Terminal = Terminal{Width: 120, Color: true}
	text := render(t, "terminal", set)
	golden(t, "two_servers.narrow.txt", text)
	plain := strings.NewReplacer(ansiBold, "", ansiReset, "")
	for line := range strings.Lines(text) {
		if strings.Count(line, ansiBold) != strings.Count(line, ansiReset) {
			t.Errorf("colour is not reset in %q", line)
		}
		if s := plain.Replace(line); strings.HasPrefix(s, "ckpt-") && len([]rune(s)) > set.Terminal.Width+1 { // its line break
			t.Errorf("%d columns: %q", len([]rune(s)), s)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	err := Write(&bytes.Buffer{}, "pdf", Set{})
	if err == nil || !strings.Contains(err.Error(), "have benchfmt, csv, github-benchmark, html, json, markdown, svg, terminal") {
		t.Errorf("Write = %v, want an error that lists the formats", err)
	}
}

// TestWriteErrorsArePassedOn writes to what is full.
func TestWriteErrorsArePassedOn(t *testing.T) {
	for _, f := range Formats() {
		if err := Write(fullDisk{}, f.Name, sets()["one_row"]); err == nil {
			t.Errorf("%s: no error from a full disk", f.Name)
		}
	}
	if err := BenchTable(fullDisk{}, nil); err == nil {
		t.Error("bench's table: no error from a full disk")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestRunSetFilesHaveFormats(t *testing.T) {
	for _, f := range RunSetFiles() {
		format, ok := FormatNamed(f.Format)
		if !ok || filepath.Ext(f.File) != format.Ext {
			t.Errorf("%s does not fit the format %q", f.File, f.Format)
		}
	}
}
