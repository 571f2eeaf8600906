package runner_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/all"
	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sink collects rows; stop, when set, is called after so many of them.
type sink struct {
	rows     []result.Row
	passes   []string
	datasets []string
	stopAt   int
	stop     func()
	fail     error

	requests []result.Request
	saved    []result.SavedRequest
	order    []string // requests and rows, as they came
	probed   []runner.ServerRecord
}

func (s *sink) Probed(r runner.ServerRecord) { s.probed = append(s.probed, r) }
func (s *sink) Loaded(d runner.DatasetRecord) {
	s.datasets = append(s.datasets, fmt.Sprintf("%s %d", d.Dataset.Name, d.Prompts))
}
func (s *sink) PassStarted(runner.PassInfo) {}
func (s *sink) RequestDone()                {}
func (s *sink) PassDone(i runner.PassInfo) {
	role := "server"
	if i.Baseline {
		role = "baseline"
	}
	s.passes = append(s.passes, fmt.Sprintf("%s %s", role, i.Server))
	if s.stop != nil && len(s.passes) == s.stopAt {
		s.stop()
	}
}

func (s *sink) Saved(requests []result.SavedRequest) error {
	s.saved = append(s.saved, requests...)
	s.order = append(s.order, "saved "+requests[0].RunID)
	return nil
}

func (s *sink) Requests(requests []result.Request) error {
	s.requests = append(s.requests, requests...)
	s.order = append(s.order, "requests "+requests[0].RunID)
	return nil
}

func (s *sink) Row(r result.Row) error {
	if s.fail != nil {
		return s.fail
	}
	s.rows = append(s.rows, r)
	s.order = append(s.order, "row "+r.RunID)
	return nil
}

// simServer is a simulated server for the time of a test.
func simServer(t *testing.T, c sim.Config) string {
	t.Helper()
	s, err := sim.Listen(c, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.URL()
}

// promptsFile holds n prompts.
func promptsFile(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"prompt\": \"question %d\"}\n", i)
	}
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// sweep loads the plan's text and carries it out.
func sweep(ctx context.Context, t *testing.T, text string, s *sink) error {
	t.Helper()
	return sweepWith(ctx, t, all.Engines(), text, s)
}

func sweepWith(ctx context.Context, t *testing.T, engines *engine.Registry, text string, s *sink) error {
	t.Helper()
	return sweepChanged(ctx, t, engines, text, s, func(*plan.Plan, []plan.Run) {})
}

