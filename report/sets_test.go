package report

import (
	"fmt"
	"time"

	"github.com/specsweep/specsweep/runner/result"
)

func ptr[T any](v T) *T { return &v }

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// run is a vLLM run whose numbers fit together: tokens in seconds, 400 tok/s on
// the baseline.
func run(server, dataset string, concurrency, repeat int, seconds float64) result.Row {
	const tokens = 6400
	throughput := tokens / seconds
	return result.Row{
		SchemaVersion: 1, Plan: "demo", Server: server, Engine: "vllm", Model: "org/model", Dataset: dataset,
		CellID: fmt.Sprintf("%s/%s/%d", server, dataset, concurrency), RunID: fmt.Sprintf("%s/%s/%d-r%d", server, dataset, concurrency, repeat),
		Repeat: repeat, Concurrency: concurrency, MaxNewTokens: 256, PromptsAsked: 64, Labels: map[string]string{"gpu": "1xH100"},
		NumPrompts: ptr(64), Completed: ptr(64), Failed: ptr(0), OutputTokens: ptr(int64(tokens)), WallClockS: &seconds,
		OutputThroughputTokS: &throughput, AcceptLength: ptr(2.3), AcceptanceRate: ptr(0.65), AcceptSource: "counters",
		NumDrafts: ptr(int64(1000)), NumDraftTokens: ptr(int64(2000)), NumAcceptedTokens: ptr(int64(1300)), PerPosition: result.Floats{0.8, 0.5},
		BaselineEngine: "vllm", BaselineThroughputTokS: ptr(400.0), BaselineCompleted: ptr(64), BaselineFailed: ptr(0),
		BaselineOutputTokens: ptr(int64(tokens)), Speedup: ptr(throughput / 400),
		StartedAt: start, ToolVersion: "0.1.0", ServerVersion: "0.32.0", BaselineVersion: "0.32.0",
	}
}

// broken is a run without a number.
func broken(server, dataset string, concurrency int, text string) result.Row {
	r := run(server, dataset, concurrency, 0, 1)
	return result.Row{
		SchemaVersion: 1, Plan: r.Plan, Server: server, Engine: r.Engine, Model: r.Model, Dataset: dataset, CellID: r.CellID, RunID: r.RunID,
		Concurrency: concurrency, MaxNewTokens: 256, PromptsAsked: 64, Labels: r.Labels, BaselineEngine: "vllm", Error: text,
	}
}

func warn(r result.Row, code, text string, columns ...string) result.Row {
	r.Warnings = append(r.Warnings, result.Warning{Code: code, Text: text, Columns: columns})
	return r
}

func numbered(rows ...result.Row) []result.Row {
	for i := range rows {
		rows[i].RunIndex = i
	}
	return rows
}

