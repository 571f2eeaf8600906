package table

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/result"
)

// detail is the detail whose title starts so: its header and its lines as text.
func detail(t *testing.T, tab Table, title string) [][]string {
	t.Helper()
	for _, g := range tab.Details {
		if !strings.HasPrefix(g.Title, title) {
			continue
		}
		var header []string
		for _, h := range g.Columns {
			header = append(header, h.Name)
		}
		return append([][]string{header}, texts(g)...)
	}
	return nil
}

// twoDrafters has a, which pays at 1 and 8 and no longer at 32, and b, whose last
// cell failed.
func twoDrafters() []result.Row {
	failed := okRow("b", "d", 32, 0, 1000, 10)
	failed = result.Row{CellID: failed.CellID, Server: "b", Dataset: "d", Concurrency: 32, MaxNewTokens: 256, PromptsAsked: 64, Error: "down"}
	return numbered(slices.Concat(
		repeated("a", "d", 1, 2, 2, 2), repeated("a", "d", 8, 1.5, 1.5, 1.5), repeated("a", "d", 32, 0.8, 0.8, 0.8),
		repeated("b", "d", 1, 3, 3, 3), repeated("b", "d", 8, 1.4, 1.5, 1.6), []result.Row{failed},
	)...)
}

func TestSummary(t *testing.T) {
	want := [][]string{
		{"server", "speedup c=1", "speedup c=8", "speedup c=32", "accept_length", "acceptance_rate", "cells_ok", "worst_cell", "n"},
		{"a", "2.000 (2.000–2.000)", "1.500 (1.500–1.500)", "0.800 (0.800–0.800)", "2.500", "0.500", "3 of 3", "d c=32: 0.800", "3"},
		{"b", "3.000 (3.000–3.000)", "1.498 (1.269–1.768)", "n/a", "2.500", "0.500", "2 of 3", "d c=8: 1.498", "0–3"},
	}
	if diff := cmp.Diff(want, detail(t, Build(twoDrafters(), Options{}), "Summary")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSideBySide(t *testing.T) {
	tab := Build(twoDrafters(), Options{})
	want := [][]string{
		{"dataset", "concurrency", "accept_length a", "speedup a", "accept_length b", "speedup b"},
		{"d", "1", "2.500", "2.000 (2.000–2.000)", "2.500", "3.000 (3.000–3.000)"},
		{"d", "8", "2.500", "1.500 (1.500–1.500)", "2.500", "1.498 (1.269–1.768)"},
		{"d", "32", "2.500", "0.800 (0.800–0.800)", "n/a", "n/a"},
	}
	if diff := cmp.Diff(want, detail(t, tab, "Side by side")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	i := slices.IndexFunc(tab.Details, func(g Grid) bool { return g.Name == GridPerDataset })
	var best [][2]int
	for y, l := range tab.Details[i].Lines {
		for x, c := range l {
			if c.Best {
				best = append(best, [2]int{y, x})
			}
		}
	}
	if diff := cmp.Diff([][2]int{{0, 5}}, best); diff != "" {
		t.Errorf("best: line and column (-want +got)\n%s", diff)
	}
}

func TestSideBySideNeedsAFewServers(t *testing.T) {
	for n, want := range map[int]bool{1: false, 2: true, maxPairs: true, maxPairs + 1: false} {
		var rows []result.Row
		for i := range n {
			rows = append(rows, repeated(string(rune('a'+i)), "d", 8, 1.5)...)
		}
		if got := detail(t, Build(numbered(rows...), Options{}), "Side by side") != nil; got != want {
			t.Errorf("%d servers side by side: %v, want %v", n, got, want)
		}
	}
}

func TestCrossover(t *testing.T) {
	at := func(speedups ...float64) []result.Row {
		var rows []result.Row
		for i, s := range speedups {
			rows = append(rows, repeated("a", "d", 1<<i, s, s, s)...)
		}
		return numbered(rows...)
	}
	for _, tt := range []struct {
		name, want string
		rows       []result.Row
	}{
		{"never", "not up to 2", at(2, 1.5)},
		{"in between", "between 2 and 4", at(2, 1.5, 0.9)},
		{"always", "already at 1", at(0.9, 0.8)},
		{"only at first", "at 1, not at 2", at(0.9, 1.2)},
		{"twice", "between 1 and 2; again between 4 and 8", at(1.5, 0.9, 1.2, 0.8)},
		{"not shown", "between 1 and 2 (~ at 2)", numbered(append(at(1.5), repeated("a", "d", 2, 0.9, 0.95, 1.05)...)...)},
		{"one run", "between 1 and 2 (one run at 1, one run at 2)", numbered(append(repeated("a", "d", 1, 1.5), repeated("a", "d", 2, 0.9)...)...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := detail(t, Build(tt.rows, Options{}), "Concurrency: where")
			if got := lines[1][2]; got != tt.want {
				t.Errorf("falls below 1 %q, want %q", got, tt.want)
			}
		})
	}
	if lines := detail(t, Build(at(1.5), Options{}), "Concurrency: where"); lines != nil {
		t.Errorf("one concurrency has a crossover: %q", lines)
	}
}

func TestUndecided(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		least      float64
		speedups   []float64
	}{
		{"one run is neither", "1.001", 0.05, []float64{1.001}},
		{"two on one side", "1.140 (1.100–1.181)", 0, []float64{1.1, 1.181}},
		{"two on both sides", "1.000 (0.900–1.111) ~", 0, []float64{0.9, 1 / 0.9}},
		{"an interval that holds 1", "1.098 (0.872–1.382) ~", 0, []float64{1, 1.1, 1.2033}},
		{"an interval that does not", "1.500 (1.475–1.525)", 0, []float64{1.49, 1.5, 1.51}},
		{"below min_effect", "1.030 (1.028–1.032) ~", 0.05, []float64{1.03, 1.029, 1.031}},
		{"a zero has no logarithm", "0.000 (0.000–2.000)", 0, []float64{0, 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := repeated("a", "d", 8, tt.speedups...)
			tab := Build(rows, Options{MinEffect: tt.least})
			if got := cellOf(t, tab, 0, "speedup").Text; got != tt.want {
				t.Errorf("speedup %q, want %q", got, tt.want)
			}
			said := strings.Contains(strings.Join(tab.Remarks, "\n"), "~ not different from 1")
			if said != strings.HasSuffix(tt.want, Undecided) {
				t.Errorf("remarks %q", tab.Remarks)
			}
		})
	}
}

func TestLabelsAreAnAxis(t *testing.T) {
	step := func(server, step string, speedup float64) []result.Row {
		rows := repeated(server, "d", 8, speedup)
		for i := range rows {
			rows[i].Labels = map[string]string{"step": step, "gpu": "H100"}
			if step == "" {
				rows[i].Labels = nil
			}
		}
		return rows
	}
	tab := Build(numbered(slices.Concat(step("late", "2000", 1.6), step("early", "900", 1.2), step("none", "", 1.1), step("final", "end", 1.7))...), Options{})
	want := [][]string{
		{"label_step", "server", "concurrency", "speedup_geomean", "accept_length", "acceptance_rate"},
		{"900", "early", "8", "1.200", "2.500", "0.500"},
		{"2000", "late", "8", "1.600", "2.500", "0.500"},
		{"end", "final", "8", "1.700", "2.500", "0.500"},
		{"n/a", "none", "8", "1.100", "2.500", "0.500"},
	}
	if diff := cmp.Diff(want, detail(t, tab, "By label step")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if lines := detail(t, tab, "By label gpu"); lines != nil {
		t.Errorf("a label with one value has a table: %q", lines)
	}
}

func TestLatency(t *testing.T) {
	open := okRow("a", "d", 8, 0, 1000, 10)
	open.CellID, open.RequestRate, open.TTFTP50Ms, open.BaselineTTFTP50Ms = "open", ptr(2.5), ptr(41.25), ptr(30.0)
	open.Warnings = result.Warnings{{Code: "late", Columns: []string{"ttft_p50_ms"}, Text: "the client was late"}}
	closed := okRow("a", "d", 8, 0, 1000, 10)
	tab := Build(numbered(open, closed), Options{})
	want := [][]string{
		{"server", "dataset", "concurrency", "request_rate", "ttft_p50_ms", "baseline_ttft_p50_ms"},
		{"a", "d", "8", "2.5", "41.2", "30.0"},
	}
	if diff := cmp.Diff(want, detail(t, tab, "Latency")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"the client was late"}, tab.Notes); diff != "" {
		t.Errorf("notes (-want +got)\n%s", diff)
	}
	if got := tab.Caption[len(tab.Caption)-1]; got != "request_rate 2.5, inf" {
		t.Errorf("caption ends in %q", got)
	}
	if lines := detail(t, Build(numbered(closed), Options{}), "Latency"); lines != nil {
		t.Errorf("nothing was timed: %q", lines)
	}
}

// TestRequestRatesAreCells keeps rows apart that differ in their rate only, as those
// of older files may that lack a cell_id.
func TestRequestRatesAreCells(t *testing.T) {
	a, b := okRow("a", "d", 8, 0, 1000, 10), okRow("a", "d", 8, 0, 1000, 10)
	a.CellID, b.CellID, b.RequestRate = "", "", ptr(4.0)
	rows := numbered(a, b)
	if n := len(Cells(rows)); n != 2 {
		t.Errorf("%d cells, want 2", n)
	}
	if n := len(Points(refs(rows), nil)); n != 2 {
		t.Errorf("%d points, want 2", n)
	}
}

func TestMeansOverDatasetsUseWholeRepeats(t *testing.T) {
	rows := append(repeated("a", "d", 8, 1, 1, 4), repeated("a", "e", 8, 4, 4)...)
	lines := detail(t, Build(numbered(rows...), Options{}), "Summary")
	if got := lines[1][1]; got != "2.000 (2.000–2.000)" {
		t.Errorf("speedup %q, want that of the two repeats with both datasets", got)
	}
}

func TestCellValue(t *testing.T) {
	a, b := okRow("s", "d", 8, 0, 1000, 10), okRow("s", "d", 8, 1, 1000, 5)
	a.Speedup, b.Speedup = ptr(1.0), ptr(4.0)
	a.PromptsAsked, b.PromptsAsked = 1, 2
	failed := okRow("s", "d", 8, 2, 1000, 1)
	failed.Error, failed.Speedup, failed.Failed = "down", ptr(99.0), ptr(64)
	rows := refs([]result.Row{a, b, failed})
	for _, tt := range []struct {
		metric string
		want   *float64
	}{
		{"speedup", ptr(2.0)},
		{"output_throughput_tok_s", ptr(2000.0 / 15)},
		{"failed", ptr(64.0)},
		{"prompts_asked", nil}, // differs
		{"ttft_p50_ms", nil},   // not measured
		{"server", nil},        // no number
		{"nonsense", nil},
	} {
		if diff := cmp.Diff(tt.want, CellValue(rows, tt.metric)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.metric, diff)
		}
	}
	if got := CellValue(nil, "speedup"); got != nil {
		t.Errorf("of no rows: %v", *got)
	}
}

func TestCells(t *testing.T) {
	rows := numbered(okRow("a", "d", 8, 0, 1000, 10), okRow("b", "d", 8, 0, 1000, 10), okRow("a", "d", 8, 1, 1000, 5))
	rows[2].Error = "down"
	cells := Cells(rows)
	if len(cells) != 2 || cells[0].Server != "a" || len(cells[0].Rows) != 2 || len(cells[0].OK()) != 1 || cells[0].OtherEngine() {
		t.Errorf("cells %+v, want a with two rows, one of them ok, and b", cells)
	}
	if iv := cells[0].Speedup(); iv == nil || iv.Estimate != 1 || iv.N != 1 {
		t.Errorf("speedup %+v, want that of the ok row", iv)
	}
}