// sweepChanged carries out a plan after a change to what was loaded.
func sweepChanged(ctx context.Context, t *testing.T, engines *engine.Registry, text string, s *sink, change func(*plan.Plan, []plan.Run)) error {
	t.Helper()
	p, err := plan.Parse(filepath.Join(t.TempDir(), "plan.yaml"), []byte("version: 1\nname: test\n"+text),
		plan.Options{Engines: engines.Names(), LookupEnv: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	runs := p.Expand()
	change(p, runs)
	return runner.Sweep(ctx, runner.Options{
		Plan: p, Runs: runs, Engines: engines, Sink: s, Log: slog.New(slog.DiscardHandler),
		ToolVersion: "test", LogDir: t.TempDir(), Environ: os.Environ(), LookupEnv: os.LookupEnv, Now: time.Now,
	})
}

// explained fails when a value that is missing has no warning that names it.
func explained(t *testing.T, r result.Row) {
	t.Helper()
	for column, missing := range map[string]bool{
		"accept_length":             r.AcceptLength == nil,
		"acceptance_rate":           r.AcceptanceRate == nil,
		"num_drafts":                r.NumDrafts == nil,
		"num_draft_tokens":          r.NumDraftTokens == nil,
		"num_accepted_tokens":       r.NumAcceptedTokens == nil,
		"speedup":                   r.Speedup == nil,
		"output_throughput_tok_s":   r.OutputThroughputTokS == nil,
		"baseline_throughput_tok_s": r.BaselineThroughputTokS == nil,
		"baseline_completed":        r.BaselineCompleted == nil,
		"cached_tokens":             r.CachedTokens == nil,
		"accept_length_req_p50":     r.AcceptLengthReqP50 == nil,
		"tokens_per_step":           r.TokensPerStep == nil,
		"output_match":              r.OutputMatch == nil,
	} {
		if r.OK() && missing && !r.Warnings.On(column) {
			t.Errorf("row %s: %s is missing and no warning says why: %s", r.RunID, column, r.Warnings)
		}
	}
}

func TestSweepSharesTheBaseline(t *testing.T) {
	base := simServer(t, sim.Config{Engine: "vllm", Model: "m", NoSpec: true})
	a := simServer(t, sim.Config{Engine: "vllm", Model: "m", Accept: []float64{0.8, 0.6, 0.4}, Seed: 1})
	b := simServer(t, sim.Config{Engine: "vllm", Model: "m", Accept: []float64{0.5, 0.2}, Seed: 2})
	s := &sink{}
	err := sweep(t.Context(), t, fmt.Sprintf(`
engine: vllm
baseline_server: %s
servers: [{name: a, server: %s}, {name: b, server: %s}]
datasets: [{name: d, input_data: %s, prompt_column: prompt}]
concurrency: 8
num_prompts: 40
repeats: 2
`, base, a, b, promptsFile(t, 40)), s)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(s.passes, ", "),
		"baseline a, server a, server b, server a, server b, baseline a"; got != want {
		t.Errorf("passes = %s, want %s", got, want)
	}
	if len(s.rows) != 4 {
		t.Fatalf("got %d rows, want 4", len(s.rows))
	}
	for _, r := range s.rows {
		explained(t, r)
		want := map[string]float64{"a": 2.8, "b": 1.7}[r.Server]
		if !r.OK() || r.AcceptLength == nil || math.Abs(*r.AcceptLength/want-1) > 0.05 {
			t.Errorf("row %s of %s: accept_length %v, error %q, want about %v", r.RunID, r.Server, r.AcceptLength, r.Error, want)
		}
		if r.AcceptSource != "counters" || r.Model != "m" || *r.Completed != 40 || *r.BaselineCompleted != 40 || r.Speedup == nil {
			t.Errorf("row %+v: want source counters, the resolved model, 40 completed on both sides and a speedup", r)
		}
		if *r.OutputTokens != *r.BaselineOutputTokens {
			t.Errorf("row %s: %d tokens against %d of the baseline", r.RunID, *r.OutputTokens, *r.BaselineOutputTokens)
		}
	}
}

func TestSweepErrorRows(t *testing.T) {
	good := simServer(t, sim.Config{Engine: "vllm", Model: "m"})
	base := simServer(t, sim.Config{Engine: "vllm", Model: "m", NoSpec: true})
	failing := simServer(t, sim.Config{Engine: "vllm", Model: "m", FailRate: 1})
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	if err := os.WriteFile(empty, []byte("{\"prompt\": \"\"}\n{\"prompt\": null}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, servers, want string
	}{
		{"all requests failed", "[{name: x, server: " + failing + "}, {name: ok, server: " + good + "}]", "all requests failed (0 completed): 8 of 8: HTTP 500"},
		{"wrong model", "[{name: x, model: M, server: " + good + "}, {name: ok, server: " + good + "}]", `"M" is not served`},
		{"server not there", "[{name: x, server: http://127.0.0.1:1}, {name: ok, server: " + good + "}]", "not ready"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &sink{}
			err := sweep(t.Context(), t, fmt.Sprintf(`
engine: vllm
server_wait_s: 0
max_retries: 0
baseline_server: %s
servers: %s
datasets: [{name: d, input_data: %s, prompt_column: prompt}]
num_prompts: 8
`, base, tc.servers, promptsFile(t, 8)), s)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.rows) != 2 {
				t.Fatalf("got %d rows, want 2: the sweep goes on", len(s.rows))
			}
			for _, r := range s.rows {
				switch {
				case r.Server == "ok" && !r.OK():
					t.Errorf("the other server's row failed: %s", r.Error)
				case r.Server == "x" && !strings.Contains(r.Error, tc.want):
					t.Errorf("error = %q, want it to hold %q", r.Error, tc.want)
				}
			}
		})
	}
	t.Run("no usable prompts", func(t *testing.T) {
		s := &sink{}
		err := sweep(t.Context(), t, fmt.Sprintf(`
engine: vllm
servers: [{name: x, server: %s}]
datasets: [{name: none, input_data: %s, prompt_column: prompt}, {name: d, input_data: %s, prompt_column: prompt}]
num_prompts: 8
`, good, empty, promptsFile(t, 8)), s)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.rows) != 2 || !strings.Contains(s.rows[0].Error, "no usable prompts loaded (2 rows, 2 skipped") || !s.rows[1].OK() {
			t.Errorf("rows = %+v, want an error row for none and a good one for d", s.rows)
		}
	})
}

