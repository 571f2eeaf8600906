package dataset

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkFirst64Of1M is the start of a large file: it must cost what its first
// rows cost, far below 20 ms.
func BenchmarkFirst64Of1M(b *testing.B) {
	path := filepath.Join(b.TempDir(), "million.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range 1_000_000 {
		fmt.Fprintf(w, "{\"id\":%d,\"prompt\":\"What is %d times two?\"}\n", i, i)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	d := byPrompt(path, "prompt")
	b.ReportAllocs()
	for b.Loop() {
		set, err := Load(b.Context(), d, 64, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if len(set.Prompts) != 64 {
			b.Fatalf("%d prompts, want 64", len(set.Prompts))
		}
	}
}