// sets are the sets that golden files exist for.
func sets() map[string]Set {
	full := result.Manifest{
		Plan: "demo", Description: "two drafters", PlanPath: "plans/demo.yaml", PlanSHA256: "ab12", ToolVersion: "0.1.0", GitCommit: "0123abc",
		Host: result.Host{OS: "linux", Arch: "amd64", CPUs: 8}, Command: []string{"specsweep", "run", "plans/my demo.yaml"},
		Overrides: map[string]string{"repeats": "2"}, StartedAt: start, EndedAt: ptr(start.Add(time.Hour)), Status: result.StatusFinished, Runs: 8,
		Servers: []result.ManifestServer{
			{Name: "ckpt-1000", URL: "http://localhost:8000", Engine: "vllm", Version: "0.32.0", Model: "org/model",
				Speculation: map[string]string{"method": "eagle3", "num_speculative_tokens": "2"}},
			{Name: "ckpt-1000", Baseline: true, URL: "http://localhost:8001", Engine: "vllm", Version: "0.32.0", Model: "org/model"},
			{Name: "ckpt-2000", URL: "http://localhost:8002", Engine: "vllm", Error: "connection refused"},
		},
	}
	var odd []result.Row
	for _, name := range []string{
		"a|b", "code `p|q`", "two\nlines", "tab\there", "<b>&lt;", "snake_case_*star*", "_lead", "@org/team #12", "![x](http://x/y.png)", "~~gone~~ $x$",
		"\x1b[31mred", "back\\slash\\|", "日本語モデル", "GSM8K:train[:100]", "# x #",
	} {
		odd = append(odd, warn(run("s", name, 8, 0, 10), "odd", "about "+name, "speedup"))
	}
	many := result.Manifest{Plan: "demo", Runs: 12, Status: result.StatusInterrupted}
	foreign := run("b", "gsm8k", 8, 0, 8)
	foreign.BaselineEngine = "sglang"
	sglang := run("s", "gsm8k", 8, 0, 10)
	sglang.Engine, sglang.BaselineEngine, sglang.AcceptSource = "sglang", "sglang", "cumulative"
	sglang.NumDrafts, sglang.NumDraftTokens, sglang.NumAcceptedTokens, sglang.PerPosition = nil, nil, nil, nil
	sglang.AcceptLength, sglang.AcceptanceRate, sglang.SpeculativeNumSteps = ptr(3.123456789), ptr(0.7078189296), ptr(3)
	return map[string]Set{
		"three_repeats": threeRepeats(),
		"two_servers": NewSet(numbered(
			run("ckpt-1000", "gsm8k", 8, 0, 10), run("ckpt-1000", "gsm8k", 8, 1, 9),
			warn(run("ckpt-1000", "humaneval", 8, 0, 12), "usage_missing", "throughput understated: 3 of 64 answers had no token count", "output_throughput_tok_s", "speedup"),
			run("ckpt-1000", "humaneval", 8, 1, 13),
			run("ckpt-2000", "gsm8k", 8, 0, 7), run("ckpt-2000", "gsm8k", 8, 1, 8),
			broken("ckpt-2000", "humaneval", 8, "all requests failed (0 completed): 64 of 64: HTTP 503: <html>busy | later</html>"),
		), full),
		"zero_rows":    NewSet(nil, result.Manifest{Plan: "demo"}),
		"one_row":      NewSet(numbered(run("s", "gsm8k", 8, 0, 10)), result.Manifest{}),
		"errors_only":  NewSet(numbered(broken("s", "gsm8k", 8, "no usable prompts loaded"), broken("s", "humaneval", 8, "no usable prompts loaded")), result.Manifest{}),
		"nil_values":   NewSet(numbered(result.Row{Plan: "demo", Server: "s", Dataset: "d"}), result.Manifest{}),
		"odd_names":    NewSet(numbered(odd...), result.Manifest{Plan: "odd --> <b>"}),
		"interrupted":  NewSet(numbered(run("s", "gsm8k", 1, 0, 10), run("s", "gsm8k", 8, 0, 5)), many),
		"other_engine": NewSet(numbered(run("a", "gsm8k", 8, 0, 10), warn(foreign, "baseline_engine", "the baseline runs on another engine", "speedup")), result.Manifest{}),
		"sglang":       NewSet(numbered(warn(sglang, "cumulative", "what the server has seen since its start", "accept_length", "acceptance_rate")), result.Manifest{}),
	}
}

// threeRepeats is two steps of one training: the later one is faster on gsm8k, pays
// no longer at 32, and its humaneval is as fast as no speculation.
func threeRepeats() Set {
	var rows []result.Row
	for step, seconds := range map[string]map[string]float64{
		"1000": {"gsm8k 8": 12, "gsm8k 32": 14, "humaneval 8": 15, "humaneval 32": 16.5},
		"2000": {"gsm8k 8": 8, "gsm8k 32": 15, "humaneval 8": 16, "humaneval 32": 20},
	} {
		for i, cell := range []string{"gsm8k 8", "gsm8k 32", "humaneval 8", "humaneval 32"} {
			for repeat, noise := range []float64{1, 1.02, 0.97} {
				dataset, concurrency := "gsm8k", 8
				if i > 1 {
					dataset = "humaneval"
				}
				if i%2 == 1 {
					concurrency = 32
				}
				r := run("ckpt-"+step, dataset, concurrency, repeat, seconds[cell]*noise)
				r.Labels = map[string]string{"gpu": "1xH100", "step": step}
				r.TTFTP50Ms, r.BaselineTTFTP50Ms = ptr(40.0*noise), ptr(30.0)
				r.TPOTSpeedup = ptr(1.4 * noise)
				r.RunIndex = repeat + 3*i
				if step == "2000" {
					r.RunIndex += 12
				}
				rows = append(rows, r)
			}
		}
	}
	s := NewSet(rows, result.Manifest{Plan: "steps", Runs: 24, Status: result.StatusFinished})
	s.MinEffect = 0.02
	return s
}
