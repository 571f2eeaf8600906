package runner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/plan"
)

// testRuns is two servers over the datasets, with repeats; both name the same
// baseline unless alone is set.
func testRuns(servers []*plan.Server, datasets []string, repeats int) []plan.Run {
	sets := map[string]*plan.Dataset{}
	var runs []plan.Run
	for _, s := range servers {
		for _, d := range datasets {
			if sets[d] == nil {
				sets[d] = &plan.Dataset{Name: d}
			}
			for r := range repeats {
				runs = append(runs, plan.Run{
					Index: len(runs), Repeat: r, Server: s, Dataset: sets[d], Concurrency: 4, NumPrompts: 8,
				})
			}
		}
	}
	return runs
}

// names writes a schedule as "base a/x0" words: endpoint, dataset, repeat.
func names(s schedule, runs []plan.Run) string {
	var words []string
	for _, st := range s.steps {
		name := s.endpoints[st.endpoint].name
		if st.baseline {
			name = "base"
		}
		r := runs[st.runs[0]]
		words = append(words, fmt.Sprintf("%s/%s%d", name, r.Dataset.Name, r.Repeat))
	}
	return strings.Join(words, " ")
}

func TestSchedule(t *testing.T) {
	base := &plan.Endpoint{URL: "http://base"}
	a := &plan.Server{Name: "a", Baseline: base}
	b := &plan.Server{Name: "b", Baseline: base}
	alone := &plan.Server{Name: "alone"}
	for _, tc := range []struct {
		name        string
		servers     []*plan.Server
		repeats     int
		order       plan.Order
		serverFirst bool
		want        string
	}{
		{"the baseline is shared within a block", []*plan.Server{a, b}, 1, plan.OrderByBlock, false,
			"base/x0 a/x0 b/x0 base/y0 a/y0 b/y0"},
		{"each repeat starts one place later", []*plan.Server{a, b}, 4, plan.OrderByBlock, false,
			"base/x0 a/x0 b/x0 a/x1 b/x1 base/x1 b/x2 base/x2 a/x2 base/x3 a/x3 b/x3 " +
				"base/y0 a/y0 b/y0 a/y1 b/y1 base/y1 b/y2 base/y2 a/y2 base/y3 a/y3 b/y3"},
		{"by server: one endpoint after the other, the baseline first", []*plan.Server{a, b}, 2, plan.OrderByServer, false,
			"base/x0 base/x1 base/y0 base/y1 a/x0 a/x1 a/y0 a/y1 b/x0 b/x1 b/y0 b/y1"},
		{"a server without a baseline", []*plan.Server{alone, a}, 1, plan.OrderByBlock, false,
			"base/x0 alone/x0 a/x0 base/y0 alone/y0 a/y0"},
		{"bench: server first, no rotation", []*plan.Server{a}, 2, plan.OrderByBlock, true,
			"a/x0 base/x0 a/x1 base/x1 a/y0 base/y0 a/y1 base/y1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			runs := testRuns(tc.servers, []string{"x", "y"}, tc.repeats)
			got := names(newSchedule(runs, tc.order, tc.serverFirst), runs)
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("newSchedule (-want +got):\n%s", d)
			}
		})
	}
}

func TestScheduleSharesEqualBaselines(t *testing.T) {
	a := &plan.Server{Name: "a", Baseline: &plan.Endpoint{URL: "http://base", Engine: "vllm"}}
	b := &plan.Server{Name: "b", Baseline: &plan.Endpoint{URL: "http://base", Engine: "vllm"}}
	c := &plan.Server{Name: "c", Baseline: &plan.Endpoint{URL: "http://other", Engine: "vllm"}}
	runs := testRuns([]*plan.Server{a, b, c}, []string{"x"}, 1)
	s := newSchedule(runs, plan.OrderByBlock, false)
	if got, want := names(s, runs), "base/x0 base/x0 a/x0 b/x0 c/x0"; got != want {
		t.Errorf("newSchedule = %q, want %q", got, want)
	}
	if s.baselineOf[0] != s.baselineOf[1] || s.baselineOf[0] == s.baselineOf[2] {
		t.Errorf("baselineOf = %v, want the first two equal and the third another", s.baselineOf)
	}
}

func TestCostOf(t *testing.T) {
	base := &plan.Endpoint{URL: "http://base"}
	runs := testRuns([]*plan.Server{{Name: "a", Baseline: base}, {Name: "b", Baseline: base}}, []string{"x", "y"}, 3)
	want := Cost{Runs: 12, ServerPasses: 12, BaselinePasses: 6, Requests: 18 * 8}
	if got := CostOf(runs, plan.OrderByBlock); got != want {
		t.Errorf("CostOf = %+v, want %+v", got, want)
	}
}
