package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/runner/result"
)

// docs/columns.md explains every column of results.csv.
func TestColumnsAreExplained(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "columns.md"))
	if err != nil {
		t.Fatal(err)
	}
	var csv bytes.Buffer
	if err := result.WriteCSV(&csv, []result.Row{{}}); err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(csv.String(), "\n")
	for column := range strings.SplitSeq(strings.TrimSpace(header), ",") {
		if !bytes.Contains(doc, []byte("`"+column+"`")) {
			t.Errorf("docs/columns.md does not explain %s", column)
		}
	}
}
