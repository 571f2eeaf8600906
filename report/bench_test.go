package report

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/result"
)

// keys is the keys of a JSON object in their order.
func keys(t *testing.T, text []byte) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(text)))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func TestBenchJSONKeys(t *testing.T) {
	vllm := run("s", "d", 8, 0, 10)
	alone := vllm
	alone.BaselineEngine, alone.BaselineThroughputTokS, alone.Speedup = "", nil, nil
	sglang := sets()["sglang"].Rows[0]
	common := []string{"model", "num_prompts", "completed", "failed", "output_tokens", "wall_clock_s", "output_throughput_tok_s", "accept_length"}
	for _, tt := range []struct {
		name string
		row  result.Row
		want []string
	}{
		{"vLLM", vllm, append(common[:8:8], "acceptance_rate", "num_drafts", "num_draft_tokens", "num_accepted_tokens", "baseline_throughput_tok_s", "speedup", "accept_source")},
		{"vLLM without a baseline", alone, append(common[:8:8], "acceptance_rate", "num_drafts", "num_draft_tokens", "num_accepted_tokens", "accept_source")},
		{"SGLang", sglang, append(common[:8:8], "speculative_num_steps", "acceptance_rate", "baseline_throughput_tok_s", "speedup", "accept_source", "warnings")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := BenchJSON(&tt.row)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, keys(t, text)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestBenchJSONText is what Python's json.dumps(…, indent=2) writes, with .0 on
// whole floats.
func TestBenchJSONText(t *testing.T) {
	r := result.Row{Engine: "vllm", Model: "m <&>", NumPrompts: ptr(3), Completed: ptr(3), Failed: ptr(0), OutputTokens: ptr(int64(100)),
		WallClockS: ptr(2.00005), OutputThroughputTokS: ptr(100 / 2.00005), AcceptLength: ptr(7.0 / 3), AcceptanceRate: ptr(2.0 / 3), NumDrafts: ptr(int64(42))}
	got, err := BenchJSON(&r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "model": "m <&>",
  "num_prompts": 3,
  "completed": 3,
  "failed": 0,
  "output_tokens": 100,
  "wall_clock_s": 2.0,
  "output_throughput_tok_s": 49.9988,
  "accept_length": 2.3333,
  "acceptance_rate": 0.6666666666666666,
  "num_drafts": 42,
  "num_draft_tokens": null,
  "num_accepted_tokens": null
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFloatsAsPython has what repr gives in Python 3.
func TestFloatsAsPython(t *testing.T) {
	for v, want := range map[float64]string{1: "1.0", 0: "0.0", 0.1: "0.1", 123456789: "123456789.0", 1e15: "1000000000000000.0",
		1e16: "1e+16", 0.0001: "0.0001", 0.00001: "1e-05", -2.5e-7: "-2.5e-07", 1.0 / 3: "0.3333333333333333"} {
		if got, ok := float(&v).(json.Number); !ok || string(got) != want {
			t.Errorf("float(%g) = %v, want %s", v, got, want)
		}
	}
	if got := float(nil); got != nil {
		t.Errorf("float(nil) = %v, want nil", got)
	}
}

// TestFullPrecision has results.json keep what bench rounds.
func TestFullPrecision(t *testing.T) {
	text := render(t, "json", NewSet(numbered(run("s", "d", 8, 0, 9.123456789)), result.Manifest{}))
	if !strings.Contains(text, `"wall_clock_s": 9.123456789`) {
		t.Errorf("results.json rounds:\n%s", text)
	}
}

// TestOwnAxesStandInEverySweep has a dataset with its own max_new_tokens beside
// an axis of two.
func TestOwnAxesStandInEverySweep(t *testing.T) {
	own, a, b := run("s", "humaneval", 8, 0, 10), run("s", "gsm8k", 8, 0, 10), run("s", "gsm8k", 8, 0, 20)
	own.MaxNewTokens, a.MaxNewTokens, b.MaxNewTokens = 512, 128, 256
	m := result.Manifest{DatasetAxes: map[string][]string{"humaneval": {"max_new_tokens"}}}
	var got struct {
		Sweeps []struct {
			MaxNewTokens int `json:"max_new_tokens"`
			Results      []struct{ Dataset string }
			Aggregate    struct {
				NumDatasets int `json:"num_datasets"`
			}
		}
	}
	if err := json.Unmarshal([]byte(render(t, "json", NewSet(numbered(own, a, b), m))), &got); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range got.Sweeps {
		for _, r := range s.Results {
			lines = append(lines, strings.Repeat("*", s.MaxNewTokens/128)+r.Dataset)
		}
		if s.Aggregate.NumDatasets != 2 {
			t.Errorf("%d datasets in the aggregate, want 2", s.Aggregate.NumDatasets)
		}
	}
	if diff := cmp.Diff([]string{"*humaneval", "*gsm8k", "**humaneval", "**gsm8k"}, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func ExampleBenchTable() {
	speedup := 1.84
	rows := []result.Row{
		{Dataset: "gsm8k", Completed: ptr(64), AcceptLength: ptr(3.21), AcceptanceRate: ptr(0.5525), OutputThroughputTokS: ptr(1263.14), Speedup: &speedup},
		{Dataset: "humaneval", Completed: ptr(64), OutputThroughputTokS: ptr(719.4)},
		{Dataset: "alpaca", Error: "no usable prompts loaded"},
	}
	if err := BenchTable(os.Stdout, rows); err != nil {
		panic(err)
	}
	// Output:
	// dataset      completed accept_len accept_rate      tok/s  speedup
	// -----------------------------------------------------------------
	// gsm8k               64      3.210       0.552     1263.1    1.840
	// humaneval           64        n/a         n/a      719.4      n/a
	// alpaca           ERROR no usable prompts loaded
	// -----------------------------------------------------------------
	// aggregate          128      3.210       0.552      991.3    1.840
}

func ExampleWrite() {
	rows := []result.Row{{
		Plan: "demo", Server: "ckpt-2000", Engine: "vllm", Model: "org/model", Dataset: "gsm8k", Concurrency: 8, Completed: ptr(64),
		OutputThroughputTokS: ptr(1263.1), AcceptLength: ptr(3.21), AcceptanceRate: ptr(0.5525), AcceptSource: "counters",
		BaselineEngine: "vllm", BaselineThroughputTokS: ptr(686.8), Speedup: ptr(1.839),
	}}
	if err := Write(os.Stdout, "terminal", NewSet(rows, result.Manifest{})); err != nil {
		panic(err)
	}
	// Output:
	// demo: ckpt-2000 1.84x over no speculation (gsm8k; concurrency 8; one run)
	// 1 of 1 cell ok · org/model · vllm · 1 repeat · closed loop
	//
	// server     dataset  concurrency  baseline_throughput_tok_s  output_throughput_tok_s  speedup  accept_length  acceptance_rate  accept_source  n
	// ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
	// ckpt-2000  gsm8k              8                      686.8                   1263.1    1.839          3.210            0.552  counters       1
	// n = 1: one run, so nothing is known of how much the value changes from run to run
}
