//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/sim"
)

// The launched server takes its time to end: it waits for the file go.
const slowEndPlan = `version: 1
name: slow
engine: vllm
order: by_server
servers:
  - {name: fast, server: "%s"}
  - name: slow
    server: http://127.0.0.1:{port}
    launch: {command: [sh, -c, "trap 'touch stopping; while [ ! -e go ]; do sleep 0.02; done; exit' TERM; echo $$ > pid; touch started; while :; do sleep 1; done"]}
datasets: [{name: d, input_data: p.jsonl, prompt_column: prompt}]
num_prompts: 1
concurrency: 1
`

// TestSignalsAfterTheFirst sends what Slurm does: the signal of --signal, then SIGTERM. The
// sweep has not ended its servers yet, and does so in peace; a second Ctrl-C ends it at once.
func TestSignalsAfterTheFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		first syscall.Signal
		then  []syscall.Signal
		dies  bool
	}{
		{"Slurm", syscall.SIGUSR1, []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGHUP}, false},
		{"Kubernetes", syscall.SIGTERM, []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}, false},
		{"Ctrl-C", syscall.SIGINT, []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP}, false},
		{"Ctrl-C twice", syscall.SIGINT, []syscall.Signal{syscall.SIGINT}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := sim.Listen(sim.Config{Model: "m"}, "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			write(t, filepath.Join(dir, "plan.yaml"), fmt.Sprintf(slowEndPlan, s.URL()))
			write(t, filepath.Join(dir, "p.jsonl"), "{\"prompt\": \"one\"}\n")
			cmd := specsweep(t, dir, "run", "plan.yaml", "--out", "set")
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitFile(t, filepath.Join(dir, "started"))
			send(t, cmd, tt.first)
			waitFile(t, filepath.Join(dir, "stopping"))
			for _, sig := range tt.then {
				send(t, cmd, sig)
			}
			if !tt.dies {
				write(t, filepath.Join(dir, "go"), "")
			}
			err = cmd.Wait()
			write(t, filepath.Join(dir, "go"), "")
			waitGone(t, filepath.Join(dir, "pid"))
			exit := new(exec.ExitError)
			if !errors.As(err, &exit) {
				t.Fatalf("%v\n%s", err, out.String())
			}
			if status := exit.Sys().(syscall.WaitStatus); status.Signaled() != tt.dies {
				t.Fatalf("%v, want killed: %t\n%s", err, tt.dies, out.String())
			}
			if tt.dies {
				return
			}
			if exit.ExitCode() != int(exitInterrupted) || !strings.Contains(out.String(), "interrupted; specsweep run plan.yaml --resume set goes on") {
				t.Errorf("exit code %d\n%s", exit.ExitCode(), out.String())
			}
			if m, err := result.ReadManifest(filepath.Join(dir, "set")); err != nil || m.Status != result.StatusInterrupted {
				t.Errorf("status %q, %v", m.Status, err)
			}
		})
	}
}

func send(t *testing.T, cmd *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatalf("sending %v: %v", s, err)
	}
}

// waitFile waits for another process to make a file.
func waitFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s is not there after 30 s", path)
}

// waitGone waits for the end of the process whose id stands in a file.
func waitGone(t *testing.T, path string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(string(read(t, path))))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return
		}
	}
	t.Fatalf("process %d is there after 30 s", pid)
}
