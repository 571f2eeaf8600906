package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A process is started suspended and must be let run.
func TestStartedSuspendedAndLetRun(t *testing.T) {
	o := Options{
		Name: "under-test", Command: []string{"cmd.exe", "/c", "echo up"},
		Environ: os.Environ(), LogPath: filepath.Join(t.TempDir(), "server.log"),
	}
	p, err := launch(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Exited():
	case <-time.After(30 * time.Second):
		t.Error("the process does not end by itself")
	}
	if err := p.Stop(); err != nil {
		t.Errorf("Stop() = %v", err)
	}
	if err := p.Err(); err != nil {
		t.Errorf("Err() = %v, want nil", err)
	}
	log, err := os.ReadFile(o.LogPath)
	if err != nil || !strings.HasPrefix(string(log), "up") {
		t.Errorf("log = %q, %v; want it to begin with \"up\"", log, err)
	}
}

// What cmd.exe started holds the log open, so the test's folder cannot be
// removed, and the test fails, unless it has ended too.
func TestStopEndsTheJob(t *testing.T) {
	o := Options{
		Name: "under-test", Command: []string{"cmd.exe", "/c", "ping -n 600 127.0.0.1"},
		Environ: os.Environ(), LogPath: filepath.Join(t.TempDir(), "server.log"),
	}
	p, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("Stop() = %v", err)
	}
}
