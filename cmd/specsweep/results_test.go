package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/specsweep/specsweep/runner/result"
)

// What is checked in below results/ still reads, and its CSV holds its rows.
func TestCheckedInResults(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join("..", "..", "results", "*", "*", result.RowsFile))
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatal("no run-set is checked in below results/")
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		rows, problems, err := result.Read(dir)
		if err != nil || len(problems) > 0 || len(rows) == 0 {
			t.Errorf("Read(%s) = %d rows, %v, %v", dir, len(rows), problems, err)
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "results.csv"))
		if err != nil {
			t.Error(err)
			continue
		}
		if back, err := result.ReadCSV(bytes.NewReader(text)); err != nil || len(back) != len(rows) {
			t.Errorf("%s/results.csv: %d rows, %v; want %d", dir, len(back), err, len(rows))
		}
	}
}
