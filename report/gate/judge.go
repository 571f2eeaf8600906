package gate

import (
	"fmt"
	"math"

	"github.com/specsweep/specsweep/report/compare"
	"github.com/specsweep/specsweep/report/table"
)

// Miss is one cell that a rule or a threshold does not let pass.
type Miss struct {
	Rule   string `json:"rule"`           // as it is written
	Cell   string `json:"cell,omitempty"` // empty: there is no such cell
	Metric string `json:"metric"`         // empty: the run-set's rows themselves are judged
	// Value is the cell's value or, of a Rule, its change: a fraction of the old value
	// when Relative. nil: n/a.
	Value    *float64 `json:"value"`
	Limit    float64  `json:"limit"`
	Relative bool     `json:"relative,omitempty"`
	Op       Op       `json:"op,omitempty"` // of a Rule: the side on which a change is a miss
	// Reason is why there was nothing to judge, or what the judgement lacks: the
	// estimate alone may have decided. Empty: the change is significant, or the value
	// is plainly past its limit.
	Reason string `json:"reason,omitempty"`
}

// String is the miss in one line. A limit of a change is told from a limit of a value
// by its Op.
func (m Miss) String() string {
	switch {
	case m.Op != "" && m.Value == nil:
		s := m.Metric + " cannot be judged"
		if m.Cell != "" {
			s += " on " + m.Cell
		}
		return fmt.Sprintf("%s: %s (%s counts as missed)", s, m.Reason, m.Rule)
	case m.Op != "":
		return m.changed()
	}
	s := m.Rule + " is missed"
	if m.Cell != "" {
		s += ": " + m.Cell
	}
	switch {
	case m.Metric == "": // the rows themselves are judged
		return s + ": " + m.Reason
	case m.Value == nil:
		s += ": n/a"
	default:
		s += fmt.Sprintf(": %.4g", *m.Value)
	}
	if m.Reason != "" {
		s += " (" + m.Reason + ")"
	}
	return s
}

// changed says a change past its limit in the words of the change.
func (m Miss) changed() string {
	verb := "rose"
	if *m.Value < 0 {
		verb = "fell"
	}
	by, limit := fmt.Sprintf("%.4g", math.Abs(*m.Value)), fmt.Sprintf("%+.4g", m.Limit)
	if m.Relative {
		by, limit = fmt.Sprintf("%.1f %%", math.Abs(*m.Value)*100), fmt.Sprintf("%+.4g %%", m.Limit*100)
	}
	s := fmt.Sprintf("%s %s by %s on %s (limit %s", m.Metric, verb, by, m.Cell, limit)
	if m.Reason != "" {
		s += "; " + m.Reason
	}
	return s + ")"
}

// Judge returns the cells whose change is past the limit of a rule, in the order of
// the rules and then of the cells. Where the comparison has an interval the change
// must be significant too; where it has none the estimate decides and the miss says
// so. What cannot be judged is a miss: a cell that is not comparable or that the new
// side lacks, a value that one side has lost, and a rule whose metric no cell has.
func Judge(c compare.Comparison, rules []Rule) []Miss {
	misses := []Miss{}
	for _, r := range rules {
		judged := 0
		for i := range c.Cells {
			cell := &c.Cells[i]
			m := cell.Metric(r.Metric)
			if m == nil {
				if !mustHave(cell) {
					continue
				}
				m = &compare.Metric{Reason: "all of the new side's rows are errors"}
			}
			judged++
			if miss := r.judge(cell, m); miss != nil {
				misses = append(misses, *miss)
			}
		}
		for _, lost := range c.OnlyOld {
			miss := r.miss(lost.String())
			miss.Reason = "the cell has no counterpart in " + table.Clean(c.New, 80)
			misses = append(misses, *miss)
		}
		if judged+len(c.OnlyOld) == 0 {
			miss := r.miss("")
			miss.Reason = "no cell that is on both sides has the metric"
			misses = append(misses, *miss)
		}
	}
	return misses
}

// mustHave tells the cells that are judged though neither side has the metric: those
// that are not comparable, and those whose new side has failed.
func mustHave(c *compare.Cell) bool {
	return c.Incomparable != "" || c.NewRows.OK == 0 && c.OldRows.OK > 0
}

// Unjudged is how many cells a rule does not judge: those that have its metric on
// neither side, as speedup at a finite request_rate.
func (r Rule) Unjudged(c compare.Comparison) int {
	n := 0
	for i := range c.Cells {
		if cell := &c.Cells[i]; cell.Metric(r.Metric) == nil && !mustHave(cell) {
			n++
		}
	}
	return n
}

// miss is a miss of the rule without a value or a reason.
func (r Rule) miss(cell string) *Miss {
	return &Miss{Rule: r.String(), Cell: cell, Metric: r.Metric, Limit: r.Limit, Relative: r.Relative, Op: r.Op}
}

func (r Rule) judge(cell *compare.Cell, m *compare.Metric) *Miss {
	miss := r.miss(cell.String())
	change := m.Delta
	if r.Relative {
		change = m.Rel
	}
	switch {
	case cell.Incomparable != "":
		miss.Reason = "not comparable: " + cell.Incomparable
		return miss
	case change == nil && m.Delta != nil && *m.Delta == 0:
		return nil // 0 on both sides has no ratio and no change
	case change == nil:
		miss.Reason = m.Reason
		if miss.Reason == "" {
			miss.Reason = "the old value is 0, so there is no relative change"
		}
		return miss
	case !r.past(*change):
		return nil
	}
	miss.Value = change
	if i := m.Shown(); i == nil || i.Range {
		miss.Reason = "decided by the estimate alone: " + m.Reason
		return miss
	}
	if !m.Significant() {
		return nil
	}
	return miss
}