func TestSweepBaselineDownLeavesTheRow(t *testing.T) {
	good := simServer(t, sim.Config{Engine: "vllm", Model: "m"})
	s := &sink{}
	err := sweep(t.Context(), t, fmt.Sprintf(`
engine: vllm
server_wait_s: 0
baseline_server: http://127.0.0.1:1
servers: [{name: x, server: %s}]
datasets: [{name: d, input_data: %s, prompt_column: prompt}]
num_prompts: 8
`, good, promptsFile(t, 8)), s)
	if err != nil {
		t.Fatal(err)
	}
	r := s.rows[0]
	explained(t, r)
	if !r.OK() || r.Speedup != nil || !r.Warnings.On("speedup") || r.OutputThroughputTokS == nil {
		t.Errorf("row = %+v, want an ok row with throughput, and speedup n/a with a reason", r)
	}
}

// A server pass that is done when the interrupt comes keeps its row.
func TestSweepInterrupted(t *testing.T) {
	base := simServer(t, sim.Config{Engine: "vllm", Model: "m", NoSpec: true})
	a := simServer(t, sim.Config{Engine: "vllm", Model: "m"})
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by the test")
	// Repeat 1 goes server, baseline: the third pass is its server's.
	s := &sink{stopAt: 3, stop: func() { cancel(stopped) }}
	err := sweep(ctx, t, fmt.Sprintf(`
engine: vllm
baseline_server: %s
servers: [{name: a, server: %s}]
datasets: [{name: d, input_data: %s, prompt_column: prompt}]
num_prompts: 8
repeats: 3
`, base, a, promptsFile(t, 8)), s)
	if !errors.Is(err, stopped) {
		t.Fatalf("Sweep = %v, want the interrupt's cause", err)
	}
	if len(s.rows) != 2 {
		t.Fatalf("got %d rows, want 2", len(s.rows))
	}
	last := s.rows[1]
	if !last.OK() || last.Speedup != nil || !strings.Contains(last.Warnings.String(), "interrupted before the baseline") {
		t.Errorf("last row: speedup %v, warnings %s; want n/a with the reason", last.Speedup, last.Warnings)
	}
}

func TestSweepStopsWhenARowCannotBeKept(t *testing.T) {
	a := simServer(t, sim.Config{Engine: "vllm", Model: "m"})
	full := errors.New("no space left on device")
	s := &sink{fail: full}
	err := sweep(t.Context(), t, fmt.Sprintf(`
engine: vllm
servers: [{name: a, server: %s}]
datasets: [{name: d, input_data: %s, prompt_column: prompt}]
num_prompts: 8
repeats: 3
`, a, promptsFile(t, 8)), s)
	if !errors.Is(err, full) || len(s.passes) != 1 {
		t.Errorf("Sweep = %v after %d passes, want the sink's error after one", err, len(s.passes))
	}
}

// T04 b: more slots than prompts.
func TestCaseT04EffectiveConcurrency(t *testing.T) {
	a := simServer(t, sim.Config{Engine: "vllm", Model: "m"})
	s := &sink{}
	err := sweep(t.Context(), t, fmt.Sprintf(`
engine: vllm
servers: [{name: a, server: %s}]
datasets: [{name: d, input_data: %s, prompt_column: prompt}]
num_prompts: 8
concurrency: [16, 64]
`, a, promptsFile(t, 8)), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.rows {
		if !strings.Contains(r.Warnings.String(), "effective 8") || !r.Warnings.On("concurrency") {
			t.Errorf("concurrency %d: warnings %s, want effective 8", r.Concurrency, r.Warnings)
		}
	}
}

// D11: fewer usable rows than asked are sent once each, and the row says so.
func TestCaseD11FewerPrompts(t *testing.T) {
	var requests atomic.Int64
	a := simServer(t, sim.Config{Engine: "vllm", Model: "m"})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			requests.Add(1)
		}
		forward(t, a, w, r)
	}))
	defer proxy.Close()
	data := filepath.Join(t.TempDir(), "rows.jsonl")
	text := "{\"prompt\": \"alpha\"}\n{\"prompt\": \"\"}\n{\"prompt\": \"beta\"}\n{\"prompt\": null}\n{\"prompt\": \"gamma\"}\n"
	if err := os.WriteFile(data, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &sink{}
	err := sweep(t.Context(), t, fmt.Sprintf(`
engine: vllm
servers: [{name: a, server: %s}]
datasets: [{name: small, input_data: %s, prompt_column: prompt}]
num_prompts: 8
concurrency: 4
warmup_prompts: 0
`, proxy.URL, data), s)
	if err != nil {
		t.Fatal(err)
	}
	r := s.rows[0]
	if requests.Load() != 3 || *r.NumPrompts != 3 || r.PromptsAsked != 8 || !strings.Contains(r.Warnings.String(), "asked 8") {
		t.Errorf("%d requests, row %+v; want 3 requests, num_prompts 3 and a note that 8 were asked", requests.Load(), r)
	}
}
