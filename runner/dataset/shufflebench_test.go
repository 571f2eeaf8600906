package dataset

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// millionRows is a jsonl of a million rows of about a kilobyte.
func millionRows(b *testing.B) (path string, size int64) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "million.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	filler := strings.Repeat("some more words of an ordinary prompt; ", 24)
	for i := range 1_000_000 {
		fmt.Fprintf(w, "{\"id\":%d,\"prompt\":\"%s%d\"}\n", i, filler[:len(filler)-i%100], i)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if size, err = f.Seek(0, 1); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path, size
}

// BenchmarkShuffled64Of1M must be one pass over the bytes at 1 GB/s or more, the
// shuffle of the row numbers included, and keep below 50 MB beside the index.
func BenchmarkShuffled64Of1M(b *testing.B) {
	path, size := millionRows(b)
	d := shuffledBy(byPrompt(path, "prompt"), 42)
	b.SetBytes(size)
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
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "sys-MB")
}

// BenchmarkLineStarts is the pass over the bytes by itself.
func BenchmarkLineStarts(b *testing.B) {
	path, size := millionRows(b)
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.SetBytes(size)
	for b.Loop() {
		starts, err := lineStarts(b.Context(), f, 0, size)
		if err != nil {
			b.Fatal(err)
		}
		if len(starts) != 1_000_000 {
			b.Fatalf("%d lines", len(starts))
		}
	}
}

// BenchmarkPermutation is the shuffle of a million row numbers.
func BenchmarkPermutation(b *testing.B) {
	for b.Loop() {
		if _, err := permutation(b.Context(), 42, 1_000_000); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParquetRows is all rows of a parquet file, in rows a second.
func BenchmarkParquetRows(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.parquet")
	const n = 100_000
	writeGroups(b, path, questions(n), 20_000)
	in := file{path: path}
	for b.Loop() {
		rows := 0
		for _, err := range readParquet(b.Context(), in, []string{"question"}, 0) {
			if err != nil {
				b.Fatal(err)
			}
			rows++
		}
		if rows != n {
			b.Fatalf("%d rows, want %d", rows, n)
		}
	}
	ours := float64(n) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(ours, "rows/s")
	if theirs, ok := pyarrowRows(b, path); ok {
		b.ReportMetric(theirs, "pyarrow-rows/s")
		b.ReportMetric(ours/theirs, "of-pyarrow")
	}
}

// pyarrowRows reads the same file to Python strings with pyarrow, where Python
// has it: $SPECSWEEP_BENCH_PYTHON, else python3. The best of five.
func pyarrowRows(b *testing.B, path string) (rowsPerSecond float64, ok bool) {
	python := os.Getenv("SPECSWEEP_BENCH_PYTHON")
	if python == "" {
		python = "python3"
	}
	const script = `
import sys, time
import pyarrow.parquet as pq
best = 0
for _ in range(5):
    start, rows = time.perf_counter(), 0
    for batch in pq.ParquetFile(sys.argv[1]).iter_batches(columns=["question"]):
        rows += len(batch.column(0).to_pylist())
    best = max(best, rows / (time.perf_counter() - start))
print(best)
`
	out, err := exec.Command(python, "-c", script, path).Output()
	if err != nil {
		return 0, false // no Python, or none with pyarrow
	}
	if _, err := fmt.Sscan(string(out), &rowsPerSecond); err != nil {
		b.Fatal(err)
	}
	return rowsPerSecond, true
}
