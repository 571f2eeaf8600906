package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/specsweep/specsweep/runner/sim"
)

// update rewrites the golden parts of the scripts: make golden.
var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"specsweep": main})
}

// TestScripts runs the real binary. Each script finds simulated servers at
// $VLLM, $VLLM2, $VLLM_BASE, $SGLANG, $SGLANG_NEW, $SGLANG_OLD, $SGLANG_OLD2, $SGLANG_BASE, $FAILING and $LOCKED, and proxies that
// record what they are sent at $RECORDER (before $VLLM) and $RECORDER_BASE, $VLLM2
// behind TLS at $TLS_VLLM (trusted by ca.pem), a forward proxy at host:port $PROXY, a
// redirect to $VLLM at $MOVED, and the Hub of startHub; every script has its own, so none sees another's counters.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               startServers,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"runset":     cmdRunset,
			"count":      cmdCount,
			"near":       cmdNear,
			"waitrows":   cmdWaitRows,
			"exitcode":   cmdExitCode,
			"appendline": cmdAppendLine,
			"holds":      cmdHolds,
			"torn":       cmdTorn,

			"samecounts": cmdSameCounts,
		},
	})
}

func startServers(env *testscript.Env) error {
	spec := []float64{0.8, 0.6, 0.4}
	words := map[string][]float64{"low": {0.2, 0.1}, "mid": {0.5, 0.3, 0.2}} // by words of the prompts
	for name, c := range map[string]sim.Config{
		"VLLM":        {Engine: "vllm", Model: "m", Accept: spec, Seed: 1},
		"VLLM2":       {Engine: "vllm", Model: "m", Accept: []float64{0.5, 0.2}, Seed: 2},
		"DETAILS_OLD": {Engine: "vllm", Model: "m", Accept: spec, Seed: 7, RequestDetails: true},
		"DETAILS_NEW": {Engine: "vllm", Model: "m", Accept: []float64{0.88, 0.68, 0.52}, Seed: 8, RequestDetails: true},
		"VLLM_OLD":    {Engine: "vllm", Model: "m", Accept: spec, Seed: 1, Version: "0.31.0"},
		"STALLED":     {Engine: "vllm", Model: "m", Latency: time.Hour},
		"VLLM_BASE":   {Engine: "vllm", Model: "m", NoSpec: true},
		"SGLANG":      {Engine: "sglang", Model: "m", Accept: spec, Seed: 3},
		"SGLANG_NEW":  {Engine: "sglang", Model: "m", Accept: spec, AcceptFor: words, Seed: 4, Metrics: true},
		"SGLANG_OLD":  {Engine: "sglang", Model: "m", Accept: spec, AcceptFor: words, Seed: 5, Version: "0.5.13"},
		"SGLANG_OLD2": {Engine: "sglang", Model: "m", Accept: spec, AcceptFor: words, Seed: 6, Version: "0.5.13"},
		"SGLANG_BASE": {Engine: "sglang", Model: "m", NoSpec: true},
		"FAILING":     {Engine: "vllm", Model: "m", FailRate: 1},
		"LOCKED":      {Engine: "vllm", Model: "m", APIKey: "another-key"},
	} {
		if err := listen(env, name, c); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"RECORDER": "VLLM", "RECORDER_BASE": "VLLM_BASE"} {
		if err := startRecorder(env, name, env.Getenv(target)); err != nil {
			return err
		}
	}
	if err := startTLS(env, "TLS_VLLM", env.Getenv("VLLM2")); err != nil {
		return err
	}
	if err := startProxy(env); err != nil {
		return err
	}
	startRedirect(env, "MOVED", env.Getenv("VLLM"))
	startEcho(env)
	if err := startHub(env); err != nil {
		return err
	}
	// A word for the command lines of launched servers that no other script, and no
	// other run of the tests, uses.
	env.Setenv("MARK", fmt.Sprintf("mark-%d-%s", os.Getpid(), filepath.Base(env.WorkDir)))
	env.Setenv("HOME", env.WorkDir) // no settings of the user's
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
	return nil
}

func listen(env *testscript.Env, name string, c sim.Config) error {
	s, err := sim.Listen(c, "127.0.0.1:0")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = s.Close() })
	env.Setenv(name, s.URL())
	return nil
}

// cmdRunset sets $NAME to the only run-set below a folder: runset NAME results/demo.
func cmdRunset(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: runset NAME folder")
	}
	dirs, err := os.ReadDir(ts.MkAbs(args[1]))
	ts.Check(err)
	if len(dirs) != 1 {
		ts.Fatalf("%s holds %d run-sets, want 1", args[1], len(dirs))
	}
	ts.Setenv(args[0], filepath.Join(ts.MkAbs(args[1]), dirs[0].Name()))
}

// cmdCount checks how many lines of a file hold a text: count 4 file text.
func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] count N file text")
	}
	n := 0
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if strings.Contains(line, args[2]) {
			n++
		}
	}
	if (fmt.Sprint(n) == args[0]) == neg {
		ts.Fatalf("%s: %d lines hold %q", args[1], n, args[2])
	}
}

// cmdAppendLine adds a line to a file: appendline file text.
func cmdAppendLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: appendline file text")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[0])+args[1]+"\n"), 0o644))
}

// cmdExitCode runs a program and checks its exit code: exitcode 4 specsweep report x.
func cmdExitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N program [args...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// cmdHolds checks that the interval of a metric's change in a comparison's CSV holds a
// value: holds file metric value.
func cmdHolds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: holds file metric value")
	}
	records, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[0]))).ReadAll()
	ts.Check(err)
	want, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	for _, r := range records[1:] {
		cell := func(name string) string { return r[slices.Index(records[0], name)] }
		if cell("metric") != args[1] {
			continue
		}
		low, err := strconv.ParseFloat(cell("delta_low"), 64)
		ts.Check(err)
		high, err := strconv.ParseFloat(cell("delta_high"), 64)
		ts.Check(err)
		if !(low <= want && want <= high) || low == high {
			ts.Fatalf("%s: %g to %g does not hold %g", args[1], low, high, want)
		}
		return
	}
	ts.Fatalf("%s: no line of %s", args[0], args[1])
}

// cmdTorn takes the end of a file's last line away, as a kill in the middle of writing
// does: torn file.
func cmdTorn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: torn file")
	}
	const end = 20
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text[:len(text)-end]), 0o644))
}

// cmdWaitRows waits until the run-set below a folder has so many rows:
// waitrows results/demo 1.
func cmdWaitRows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitrows folder N")
	}
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*", "rows.jsonl"))
		ts.Check(err)
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil && fmt.Sprint(bytes.Count(b, []byte("\n"))) >= args[1] {
				return
			}
		}
		time.Sleep(5 * time.Millisecond) // polls another process's file
	}
	ts.Fatalf("%s: no run-set with %s rows after 30 s", args[0], args[1])
}
