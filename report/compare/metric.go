package compare

import (
	"math"
	"slices"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// Metric is one column of a cell on both sides, and its change.
type Metric struct {
	Name string `json:"metric"`
	Unit string `json:"unit,omitempty"`
	// LowerIsBetter holds for latencies.
	LowerIsBetter bool `json:"lower_is_better,omitempty"`

	// Old and New are the values that the change is between; nil: n/a, and Reason says
	// why. Where there is a Ratio, New / Old is its estimate: they are the geometric means
	// over the repeats that it is made of (of two servers those of the blocks that have
	// both), or the ratio of summed counts over the prompts that it is made of. They may
	// then differ from the tables' values, which are Σ / Σ or means over all repeats.
	// Without a Ratio they are the tables' values.
	Old *float64 `json:"old"`
	New *float64 `json:"new"`
	// OldN and NewN, 0 where the cell is Incomparable, are the sizes of the samples behind Interval: prompts for
	// accept_length and acceptance_rate where they are known, else repeats.
	OldN int `json:"old_n"`
	NewN int `json:"new_n"`

	// Delta is new minus old, in Unit; Rel is new / old - 1. Where there is an interval
	// they are its estimate, which may come from fewer prompts or repeats than Old and
	// New do; a note says so.
	Delta *float64 `json:"delta"`
	Rel   *float64 `json:"rel"`
	// Difference is the interval of Delta where the unit is the prompt, else nil; Ratio
	// is that of new / old.
	Difference *stat.Interval `json:"difference,omitempty"`
	Ratio      *stat.Interval `json:"ratio,omitempty"`

	Verdict Verdict `json:"verdict"`
	// Reason is why there is no verdict; empty unless Verdict is Unknown.
	Reason string   `json:"reason,omitempty"`
	Notes  []string `json:"notes,omitempty"`

	// alone keeps the metric out of Overall.
	alone bool
}

// Shown is the interval to show beside the change: that of the difference where
// there is one, else that of the ratio. It is nil where there is neither.
func (m *Metric) Shown() *stat.Interval {
	if m.Difference != nil {
		return m.Difference
	}
	return m.Ratio
}

// Significant tells whether the sample shows a change of either direction, however
// small. Without an interval it is false.
func (m *Metric) Significant() bool {
	if m.Rel != nil && *m.Rel < rounding && *m.Rel > -rounding {
		return false
	}
	if m.Difference != nil {
		return m.Difference.Excludes(0)
	}
	return m.Ratio != nil && m.Ratio.Excludes(1)
}

// Metrics is the names of the columns that are compared, in order.
func Metrics() []string {
	names := []string{"accept_length", "acceptance_rate", "output_throughput_tok_s", "speedup", "tpot_speedup", "goodput_req_s"}
	for _, what := range []string{"ttft", "tpot", "e2e_latency"} {
		for _, which := range []string{"mean", "p50", "p90", "p99"} {
			names = append(names, what+"_"+which+"_ms")
		}
	}
	return names
}

// columns is the table's columns of Metrics, in that order.
func columns() []table.Column {
	all := table.Columns()
	var out []table.Column
	for _, name := range Metrics() {
		i := slices.IndexFunc(all, func(c table.Column) bool { return c.Name == name })
		if i >= 0 {
			out = append(out, all[i])
		}
	}
	return out
}

// shown is a cell's value as the tables have it: the ok repeats combined in the
// column's own way.
func shown(c table.Column, rows []*result.Row) *float64 {
	var have []*result.Row
	for _, r := range rows {
		if value(c, r) != nil {
			have = append(have, r)
		}
	}
	switch {
	case len(have) == 0:
		return nil
	case c.Combine == nil:
		return stat.Mean(values(c, have))
	}
	return c.Combine(c, have)
}

// value is nil also for what is no number: a file that another program wrote may
// hold NaN.
func value(c table.Column, r *result.Row) *float64 {
	v := c.Value(r)
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

// values is the repeats' own values, those that are there.
func values(c table.Column, rows []*result.Row) []float64 {
	vs := make([]*float64, len(rows))
	for i, r := range rows {
		vs[i] = value(c, r)
	}
	return stat.Values(vs)
}
