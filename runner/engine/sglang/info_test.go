package sglang

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzParse: no panic, and an average that is no average never comes out.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"*.json", filepath.Join("*", "*.json")} {
		files, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil || len(files) == 0 {
			f.Fatal("no seeds", err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		i, err := parse(body)
		if err != nil {
			return
		}
		average, reason := i.average()
		if (reason == nil) != (average >= 1) {
			t.Errorf("average %v with the reason %v", average, reason)
		}
		if reason != nil && (reason.Code == "" || reason.Text == "") {
			t.Errorf("a reason that says nothing: %+v", reason)
		}
		if n := i.numSteps(); n != nil && *n <= 0 {
			t.Errorf("num_steps %d", *n)
		}
	})
}
