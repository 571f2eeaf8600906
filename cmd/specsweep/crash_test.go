package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/sim"
)

// kills is how often TestKilledAndResumed kills; docs/reliability.md was made with 200.
var kills = flag.Int("kills", 6, "kills of TestKilledAndResumed")

const crashPlan = `version: 1
name: crash
engine: vllm
baseline_server: %s
servers:
  - {name: a, server: %s}
  - {name: b, server: %s}
datasets: [{name: d, input_data: p.jsonl, prompt_column: prompt}]
num_prompts: 12
concurrency: [1, 2, 4, 6]
max_new_tokens: 32
repeats: 5
server_wait_s: 5
`

// TestKilledAndResumed kills the real binary at random moments of a plan of 40 runs and
// resumes it each time. In the end every run is there once, with the counts of a sweep
// that nobody disturbed.
func TestKilledAndResumed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var urls []any
	for i, c := range []sim.Config{
		{Model: "m", NoSpec: true},
		{Model: "m", Accept: []float64{0.8, 0.6, 0.4}, Seed: 1, Same: true, RequestDetails: true},
		{Model: "m", Accept: []float64{0.5, 0.2}, Seed: 2, Same: true, RequestDetails: true},
	} {
		c.StepTimePerRequest = time.Duration(i+1) * 50 * time.Microsecond
		s, err := sim.Listen(c, "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		urls = append(urls, s.URL())
	}
	write(t, filepath.Join(dir, "plan.yaml"), fmt.Sprintf(crashPlan, urls...))
	var prompts strings.Builder
	for i := range 12 {
		fmt.Fprintf(&prompts, "{\"prompt\": \"number %d\"}\n", i)
	}
	write(t, filepath.Join(dir, "p.jsonl"), prompts.String())

	undisturbed := filepath.Join(dir, "undisturbed")
	if out, err := specsweep(t, dir, "run", "plan.yaml", "--out", undisturbed).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	killed := 0
	rng := rand.New(rand.NewPCG(1, 2))
	for killed < *kills {
		// Sets one after the other, until there were kills enough.
		set := filepath.Join(dir, fmt.Sprintf("killed-%d", killed))
		killed += killUntilDone(t, dir, set, rng, *kills-killed)
		if diff := cmp.Diff(countsOf(t, undisturbed), countsOf(t, set)); diff != "" {
			t.Fatalf("after %d kills (-undisturbed +killed):\n%s", killed, diff)
		}
		for _, f := range []string{"results.csv", "results.md", "results.json"} {
			if n := bytes.Count(read(t, filepath.Join(set, f)), []byte("\n")); f == "results.csv" && n != 41 {
				t.Fatalf("%s has %d lines, want the header and 40", f, n)
			}
		}
	}
	t.Logf("%d kills survived", killed)
}

// killUntilDone starts the sweep, kills it, and resumes it, until it ends by itself or
// has been killed so often; then it is left alone to its end.
func killUntilDone(t *testing.T, dir, set string, rng *rand.Rand, most int) (killed int) {
	t.Helper()
	for {
		cmd := specsweep(t, dir, "run", "plan.yaml", "--out", set, "--resume", "auto")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var fuse <-chan time.Time
		if killed < most {
			fuse = time.After(time.Duration(20+rng.IntN(480)) * time.Millisecond)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("after %d kills: %v\n%s", killed, err, out.String())
			}
			return killed
		case <-fuse:
			_ = cmd.Process.Kill()
			<-ended
			killed++
		}
	}
}

// specsweep is the program itself, as testscript gives it: this test's binary under
// another name.
func specsweep(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Args[0] = "specsweep"
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	return cmd
}

// countsOf is all of a run-set's rows that does not depend on time: one entry a run.
func countsOf(t *testing.T, dir string) map[string]map[string]any {
	t.Helper()
	rows, problems, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 40 {
		t.Fatalf("%s has %d rows, want 40 (%v)", dir, len(rows), problems)
	}
	out := map[string]map[string]any{}
	for i := range rows {
		text, err := json.Marshal(rows[i])
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]any{}
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		kept := map[string]any{}
		for _, name := range []string{
			"run_index", "run_id", "server", "dataset", "concurrency", "repeat", "num_prompts", "completed", "failed", "output_tokens",
			"accept_length", "acceptance_rate", "num_drafts", "num_draft_tokens", "num_accepted_tokens", "baseline_output_tokens",
			"baseline_completed", "prompt_set", "error",
		} {
			kept[name] = all[name]
		}
		out[rows[i].RunID] = kept
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
