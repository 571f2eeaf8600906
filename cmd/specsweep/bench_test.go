package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkVersion is the time of a whole process that does nothing but say its
// version: what every command pays before it starts.
func BenchmarkVersion(b *testing.B) {
	binary := os.Getenv("SPECSWEEP_BENCH_BINARY")
	if binary == "" {
		binary = filepath.Join(b.TempDir(), "specsweep")
		if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	for b.Loop() {
		if out, err := exec.Command(binary, "version").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
}
