package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/report/compare"
	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

func TestParseRule(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Rule
		fail string
	}{
		{"speedup<-5%", Rule{"speedup", Below, -0.05, true}, ""},
		{"accept_length<-0.1", Rule{"accept_length", Below, -0.1, false}, ""},
		{" output_throughput_tok_s < -10 % ", Rule{"output_throughput_tok_s", Below, -0.1, true}, ""},
		{"ttft_p50_ms>10%", Rule{"ttft_p50_ms", Above, 0.1, true}, ""},
		{"speedup<0", Rule{"speedup", Below, 0, false}, ""},
		{"speedup<0.9", Rule{}, "thresholds"},
		{"ttft_p50_ms>-5%", Rule{}, "thresholds"},
		{"sped_up<-5%", Rule{}, `no such metric: "sped_up"`},
		{"speedup=-5%", Rule{}, "neither < nor >"},
		{"speedup<=-5%", Rule{}, "no number"},
		{"speedup<NaN", Rule{}, "no number"},
		{"speedup<-Inf%", Rule{}, "no number"},
		{"speedup<", Rule{}, "no number"},
		{"", Rule{}, "neither < nor >"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseRule(tt.text)
			if tt.fail != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fail) || !strings.Contains(err.Error(), fmt.Sprintf("%q", tt.text)) {
					t.Errorf("ParseRule = %v, want an error that names the rule and says %q", err, tt.fail)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("ParseRule = %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{"speedup<-5%", "accept_length < -0.1", "ttft_p50_ms>10%", "speedup<-1e-320%", "<", "speedup>%", "speedup<<1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || again.Metric != r.Metric || again.Op != r.Op || again.Relative != r.Relative ||
			math.Abs(again.Limit-r.Limit) > 1e-9*math.Abs(r.Limit)+1e-300 {
			t.Errorf("%q is %+v, written as %q, which is %+v, %v", text, r, r, again, err)
		}
		if r.past(0) {
			t.Errorf("%q holds for no change", text)
		}
	})
}

// changed is a comparison of one cell with one metric.
func changed(m compare.Metric) compare.Comparison {
	return compare.Comparison{Cells: []compare.Cell{{
		Identity: compare.Identity{Server: "s", Dataset: "d", Concurrency: 1}, OldRows: compare.Tally{OK: 3}, NewRows: compare.Tally{OK: 3},
		Metrics: []compare.Metric{m},
	}}}
}

func TestJudge(t *testing.T) {
	ratio := func(estimate, low, high float64, isRange bool) compare.Metric {
		return compare.Metric{
			Name: "speedup", Old: new(2.0), New: new(2 * estimate), Delta: new(2 * (estimate - 1)), Rel: new(estimate - 1),
			Ratio: &stat.Interval{Estimate: estimate, Low: low, High: high, N: 3, Range: isRange}, Reason: "n = 1",
		}
	}
	for _, tt := range []struct {
		name string
		c    compare.Comparison
		rule string
		want string // in the miss; empty: none
	}{
		{"past the limit and significant", changed(ratio(0.9, 0.85, 0.95, false)), "speedup<-5%", "speedup fell by 10.0 % on s on d at concurrency 1, max_new_tokens 0, temperature 0 (limit -5 %)"},
		{"past the limit, not significant", changed(ratio(0.9, 0.7, 1.1, false)), "speedup<-5%", ""},
		{"significant, not past the limit", changed(ratio(0.97, 0.96, 0.98, false)), "speedup<-5%", ""},
		{"a change for the better", changed(ratio(1.2, 1.1, 1.3, false)), "speedup<-5%", ""},
		{"absolute", changed(ratio(0.9, 0.85, 0.95, false)), "speedup<-0.1", "speedup fell by 0.2 on s on d at concurrency 1, max_new_tokens 0, temperature 0 (limit -0.1)"},
		{"n = 1: the estimate decides", changed(ratio(0.9, 0.9, 0.9, true)), "speedup<-5%", "decided by the estimate alone: n = 1"},
		{"n = 1, within the limit", changed(ratio(0.97, 0.97, 0.97, true)), "speedup<-5%", ""},
		{"no interval at all", changed(compare.Metric{Name: "accept_length", Old: new(3.0), New: new(2.5), Delta: new(-0.5), Rel: new(-1.0 / 6), Reason: compare.NotSampled}),
			"accept_length<-0.1", "decided by the estimate alone: " + compare.NotSampled},
		{"a value is lost", changed(compare.Metric{Name: "speedup", Old: new(2.0), Reason: "n/a on the new side"}), "speedup<-5%", "temperature 0: n/a on the new side (speedup<-5% counts as missed)"},
		{"0 on both sides", changed(compare.Metric{Name: "acceptance_rate", Old: new(0.0), New: new(0.0), Delta: new(0.0)}), "acceptance_rate<-5%", ""},
		{"no cell has it", changed(ratio(1, 1, 1, false)), "ttft_p50_ms>10%", "no cell that is on both sides has the metric"},
		{"a cell has vanished", func() compare.Comparison {
			c := changed(ratio(1, 1, 1, false))
			c.New, c.OnlyOld = "new", []compare.Identity{{Server: "s", Dataset: "gone"}}
			return c
		}(), "speedup<-5%", "speedup cannot be judged on s on gone at concurrency 0, max_new_tokens 0, temperature 0: the cell has no counterpart in new (speedup<-5% counts as missed)"},
		{"a latency that rose", changed(func() compare.Metric { m := ratio(1.2, 1.1, 1.3, false); m.Name = "ttft_p50_ms"; return m }()), "ttft_p50_ms>10%",
			"ttft_p50_ms rose by 20.0 % on s on d at concurrency 1, max_new_tokens 0, temperature 0 (limit +10 %)"},
		{"no cells", compare.Comparison{}, "speedup<-5%", "no cell that is on both sides"},
		{"other prompts", func() compare.Comparison {
			c := changed(ratio(1, 1, 1, false))
			c.Cells[0].Incomparable = "other prompts"
			return c
		}(), "speedup<-5%", "cannot be judged on s on d at concurrency 1, max_new_tokens 0, temperature 0: not comparable: other prompts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rule, err := ParseRule(tt.rule)
			if err != nil {
				t.Fatal(err)
			}
			misses := Judge(tt.c, []Rule{rule})
			if tt.want == "" {
				if len(misses) > 0 {
					t.Errorf("missed: %v", misses)
				}
				return
			}
			if len(misses) != 1 || !strings.Contains(misses[0].String(), tt.want) {
				t.Errorf("misses %v, want one that says %q", misses, tt.want)
			}
		})
	}
}

