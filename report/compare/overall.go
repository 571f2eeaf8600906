package compare

import (
	"fmt"
	"math"

	"github.com/specsweep/specsweep/report/stat"
)

// Overall is one metric over the datasets of one server at one point of the other
// axes, concurrency among them: never across concurrencies, whose trade-offs differ.
type Overall struct {
	Server       string   `json:"server"`
	NewServer    string   `json:"new_server,omitempty"`
	Concurrency  int      `json:"concurrency"`
	MaxNewTokens int      `json:"max_new_tokens"`
	Temperature  float64  `json:"temperature"`
	RequestRate  *float64 `json:"request_rate,omitempty"`

	Metric   string   `json:"metric"`
	Datasets []string `json:"datasets"` // of the cells that are in it
	LeftOut  int      `json:"left_out"` // cells that have the metric and are not in it
	// Ratio is the geometric mean of new / old. The datasets' errors count as
	// independent, and the interval is about these datasets, not about others.
	Ratio *stat.Interval `json:"ratio,omitempty"`
	// Delta is the mean of the cells' absolute changes, for accept_length and
	// acceptance_rate; nil for the others, which differ by orders of magnitude.
	Delta   *float64 `json:"delta,omitempty"`
	Verdict Verdict  `json:"verdict"`
	Reason  string   `json:"reason,omitempty"` // of Unknown
}

// overall combines the cells that are comparable, in the order of their first cell.
func overall(cells []Cell, o Options) []Overall {
	type groupKey struct {
		server, metric, point string
	}
	type parts struct {
		Overall
		ratios []*stat.Interval
		deltas []float64
		lower  bool
	}
	var order []*parts
	at := map[groupKey]*parts{}
	for i := range cells {
		c := &cells[i]
		for _, name := range Metrics() {
			m := c.Metric(name)
			if m == nil {
				continue
			}
			k := groupKey{c.Server, name, c.point()}
			if at[k] == nil {
				at[k] = &parts{lower: m.LowerIsBetter, Overall: Overall{
					Server: c.Server, NewServer: c.NewServer, Concurrency: c.Concurrency, MaxNewTokens: c.MaxNewTokens,
					Temperature: c.Temperature, RequestRate: c.RequestRate, Metric: name,
				}}
				order = append(order, at[k])
			}
			g := at[k]
			ratio := m.ofRatio()
			if ratio == nil || c.Incomparable != "" || m.alone {
				g.LeftOut++
				continue
			}
			g.Datasets = append(g.Datasets, c.Dataset)
			g.ratios = append(g.ratios, ratio)
			if perPrompt(name) && m.Delta != nil {
				g.deltas = append(g.deltas, *m.Delta)
			}
		}
	}
	out := []Overall{}
	for _, g := range order {
		g.Delta = stat.Mean(g.deltas)
		g.judge(stat.CombineRatios(g.ratios), g.lower, o.MinEffect)
		out = append(out, g.Overall)
	}
	return out
}

func (g *Overall) judge(ratio *stat.Interval, lower bool, minEffect float64) {
	g.Ratio = ratio
	switch {
	case ratio == nil:
		g.Verdict, g.Reason = Unknown, "no cell can be compared"
	case ratio.Range:
		g.Verdict, g.Reason = Unknown, fmt.Sprintf("a cell has no interval (n = %d)", ratio.N)
	default:
		rel := ratio.Estimate - 1
		significant := math.Abs(rel) >= rounding && ratio.Excludes(1)
		g.Verdict, _ = verdict(significant, rel, &rel, lower, minEffect)
	}
}

// ofRatio is the interval of new / old, or the bare estimate as a Range of no width
// where there is no interval.
func (m *Metric) ofRatio() *stat.Interval {
	switch {
	case m.Ratio != nil:
		return m.Ratio
	case m.Rel == nil || *m.Rel <= -1:
		return nil
	}
	r := 1 + *m.Rel
	return &stat.Interval{Estimate: r, Low: r, High: r, N: min(m.OldN, m.NewN), Range: true}
}
