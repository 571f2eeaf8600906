package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// rowAt is an ok row of the cell "c" with a throughput; edit changes it.
func rowAt(repeat int, throughput float64, edit func(*result.Row)) result.Row {
	r := result.Row{
		CellID: "c", RunID: fmt.Sprintf("c-r%d", repeat), Repeat: repeat, RunIndex: repeat, Server: "s", Engine: "vllm", BaselineEngine: "vllm",
		Dataset: "gsm8k", Concurrency: 8, MaxNewTokens: 256, PromptsAsked: 64, PromptSet: "p", ServerVersion: "1.0",
		OutputThroughputTokS: &throughput, Speedup: new(throughput / 100),
	}
	if edit != nil {
		edit(&r)
	}
	return r
}

func rowsAt(throughputs []float64, edit func(*result.Row)) Side {
	s := Side{Name: "side"}
	for i, v := range throughputs {
		s.Rows = append(s.Rows, rowAt(i, v, edit))
	}
	return s
}

func TestVerdictOfACell(t *testing.T) {
	five := []float64{100, 101, 99, 100, 102}
	times := func(k float64) []float64 {
		out := make([]float64, len(five))
		for i, v := range five {
			out[i] = v * k
		}
		return out
	}
	ttft := func(ms float64) func(*result.Row) {
		return func(r *result.Row) { r.TTFTMeanMs = new(ms + float64(r.Repeat)) }
	}
	for _, tt := range []struct {
		name     string
		old, new Side
		minimum  float64
		metric   string
		want     Verdict
		says     string // in the reason or a note
	}{
		{"higher throughput", rowsAt(five, nil), rowsAt(times(1.2), nil), 0, "output_throughput_tok_s", Better, ""},
		{"lower speedup", rowsAt(five, nil), rowsAt(times(0.8), nil), 0, "speedup", Worse, ""},
		{"the same numbers", rowsAt(five, nil), rowsAt(five, nil), 0, "speedup", Same, ""},
		{"lower latency", rowsAt(five, ttft(100)), rowsAt(five, ttft(50)), 0, "ttft_mean_ms", Better, ""},
		{"higher latency", rowsAt(five, ttft(100)), rowsAt(five, ttft(150)), 0, "ttft_mean_ms", Worse, ""},
		{"significant but too small to matter", rowsAt(five, nil), rowsAt(times(1.04), nil), 0.1, "speedup", Same, "less than min_effect 10 %"},
		{"n = 1", rowsAt(five[:1], nil), rowsAt(times(2)[:1], nil), 0, "speedup", Unknown, "n = 1"},
		{"n = 2", rowsAt(five[:2], nil), rowsAt(times(2)[:2], nil), 0, "speedup", Unknown, "n = 2"},
		{"other numbers of repeats", rowsAt(five, nil), rowsAt(times(1.2)[:3], nil), 0, "speedup", Better, "5 old and 3 new repeats"},
		{"a zero has no ratio", rowsAt(five, nil), rowsAt([]float64{0, 0, 0}, nil), 0, "speedup", Unknown, "not positive"},
		{"other prompts", rowsAt(five, nil), rowsAt(times(2), func(r *result.Row) { r.PromptSet = "q" }), 0, "speedup", Unknown, "other prompts: prompt_set: p → q"},
		{"another engine", rowsAt(five, nil), rowsAt(times(2), func(r *result.Row) { r.Engine = "sglang" }), 0, "speedup", Unknown, "another engine"},
		{"baselines of different engines", rowsAt(five, nil), rowsAt(times(2), func(r *result.Row) { r.BaselineEngine = "sglang" }), 0, "speedup", Unknown, "baselines are of different engines"},
		{"error rows only", rowsAt(five, nil), rowsAt(five, func(r *result.Row) { *r = errorRow(*r) }), 0, "speedup", Unknown, "all of its rows are errors"},
		{"n/a says the row's reason", rowsAt(five, nil), rowsAt(five, func(r *result.Row) {
			r.Speedup = nil
			r.Warnings = result.Warnings{{Code: "x", Columns: []string{"speedup"}, Text: "the baseline is down"}}
		}), 0, "speedup", Unknown, "the baseline is down"},
		{"no counts per request", rowsAt(five, length(2)), rowsAt(five, length(3)), 0, "accept_length", Unknown, NotSampled + "; start vLLM with --per-request-spec-decode-metrics summary"},
		{"no number at all", rowsAt(five, nil), rowsAt([]float64{math.NaN()}, nil), 0, "speedup", Unknown, "n/a on the new side"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Compare(tt.old, tt.new, Options{MinEffect: tt.minimum})
			if len(c.Cells) != 1 {
				t.Fatalf("%d cells, want 1", len(c.Cells))
			}
			m := c.Cells[0].Metric(tt.metric)
			if m == nil || m.Verdict != tt.want || !strings.Contains(m.Reason+strings.Join(m.Notes, "\n"), tt.says) {
				t.Errorf("%+v\nwant %s that says %q", m, tt.want, tt.says)
			}
			if m.Verdict == Unknown && m.Reason == "" {
				t.Error("no verdict and no reason")
			}
			if _, err := json.Marshal(c); err != nil {
				t.Error(err)
			}
		})
	}
}