// From rows to misses, with nothing made by hand in between.
func TestJudgeOfAComparison(t *testing.T) {
	side := func(k float64, failed bool) compare.Side {
		s := compare.Side{Name: "x"}
		for i, v := range []float64{100, 101, 99} {
			r := result.Row{CellID: "c", Repeat: i, Server: "s", Engine: "vllm", Dataset: "d", OutputThroughputTokS: new(k * v)}
			if failed {
				r.Error, r.OutputThroughputTokS = "server is down", nil
			}
			s.Rows = append(s.Rows, r)
		}
		return s
	}
	rule := Rule{Metric: "output_throughput_tok_s", Op: Below, Limit: -0.05, Relative: true}
	for _, tt := range []struct {
		name string
		new  compare.Side
		want int
	}{
		{"equal", side(1, false), 0},
		{"a tenth slower", side(0.9, false), 1},
		{"error rows only", side(1, true), 1},
		{"no rows", compare.Side{}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Judge(compare.Compare(side(1, false), tt.new, compare.Options{}), []Rule{rule}); len(got) != tt.want {
				t.Errorf("misses %v, want %d", got, tt.want)
			}
		})
	}
	bothFailed := compare.Compare(side(1, true), side(1, true), compare.Options{})
	if got := Judge(bothFailed, []Rule{rule}); len(got) != 1 {
		t.Errorf("misses %v of two sides with error rows only, want 1", got)
	}
}

