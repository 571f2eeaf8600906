package table

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/specsweep/specsweep/runner/result"
)

func testTime() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func refs(rows []result.Row) []*result.Row {
	out := make([]*result.Row, len(rows))
	for i := range rows {
		out[i] = &rows[i]
	}
	return out
}

// TestAggregateByHand has the two rows 2.0, 0.4, 100, 1.2 with 10 completed
// requests and 4.0, 0.8, 200, 2.0 with 30, and an error row.
func TestAggregateByHand(t *testing.T) {
	rows := []result.Row{
		{Completed: ptr(10), AcceptLength: ptr(2.0), AcceptanceRate: ptr(0.4), OutputThroughputTokS: ptr(100.0), Speedup: ptr(1.25),
			OutputTokens: ptr(int64(1000)), WallClockS: ptr(10.0)},
		{Completed: ptr(30), AcceptLength: ptr(4.0), AcceptanceRate: ptr(0.8), OutputThroughputTokS: ptr(200.0), Speedup: ptr(5.0),
			OutputTokens: ptr(int64(9000)), WallClockS: ptr(45.0)},
		{Completed: ptr(0), Error: "boom", AcceptLength: ptr(99.0)},
	}
	want := Aggregate{
		Rows: 3, OK: 2, TotalCompleted: 40,
		AcceptLength:         ptr(3.5),   // (2*10 + 4*30) / 40
		AcceptanceRate:       ptr(0.7),   // (4 + 24) / 40
		OutputThroughputTokS: ptr(175.0), // (1000 + 6000) / 40
		Speedup:              ptr(4.0625),
		TokensPerSecond:      ptr(10000.0 / 55),
		SpeedupGeoMean:       ptr(2.5),
	}
	if diff := cmp.Diff(want, AggregateOf(refs(rows)), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAggregateOfNothing(t *testing.T) {
	want := Aggregate{Rows: 1}
	if diff := cmp.Diff(want, AggregateOf([]*result.Row{{Error: "x"}})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAggregateLeavesOtherEnginesOutOfTheGeometricMean(t *testing.T) {
	rows := []result.Row{
		{Engine: "vllm", BaselineEngine: "vllm", Completed: ptr(1), Speedup: ptr(2.0)},
		{Engine: "vllm", BaselineEngine: "sglang", Completed: ptr(1), Speedup: ptr(8.0)},
	}
	if got := AggregateOf(refs(rows)).SpeedupGeoMean; got == nil || *got != 2 {
		t.Errorf("geometric mean %v, want 2", got)
	}
}

func TestTitle(t *testing.T) {
	speed := func(server, dataset string, concurrency int, speedup *float64) result.Row {
		r := okRow(server, dataset, concurrency, 0, 1000, 10)
		r.Speedup = speedup
		return r
	}
	doubtful := speed("a", "d", 8, ptr(1.5))
	doubtful.Warnings = result.Warnings{{Code: "failed_requests", Columns: []string{"speedup"}, Text: "3 of 64 failed"}}
	foreign := speed("a", "e", 8, ptr(9.0))
	foreign.BaselineEngine = "sglang"
	for _, tt := range []struct {
		name, want string
		rows       []result.Row
	}{
		{"no rows", "specsweep", nil},
		{"no speedup", "demo", numbered(speed("a", "d", 8, nil))},
		{"one dataset", "demo: a 1.50x over no speculation (d; concurrency 8; one run)", numbered(speed("a", "d", 8, ptr(1.5)))},
		{"two datasets", "demo: a 2.00x over no speculation (geometric mean of d, e; concurrency 8; one run)",
			numbered(speed("a", "d", 8, ptr(1.0)), speed("a", "e", 8, ptr(4.0)))},
		{"a dataset without", "demo: a 1.50x over no speculation (d; without e; concurrency 8; one run)",
			numbered(speed("a", "d", 8, ptr(1.5)), speed("a", "e", 8, nil))},
		{"a baseline of another engine", "demo: a 1.50x over no speculation (d; without e; concurrency 8; one run)",
			numbered(speed("a", "d", 8, ptr(1.5)), foreign)},
		{"two concurrencies are never one mean", "demo: 1.00x to 4.00x over no speculation (d; 1 server; concurrency 1, 8; one run each)",
			numbered(speed("a", "d", 1, ptr(1.0)), speed("a", "d", 8, ptr(4.0)))},
		{"two servers", "demo: 1.00x to 4.00x over no speculation (d; 2 servers; concurrency 8; one run each)",
			numbered(speed("a", "d", 8, ptr(1.0)), speed("b", "d", 8, ptr(4.0)))},
		{"two servers on two datasets", "demo: 2.00x to 4.00x over no speculation (geometric means of d, e; 2 servers; concurrency 8; one run each)",
			numbered(speed("a", "d", 8, ptr(1.0)), speed("a", "e", 8, ptr(4.0)), speed("b", "d", 8, ptr(4.0)), speed("b", "e", 8, ptr(4.0)))},
		{"a server that lacks one", "demo: 2.00x to 4.00x over no speculation (geometric means, not all over the same datasets; 2 servers; concurrency 8; one run each)",
			numbered(speed("a", "d", 8, ptr(1.0)), speed("a", "e", 8, ptr(4.0)), speed("b", "d", 8, ptr(4.0)), speed("b", "e", 8, nil))},
		{"a doubtful speedup", "demo: a 1.50x over no speculation (d; concurrency 8; one run; see the footnotes)", numbered(doubtful)},
		{"two runs have no interval", "demo: a 1.50x over no speculation (d; concurrency 8; two runs)", repeated("a", "d", 8, 1.45, 1.55)},
		{"an interval that holds 1", "demo: a not different from no speculation: 1.00x (d; concurrency 8)", repeated("a", "d", 8, 0.9, 1, 1.1)},
		{"three runs that agree", "demo: a 1.50x over no speculation (d; concurrency 8)", repeated("a", "d", 8, 1.49, 1.5, 1.51)},
		{"the best server", "demo: b 1.50x over no speculation, the best of 2 servers (d; concurrency 8)",
			numbered(slices.Concat(repeated("a", "d", 8, 1.19, 1.2, 1.21), repeated("b", "d", 8, 1.49, 1.5, 1.51))...)},
		{"no best where the difference is not shown", "demo: 1.30x to 1.33x over no speculation (d; 2 servers; concurrency 8)",
			numbered(slices.Concat(repeated("a", "d", 8, 1.2, 1.3, 1.4), repeated("b", "d", 8, 1.4, 1.3, 1.3))...)},
		{"nobody is different", "demo: nowhere different from no speculation: 1.00x to 1.01x (d; 2 servers; concurrency 8)",
			numbered(slices.Concat(repeated("a", "d", 8, 0.9, 1, 1.1), repeated("b", "d", 8, 1.1, 1.0, 0.93))...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Build(tt.rows, Options{}).Title; got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestOtherEngineIsSaid(t *testing.T) {
	r := okRow("a", "d", 8, 0, 1000, 10)
	r.BaselineEngine = "sglang"
	got := strings.Join(Build(numbered(r), Options{}).Remarks, "\n")
	if want := "left out of geometric means (baseline of another engine): a at concurrency 8 on d"; !strings.Contains(got, want) {
		t.Errorf("remarks\n%s\nlack\n%s", got, want)
	}
}

func TestCaption(t *testing.T) {
	a := okRow("a", "d", 8, 0, 1000, 10)
	a.Failed, a.Labels, a.ServerVersion = ptr(240), map[string]string{"gpu": "1xH100", "step": "1000"}, "0.32.0"
	b := okRow("b", "d", 8, 0, 1000, 10)
	b.Labels, b.ServerVersion = map[string]string{"gpu": "1xH100", "step": "2000"}, "0.32.0"
	broken := result.Row{CellID: "x", Server: "c", Engine: "vllm", Error: "down", Labels: map[string]string{"gpu": "1xH100"}}
	again := okRow("b", "d", 8, 1, 1000, 10)
	again.Error = "HTTP 500"
	for _, tt := range []struct {
		name, want string
		rows       []result.Row
		o          Options
	}{
		{"none", "0 of 0 cells ok · closed loop", nil, Options{}},
		{"cells, failures, what is common", "2 of 3 cells ok · 240 failed requests · m · gpu 1xH100 · vllm 0.32.0 · 1 repeat · closed loop",
			numbered(a, b, broken), Options{Runs: 3, Status: result.StatusFinished}},
		{"a cell of which a repeat failed", "0 of 1 cell ok, 1 in part · m · vllm 0.32.0 · 2 repeats · closed loop", numbered(b, again), Options{}},
		{"interrupted", "1 of 1 cell ok · interrupted: 1 of 4 runs made · m · gpu 1xH100, step 2000 · vllm 0.32.0 · 1 repeat · closed loop",
			numbered(b), Options{Runs: 4, Status: result.StatusInterrupted}},
		{"rows missing", "1 of 1 cell ok · not complete: 1 of 4 runs made · m · gpu 1xH100, step 2000 · vllm 0.32.0 · 1 repeat · closed loop",
			numbered(b), Options{Runs: 4, Status: result.StatusFinished}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(Build(tt.rows, tt.o).Caption, " · "); got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestRemarksOnN(t *testing.T) {
	one := Build(numbered(okRow("a", "d", 8, 0, 1000, 10)), Options{})
	if !strings.Contains(strings.Join(one.Remarks, "\n"), "n = 1") {
		t.Errorf("remarks %q do not say what n = 1 means", one.Remarks)
	}
	two := Build(numbered(okRow("a", "d", 8, 0, 1000, 10), okRow("a", "d", 8, 1, 1000, 10)), Options{})
	if s := strings.Join(two.Remarks, "\n"); strings.Contains(s, "n = 1") || !strings.Contains(s, "geometric mean") {
		t.Errorf("remarks %q do not say how repeats are combined", two.Remarks)
	}
}

func TestPoints(t *testing.T) {
	at := func(dataset string, concurrency, tokens, prompts int) result.Row {
		r := okRow("s", dataset, concurrency, 0, 1000, 10)
		r.MaxNewTokens, r.PromptsAsked = tokens, prompts
		return r
	}
	type point struct {
		Concurrency    int
		Tokens, Prompt string
		Datasets       []string
	}
	for _, tt := range []struct {
		name string
		rows []result.Row
		own  map[string]Own
		want []point
	}{
		{"one point a concurrency", numbered(at("d", 1, 256, 64), at("d", 8, 256, 64), at("e", 1, 256, 64), at("e", 8, 256, 64)), nil,
			[]point{{1, "256", "64", []string{"d", "e"}}, {8, "256", "64", []string{"d", "e"}}}},
		{"a dataset with its own stands in every point", numbered(at("own", 1, 512, 64), at("d", 1, 128, 64), at("d", 1, 256, 64)),
			map[string]Own{"own": {MaxNewTokens: true}},
			[]point{{1, "128", "64", []string{"own", "d"}}, {1, "256", "64", []string{"own", "d"}}}},
		{"but only where the other axes agree", numbered(at("own", 1, 512, 64), at("d", 8, 256, 64)), map[string]Own{"own": {MaxNewTokens: true}},
			[]point{{1, "n/a", "64", []string{"own"}}, {8, "256", "64", []string{"d"}}}},
		{"all have their own", numbered(at("a", 1, 128, 64), at("b", 1, 512, 64)), map[string]Own{"a": {MaxNewTokens: true}, "b": {MaxNewTokens: true}},
			[]point{{1, "n/a", "64", []string{"a", "b"}}}},
		{"own number of prompts", numbered(at("a", 1, 128, 10), at("b", 1, 128, 64)), map[string]Own{"a": {NumPrompts: true}},
			[]point{{1, "128", "64", []string{"a", "b"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []point
			for _, p := range Points(refs(tt.rows), tt.own) {
				got = append(got, point{p.Concurrency, format(float(p.MaxNewTokens), 0), format(float(p.NumPrompts), 0), p.datasets()})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestPositions(t *testing.T) {
	a, b := okRow("s", "d", 8, 0, 1000, 10), okRow("s", "d", 8, 1, 1000, 10)
	a.PerPosition, a.NumDrafts = result.Floats{0.8, 0.4}, ptr(int64(100))
	b.PerPosition, b.NumDrafts = result.Floats{0.6, 0.2}, ptr(int64(300))
	shorter := okRow("s", "e", 8, 0, 1000, 10)
	shorter.PerPosition = result.Floats{0.5}
	tab := Build(numbered(a, b, shorter, okRow("s", "f", 8, 0, 1000, 10)), Options{})
	var got [][]string
	for _, g := range tab.Details {
		if !strings.HasPrefix(g.Title, "Acceptance by draft position") {
			continue
		}
		for _, l := range g.Lines {
			var texts []string
			for _, c := range l {
				texts = append(texts, c.Text)
			}
			got = append(got, texts)
		}
	}
	want := [][]string{{"s", "d", "8", "0.650", "0.250"}, {"s", "e", "8", "0.500", "n/a"}} // (0.8*100 + 0.6*300) / 400
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEveryLineIsFull(t *testing.T) {
	rows := numbered(okRow("a", "d", 8, 0, 1000, 10), okRow("b", "d", 8, 0, 1000, 5), okRow("a", "e", 8, 0, 1000, 5), okRow("a", "e", 8, 1, 1000, 5),
		result.Row{CellID: "z", Error: "x"}, result.Row{CellID: "nil"})
	rows[0].PerPosition = result.Floats{0.5}
	tab := Build(rows, Options{})
	if len(tab.Details) != 6 {
		t.Errorf("%d details, want the summary, side by side, speedups, aggregates, positions and repeats", len(tab.Details))
	}
	for _, g := range append(tab.Details, tab.Main) {
		for i, l := range g.Lines {
			if len(l) != len(g.Columns) {
				t.Errorf("%q: line %d has %d cells, want %d", g.Title, i, len(l), len(g.Columns))
			}
			for j, c := range l {
				if c.Text == "" {
					t.Errorf("%q: line %d, %s is blank", g.Title, i, g.Columns[j].Name)
				}
			}
		}
	}
}