func length(v float64) func(*result.Row) { return func(r *result.Row) { r.AcceptLength = &v } }

// errorRow is what is left of a row whose run failed.
func errorRow(r result.Row) result.Row {
	r.OutputThroughputTokS, r.Speedup, r.PromptSet, r.ServerVersion = nil, nil, "", ""
	r.Error = "server is down"
	return r
}

func TestErrorRowsEnterNoNumber(t *testing.T) {
	old, changed := rowsAt([]float64{100, 100, 100}, nil), rowsAt([]float64{100, 100, 100, 900}, nil)
	changed.Rows[3].Error = "wrong"
	c := Compare(old, changed, Options{})
	if m := c.Cells[0].Metric("output_throughput_tok_s"); math.Abs(*m.New-100) > 1e-9 || m.NewN != 3 {
		t.Errorf("new = %v of %d, want 100 of 3", *m.New, m.NewN)
	}
	if got := c.Cells[0].NewRows; got != (Tally{OK: 3, Errors: 1}) || !slices.ContainsFunc(c.Notes, func(s string) bool { return strings.Contains(s, "0 old, 1 new") }) {
		t.Errorf("rows %+v, notes %q: want the error row counted and said", got, c.Notes)
	}
}

func TestDifferencesAreSaid(t *testing.T) {
	three := []float64{100, 101, 99}
	old, changed := rowsAt(three, nil), rowsAt(three, func(r *result.Row) {
		r.ServerVersion, r.Labels, r.CellID = "1.1", map[string]string{"gpu": "h100"}, "d"
	})
	old.Manifest = result.Manifest{Status: result.StatusFinished, GitCommit: "aaa", Cells: map[string]json.RawMessage{"c": json.RawMessage(`{"top_p":1}`)}}
	changed.Manifest = result.Manifest{Status: result.StatusInterrupted, GitCommit: "bbb", Cells: map[string]json.RawMessage{"d": json.RawMessage(`{"top_p":0.5}`)}}
	changed.Rows = changed.Rows[:2]
	want := []string{
		"specsweep built from: aaa → bbb", "the new run-set is interrupted",
		"server_version: 1.0 → 1.1", "labels: not known → gpu=h100", "repeats: 3 → 2", "settings of the cell: top_p 1 → 0.5",
	}
	if diff := cmp.Diff(want, Compare(old, changed, Options{}).Differences); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	old.Manifest.Cells = map[string]json.RawMessage{"c": json.RawMessage(`{"top_k":null,"top_p":1}`)}
	changed.Manifest.Cells = map[string]json.RawMessage{"d": json.RawMessage(`{"shuffle_seed":5,"top_p":1}`)}
	if got, want := Compare(old, changed, Options{}).Differences, "settings of the cell: shuffle_seed none → 5"; !slices.Contains(got, want) {
		t.Errorf("a setting that was left out: %q, want %q", got, want)
	}
	if got := Compare(old, old, Options{}).Differences; len(got) > 0 {
		t.Errorf("of a side and itself: %q", got)
	}
}

func TestOnlyOnOneSide(t *testing.T) {
	old := rowsAt([]float64{100}, nil)
	old.Rows = append(old.Rows, rowAt(0, 90, func(r *result.Row) { r.CellID, r.Dataset = "x", "mbpp" }))
	changed := rowsAt([]float64{100}, nil)
	changed.Rows = append(changed.Rows, rowAt(0, 90, func(r *result.Row) { r.CellID, r.Concurrency = "y", 32 }))
	c := Compare(old, changed, Options{})
	if len(c.Cells) != 1 || len(c.OnlyOld) != 1 || c.OnlyOld[0].Dataset != "mbpp" || len(c.OnlyNew) != 1 || c.OnlyNew[0].Concurrency != 32 {
		t.Errorf("%d cells, only old %v, only new %v", len(c.Cells), c.OnlyOld, c.OnlyNew)
	}
}