func TestJudgeLimits(t *testing.T) {
	row := func(server string, concurrency int, speedup float64, step string) result.Row {
		return result.Row{
			CellID: fmt.Sprint(server, concurrency), Server: server, Dataset: "d", Concurrency: concurrency, MaxNewTokens: 256,
			PromptsAsked: 80, Speedup: &speedup, Labels: map[string]string{"step": step},
		}
	}
	failed := row("c", 8, 0, "3000")
	failed.Speedup, failed.Error = nil, "server is down"
	none := row("d", 8, 0, "4000")
	none.Speedup, none.Warnings = nil, result.Warnings{{Columns: []string{"speedup"}, Text: "the baseline is down"}}
	rows := []result.Row{row("a", 8, 1.5, "1000"), row("b", 8, 0.9, "2000"), failed, none}
	rate := row("r", 8, 2, "")
	rate.RequestRate = new(4.0)
	for _, tt := range []struct {
		name  string
		limit Limit
		rows  []result.Row
		want  []string
	}{
		{"all cells", Limit{Metric: "speedup", Min: new(1.0)}, rows, []string{
			"speedup min 1 is missed: b on d at concurrency 8, max_new_tokens 256, temperature 0: 0.9",
			"speedup min 1 is missed: c on d at concurrency 8, max_new_tokens 256, temperature 0: n/a (1 of 1 runs failed: server is down)",
			"speedup min 1 is missed: d on d at concurrency 8, max_new_tokens 256, temperature 0: n/a (no value: the baseline is down)",
		}},
		{"by server", Limit{Metric: "speedup", Min: new(1.0), Where: Where{Servers: []string{"a"}}}, rows, nil},
		{"by label", Limit{Metric: "speedup", Min: new(1.0), Where: Where{Labels: map[string][]string{"step": {"1000", "2000"}}}}, rows, []string{
			"speedup min 1 is missed: b on d at concurrency 8, max_new_tokens 256, temperature 0: 0.9",
		}},
		{"the greatest", Limit{Metric: "speedup", Min: new(1.0), Max: new(1.2), Where: Where{Servers: []string{"a"}}}, rows, []string{
			"speedup min 1 max 1.2 is missed: a on d at concurrency 8, max_new_tokens 256, temperature 0: 1.5",
		}},
		{"exactly the limit is kept", Limit{Metric: "speedup", Min: new(1.5), Max: new(1.5), Where: Where{Servers: []string{"a"}}}, rows, nil},
		{"by prompts per slot", Limit{Metric: "speedup", Min: new(1.0), Where: Where{Servers: []string{"a"}, NumPrompts: []Prompts{{N: 10, PerSlot: true, Least: 64}}}}, rows, nil},
		{"closed loops only", Limit{Metric: "speedup", Min: new(3.0), Where: Where{RequestRate: []float64{0}}}, []result.Row{rate}, []string{
			"speedup min 3 is missed: n/a (no cell is picked by its where)",
		}},
		{"at a rate", Limit{Metric: "speedup", Min: new(3.0), Where: Where{RequestRate: []float64{4}}}, []result.Row{rate}, []string{
			"speedup min 3 is missed: r on d at concurrency 8, max_new_tokens 256, temperature 0, request_rate 4: 2",
		}},
		{"no cell", Limit{Metric: "speedup", Min: new(1.0), Where: Where{Concurrency: []int{9}}}, rows, []string{
			"speedup min 1 is missed: n/a (no cell is picked by its where)",
		}},
		{"one repeat failed", Limit{Metric: "speedup", Min: new(1.0)}, []result.Row{row("c", 8, 2, ""), failed}, []string{
			"speedup min 1 is missed: c on d at concurrency 8, max_new_tokens 256, temperature 0: 2 (1 of 2 runs failed: server is down)",
		}},
		{"the value is the tables' geometric mean", Limit{Metric: "speedup", Max: new(1.99)}, []result.Row{row("a", 8, 1, ""), row("a", 8, 4, "")}, []string{
			"speedup max 1.99 is missed: a on d at concurrency 8, max_new_tokens 256, temperature 0: 2",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := json.Marshal(tt.limit)
			if err != nil {
				t.Fatal(err)
			}
			var kept Limit // as the manifest gives it back
			if err := json.Unmarshal(text, &kept); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range JudgeLimits(tt.rows, []Limit{kept}) {
				got = append(got, m.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A metric that neither side has is left aside, but not where the cell cannot be compared
// or the new side has failed.
func TestNeitherSideHasTheMetric(t *testing.T) {
	rule := Rule{Metric: "speedup", Op: Below, Limit: -0.05, Relative: true}
	ok := compare.Tally{OK: 1}
	for _, tt := range []struct {
		name     string
		cell     compare.Cell
		unjudged int
		reason   string
	}{
		{"n/a on both sides", compare.Cell{OldRows: ok, NewRows: ok}, 1, "no cell that is on both sides has the metric"},
		{"not comparable", compare.Cell{OldRows: ok, NewRows: ok, Incomparable: "other prompts"}, 0, "not comparable: other prompts"},
		{"the new side failed", compare.Cell{OldRows: ok, NewRows: compare.Tally{Errors: 1}}, 0, "all of the new side's rows are errors"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := compare.Comparison{Cells: []compare.Cell{tt.cell}}
			misses := Judge(c, []Rule{rule})
			if n := rule.Unjudged(c); n != tt.unjudged || len(misses) != 1 || misses[0].Reason != tt.reason {
				t.Errorf("%d unjudged, misses %v; want %d and %q", n, misses, tt.unjudged, tt.reason)
			}
		})
	}
}
