package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// Limit is one of a plan's thresholds, as the manifest keeps it.
type Limit struct {
	Metric string   `json:"metric"` // a column of the row that is a number
	Min    *float64 `json:"min,omitempty"`
	Max    *float64 `json:"max,omitempty"`
	Where  Where    `json:"where,omitzero"`
}

// Where picks cells: every list that is not empty must hold the cell's value. The
// zero value picks all.
type Where struct {
	Servers      []string            `json:"server,omitempty"`
	Datasets     []string            `json:"dataset,omitempty"`
	Concurrency  []int               `json:"concurrency,omitempty"`
	MaxNewTokens []int               `json:"max_new_tokens,omitempty"`
	Temperature  []float64           `json:"temperature,omitempty"`
	NumPrompts   []Prompts           `json:"num_prompts,omitempty"`
	RequestRate  []float64           `json:"request_rate,omitempty"` // requests per second; 0: a closed loop, since JSON has no infinity
	Labels       map[string][]string `json:"labels,omitempty"`       // by label
}

// Prompts is how many prompts were asked for: N, or N per slot of concurrency but at
// least Least.
type Prompts struct {
	N       int  `json:"n"`
	PerSlot bool `json:"per_slot,omitempty"`
	Least   int  `json:"least,omitempty"`
}

func (p Prompts) at(concurrency int) int {
	if !p.PerSlot {
		return p.N
	}
	return max(p.N*concurrency, p.Least)
}

// matches tells whether the cell's rows are picked.
func (w Where) matches(c table.CellRows) bool {
	rate := 0.0
	if c.RequestRate != nil {
		rate = *c.RequestRate
	}
	for label, want := range w.Labels {
		if !slices.Contains(want, c.Rows[0].Labels[label]) {
			return false
		}
	}
	return holds(w.Servers, c.Server) && holds(w.Datasets, c.Dataset) && holds(w.Concurrency, c.Concurrency) &&
		holds(w.MaxNewTokens, c.MaxNewTokens) && holds(w.Temperature, c.Temperature) && holds(w.RequestRate, rate) &&
		(len(w.NumPrompts) == 0 || slices.ContainsFunc(w.NumPrompts, func(p Prompts) bool { return p.at(c.Concurrency) == c.PromptsAsked }))
}

func holds[T comparable](list []T, v T) bool { return len(list) == 0 || slices.Contains(list, v) }

// String is the limit in one line: `speedup min 1.2`.
func (l Limit) String() string {
	s := l.Metric
	if l.Min != nil {
		s += fmt.Sprintf(" min %g", *l.Min)
	}
	if l.Max != nil {
		s += fmt.Sprintf(" max %g", *l.Max)
	}
	return s
}

// LimitsOf is the thresholds that a run-set's plan had, as its manifest keeps them.
func LimitsOf(m result.Manifest) ([]Limit, error) {
	if len(m.Thresholds) == 0 {
		return nil, nil
	}
	var limits []Limit
	if err := json.Unmarshal(m.Thresholds, &limits); err != nil {
		return nil, fmt.Errorf("reading the thresholds of the manifest: %w", err)
	}
	return limits, nil
}

// JudgeLimits returns the cells that miss a limit, in the order of the limits and
// then of the cells. A cell is judged on the value that the tables show of it. A
// value that is n/a is a miss, and so are an error row in the cell and a limit that
// picks no cell.
func JudgeLimits(rows []result.Row, limits []Limit) []Miss {
	misses := []Miss{}
	cells := table.Cells(rows)
	for _, l := range limits {
		picked := 0
		for _, c := range cells {
			if !l.Where.matches(c) {
				continue
			}
			picked++
			if miss := l.judge(c); miss != nil {
				misses = append(misses, *miss)
			}
		}
		if picked == 0 {
			misses = append(misses, Miss{Rule: l.String(), Metric: l.Metric, Limit: l.bound(nil), Reason: "no cell is picked by its where"})
		}
	}
	return misses
}

func (l Limit) judge(c table.CellRows) *Miss {
	v := table.CellValue(c.Rows, l.Metric)
	miss := &Miss{Rule: l.String(), Cell: name(c), Metric: l.Metric, Value: v, Limit: l.bound(v)}
	if failed := len(c.Rows) - len(c.OK()); failed > 0 {
		miss.Reason = fmt.Sprintf("%d of %d runs failed: %s", failed, len(c.Rows), failure(c.Rows))
		return miss
	}
	switch {
	case v == nil:
		miss.Reason = "no value" + why(c.Rows, l.Metric)
		return miss
	case l.Min != nil && !(*v >= *l.Min), l.Max != nil && !(*v <= *l.Max): // so that NaN is a miss
		return miss
	}
	return nil
}

// bound is the limit that v is past, else the one that there is.
func (l Limit) bound(v *float64) float64 {
	switch {
	case l.Min == nil && l.Max == nil:
		return 0
	case l.Min == nil, l.Max != nil && v != nil && *v > *l.Max:
		return *l.Max
	}
	return *l.Min
}

func name(c table.CellRows) string {
	s := fmt.Sprintf("%s on %s at concurrency %d, max_new_tokens %d, temperature %g", c.Server, c.Dataset, c.Concurrency, c.MaxNewTokens, c.Temperature)
	if c.RequestRate != nil {
		s += fmt.Sprintf(", request_rate %g", *c.RequestRate)
	}
	return s
}

// failure is the first error, fit for a line.
func failure(rows []*result.Row) string {
	for _, r := range rows {
		if !r.OK() {
			return table.Clean(strings.TrimSpace(r.Error), 200)
		}
	}
	return ""
}

// why is the rows' own reason for a null, with a colon before it.
func why(rows []*result.Row, metric string) string {
	for _, r := range rows {
		for _, w := range r.Warnings {
			if slices.Contains(w.Columns, metric) {
				return ": " + table.Clean(w.Text, 200)
			}
		}
	}
	return ""
}