func TestByServer(t *testing.T) {
	var s Side
	// A throughput that swings from block to block by far more than the servers differ.
	for repeat, v := range []float64{50, 100, 200} {
		a := rowAt(repeat, v, func(r *result.Row) { r.Server, r.CellID = "a", "ca" })
		b := rowAt(repeat, v*1.1*(1+0.001*float64(repeat)), func(r *result.Row) { r.Server, r.CellID = "b", "cb" })
		a.Speedup, b.Speedup = new(2.0), new(*b.OutputThroughputTokS/v*2)
		s.Rows = append(s.Rows, a, b)
	}
	c := Compare(s, Side{}, Options{ByServer: [2]string{"a", "b"}})
	m := c.Cells[0].Metric("output_throughput_tok_s")
	if m.Verdict != Better || m.Ratio == nil || !m.Ratio.Holds(1.1011) || m.OldN != 3 {
		t.Errorf("%+v\nwant better by 1.1 in 3 blocks", m)
	}
	if got := c.Cells[0].String(); got != "a / b on gsm8k at concurrency 8, max_new_tokens 256, temperature 0" {
		t.Errorf("the cell is called %q", got)
	}
	c = Compare(s, Side{}, Options{ByServer: [2]string{"a", "z"}})
	if !strings.Contains(strings.Join(c.Notes, "\n"), `no row of a server "z"; it has: a, b`) {
		t.Errorf("notes %q do not name the servers that there are", c.Notes)
	}
}

