//go:build unix

package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// batchScript is the job array's file, whose behaviour under signals is tested without a
// scheduler here, and with one in .ci/cluster-check.
func batchScript(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "docs", "cluster", "sweep.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// stand-ins for the two programs that the script calls. The first one says when it runs
// and then waits for a signal, as a sweep does in the middle, or for its input to end.
const (
	sweepStandIn = `#!/usr/bin/env bash
trap 'echo "specsweep: SIGTERM"; exit 130' TERM
trap 'echo "specsweep: SIGUSR1"; exit 99' USR1
echo "specsweep $*"
while :; do read -r -t 1 line <&9; code=$?; [ "$code" -gt 128 ] || exit "${line:-0}"; done
`
	scontrolStandIn = `#!/usr/bin/env bash
echo "scontrol $*"
`
)

func TestBatchScriptIsBash(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "bash", "-n", batchScript(t)).CombinedOutput(); err != nil {
		t.Errorf("bash -n: %v\n%s", err, out)
	}
}

func TestBatchScriptDirectives(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(batchScript(t))
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "\nset ") // Slurm reads directives up to the first command
	for _, want := range []string{"--array=1-3", "--requeue", "--signal=B:USR1@60", "--open-mode=append"} {
		if !strings.Contains(head, "\n#SBATCH "+want+"\n") {
			t.Errorf("no #SBATCH %s before the first command", want)
		}
	}
	if !strings.Contains(head, "\n##SBATCH --gpus-per-task=1\n") {
		t.Error("no line for a GPU per task")
	}
	if strings.Count(string(text), "\n#SBATCH ") != strings.Count(head+"\n", "\n#SBATCH ") {
		t.Error("an #SBATCH line after the first command, where Slurm does not see it")
	}
}

func TestBatchScriptUnderSignals(t *testing.T) {
	t.Parallel()
	const call = "specsweep run plan.yaml --shard auto --resume auto"
	for _, tt := range []struct {
		name    string
		env     []string
		signals []syscall.Signal
		end     string // what specsweep ends with by itself
		want    []string
		code    int
	}{
		{
			name: "finished", end: "0", want: []string{call, "task 7_2: exit code 0"},
		}, {
			name: "some runs failed", end: "3", code: 3, want: []string{call, "task 7_2: exit code 3"},
		}, {
			name: "interrupted by somebody else", end: "130", code: 130, want: []string{call, "task 7_2: exit code 130"},
		}, {
			name: "time limit", signals: []syscall.Signal{syscall.SIGUSR1}, code: 130,
			want: []string{
				call, "specsweep: SIGTERM", "task 7_2: the time limit is near, going back to the queue",
				"scontrol requeue 7_2", "task 7_2: exit code 130",
			},
		}, {
			// Slurm has sent it to specsweep too, and requeues by itself where it should.
			name: "preemption", signals: []syscall.Signal{syscall.SIGTERM}, end: "130", code: 130,
			want: []string{call, "task 7_2: SIGTERM, waiting for specsweep", "task 7_2: exit code 130"},
		}, {
			name: "one shard again", env: []string{"SHARD=2/3", "OUT=my sweeps"}, end: "0",
			want: []string{"specsweep run plan.yaml --shard 2/3 --out my sweeps --resume auto", "task 7_2: exit code 0"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, code := runBatch(t, tt.env, tt.signals, tt.end)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
		})
	}
}

// runBatch runs the script with stand-ins, sends it the signals once its program runs, and
// lets the program end with a code. It returns what was printed after the first line,
// which names the host and the time.
func runBatch(t *testing.T, env []string, signals []syscall.Signal, end string) ([]string, int) {
	t.Helper()
	bin := t.TempDir()
	for name, text := range map[string]string{"specsweep": sweepStandIn, "scontrol": scontrolStandIn} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	defer read.Close()
	// The program's end comes through descriptor 9: bash gives background programs an
	// empty standard input.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, func() { write.Close() })() // a script that does not end it: the program sees its input end
	cmd := exec.CommandContext(ctx, "bash", "-c", `exec 9<&3 3<&-; exec bash "$0"`, batchScript(t))
	cmd.ExtraFiles = []*os.File{read}
	cmd.Dir = bin
	cmd.Env = append([]string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "PLAN=plan.yaml", "SLURMD_NODENAME=n1",
		"SLURM_ARRAY_JOB_ID=7", "SLURM_ARRAY_TASK_ID=2",
	}, env...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for s := bufio.NewScanner(stdout); s.Scan(); {
		line := s.Text()
		if strings.HasPrefix(line, "task 7_2 on ") {
			continue
		}
		lines = append(lines, line)
		waiting := strings.HasSuffix(line, "waiting for specsweep")
		if strings.HasPrefix(line, "specsweep run ") {
			for _, sig := range signals {
				if err := cmd.Process.Signal(sig); err != nil {
					t.Error(err)
				}
			}
		}
		// After a signal to the script the program ends only once that has been seen.
		if end != "" && (waiting || len(signals) == 0 && len(lines) == 1) {
			if _, err := write.WriteString(end + "\n"); err != nil {
				t.Error(err)
			}
		}
	}
	_ = cmd.Wait() // the exit code below says it
	return lines, cmd.ProcessState.ExitCode()
}