func TestOverallStaysWithinAConcurrency(t *testing.T) {
	cell := func(id, dataset string, concurrency int, k float64, edit func(*result.Row)) []result.Row {
		var rows []result.Row
		for i, v := range []float64{99, 100, 101} {
			rows = append(rows, rowAt(i, v*k, func(r *result.Row) {
				r.CellID, r.RunID, r.Dataset, r.Concurrency = id, fmt.Sprintf("%s-r%d", id, i), dataset, concurrency
				if edit != nil {
					edit(r)
				}
			}))
		}
		return rows
	}
	other := func(r *result.Row) { r.BaselineEngine = "sglang" }
	side := func(k float64) Side {
		return Side{Rows: slices.Concat(cell("1", "gsm8k", 1, 1.2*k, nil), cell("2", "mbpp", 1, k*k/1.2, nil), cell("3", "gsm8k", 32, 1/k, nil), cell("4", "chat", 1, 9*k, other))}
	}
	c := Compare(side(1), side(1.2), Options{})
	var got []string
	for _, o := range c.Overall {
		if o.Metric == "speedup" {
			got = append(got, fmt.Sprintf("%d %v %.3f %s, %d left out", o.Concurrency, o.Datasets, o.Ratio.Estimate, o.Verdict, o.LeftOut))
		}
	}
	// √(1.2 · 1.44) = 1.315
	want := []string{"1 [gsm8k mbpp] 1.315 better, 1 left out", "32 [gsm8k] 0.833 worse, 0 left out"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Greedy repeats repeat the same drafts: five of them are not five samples.
func TestRepeatsOfAPromptAreNoSamples(t *testing.T) {
	side := func(accepted ...int64) Side {
		s := rowsAt([]float64{100, 100, 100, 100, 100}, length(2))
		s.Requests = map[string][]result.Request{}
		for _, r := range s.Rows {
			for i, a := range accepted {
				s.Requests[r.RunID] = append(s.Requests[r.RunID], result.Request{RunID: r.RunID, Prompt: i, PromptHash: fmt.Sprint(i), Drafts: 10, Accepted: a})
			}
		}
		return s
	}
	m := Compare(side(10, 20, 5, 15), side(12, 19, 9, 15), Options{}).Cells[0].Metric("accept_length")
	if m.OldN != 4 || m.Verdict != Same {
		t.Errorf("%+v\nwant ~ over 4 prompts", m)
	}
	if math.Abs(*m.Delta-0.125) > 1e-9 {
		t.Errorf("delta = %v, want 5/40 by hand", *m.Delta)
	}
}

func TestAnyNumberOfRuns(t *testing.T) {
	many := Side{}
	for i := range 1000 {
		many.Rows = append(many.Rows, rowAt(i%5, 100+float64(i%7), func(r *result.Row) {
			r.CellID, r.RunIndex, r.Concurrency = fmt.Sprint(i/5), i, i/5
		}))
	}
	failed := rowsAt([]float64{1, 2}, func(r *result.Row) { *r = errorRow(*r) })
	bare := Side{Rows: []result.Row{{}, {}}}
	sides := []Side{{}, bare, failed, rowsAt([]float64{1}, nil), many}
	for i, old := range sides {
		for j, changed := range sides {
			for _, o := range []Options{{}, {ByServer: [2]string{"s", "s"}}} {
				c := Compare(old, changed, o)
				if text, err := json.Marshal(c); err != nil || strings.Contains(string(text), "\"cells\":null") {
					t.Errorf("%d to %d: %v", i, j, err)
				}
			}
		}
	}
	if c := Compare(many, many, Options{}); len(c.Cells) != 200 || len(c.OnlyOld)+len(c.OnlyNew) > 0 {
		t.Errorf("%d cells, %d and %d alone; want 200 and none", len(c.Cells), len(c.OnlyOld), len(c.OnlyNew))
	}
}

func TestEveryMetricIsAColumn(t *testing.T) {
	if got, want := len(columns()), len(Metrics()); got != want {
		t.Errorf("%d of the %d metrics are columns of the table", got, want)
	}
}

// Means of equal values over other numbers of repeats may differ in the last digit,
// and without a spread the interval is no wider than that.
func TestRoundingIsNoChange(t *testing.T) {
	m := Metric{Rel: new(1e-13), Ratio: &stat.Interval{Estimate: 1 + 1e-13, Low: 1 + 1e-13, High: 1 + 1e-13, N: 3}}
	if m.Significant() {
		t.Errorf("%+v is significant", m)
	}
	m.Rel, m.Ratio = new(1e-3), &stat.Interval{Estimate: 1.001, Low: 1.0005, High: 1.0015, N: 3}
	if !m.Significant() {
		t.Errorf("%+v is not significant", m)
	}
}

// Old, New and the change are of the same repeats, so that they cannot contradict each
// other: by means the new side is faster here, per repeat it is slower.
func TestOldAndNewAreWhatTheChangeIsBetween(t *testing.T) {
	old := rowsAt([]float64{100, 100, 100}, func(r *result.Row) { r.TTFTMeanMs = new(100.0) })
	changed := rowsAt([]float64{30, 30, 300}, func(r *result.Row) { r.TTFTMeanMs = new([]float64{30, 30, 300}[r.Repeat]) })
	byServer := Side{Rows: slices.Concat(old.Rows, changed.Rows)}
	for i := range byServer.Rows {
		byServer.Rows[i].Server = []string{"a", "b"}[i/3]
		byServer.Rows[i].CellID = byServer.Rows[i].Server
	}
	extra := rowAt(9, 9000, func(r *result.Row) { r.Server, r.CellID = "b", "b" }) // its block has no a
	byServer.Rows = append(byServer.Rows, extra)
	for name, c := range map[string]Comparison{
		"unpaired": Compare(old, changed, Options{}), "by block": Compare(byServer, Side{}, Options{ByServer: [2]string{"a", "b"}}),
	} {
		for _, metric := range []string{"output_throughput_tok_s", "speedup", "ttft_mean_ms"} {
			m := c.Cells[0].Metric(metric)
			if got := *m.New / *m.Old; math.Abs(got-m.Ratio.Estimate) > 1e-9 || math.Abs(got-1-*m.Rel) > 1e-9 || (*m.Delta < 0) != (*m.Rel < 0) {
				t.Errorf("%s, %s: old %v, new %v, delta %v, rel %v, ratio %+v", name, metric, *m.Old, *m.New, *m.Delta, *m.Rel, *m.Ratio)
			}
		}
	}
}

// Nothing that is no number reaches JSON, which has no word for it.
func TestJSONOfWhatIsNoNumber(t *testing.T) {
	wild := []float64{1e-300, 1e300, 1}
	for _, effect := range []float64{math.NaN(), math.Inf(1), -1} {
		c := Compare(rowsAt(wild, nil), rowsAt(wild, nil), Options{MinEffect: effect})
		if _, err := json.Marshal(c); err != nil || c.MinEffect != 0 {
			t.Errorf("min_effect %v: counts as %v, error %v", effect, c.MinEffect, err)
		}
	}
}

func TestMeasuredCells(t *testing.T) {
	old := rowsAt([]float64{100}, nil)
	old.Rows = append(old.Rows, rowAt(0, 90, func(r *result.Row) { r.CellID, r.Dataset = "x", "mbpp" }))
	changed := rowsAt([]float64{100}, nil)
	changed.Rows = append(changed.Rows, rowAt(0, 90, func(r *result.Row) { r.CellID, r.Dataset = "x", "mbpp"; *r = errorRow(*r) }))
	c := Compare(old, changed, Options{})
	if c.Measured() != 1 || !slices.Contains(c.Notes, "1 of the 2 cells on both sides have no number on one of them") {
		t.Errorf("%d measured, notes %q", c.Measured(), c.Notes)
	}
}
