package compare

import (
	"fmt"
	"math"

	"github.com/specsweep/specsweep/report/stat"
)

// Verdict is what the samples show.
type Verdict string

// The values of Verdict.
const (
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Same    Verdict = "~"       // not shown to differ, or by less than min_effect
	Unknown Verdict = "unknown" // the samples allow none; the reason is beside it
)

// rounding is a relative change that arithmetic alone makes.
const rounding = 1e-9

// unknown withholds the verdict. The first reason stays: it is the nearest one.
func (m *Metric) unknown(reason string) {
	m.Verdict = Unknown
	if m.Reason == "" {
		m.Reason = reason
	}
}

// withhold leaves the bare numbers: they are not of the same thing, whatever the
// samples may show.
func (m *Metric) withhold(reason string) {
	m.Verdict, m.Reason, m.Difference, m.Ratio = Unknown, reason, nil, nil
	m.OldN, m.NewN = 0, 0
	if m.Old != nil && m.New != nil {
		m.change(*m.New-*m.Old, stat.Ratio(*m.New, *m.Old))
	}
}

// judge gives the verdict where nothing withheld it.
func (m *Metric) judge(minEffect float64) {
	if m.Verdict == Unknown {
		return
	}
	var note string
	m.Verdict, note = verdict(m.Significant(), *m.Delta, m.Rel, m.LowerIsBetter, minEffect)
	if note != "" {
		m.note("%s", note)
	}
}

// verdict is of a change in the direction of delta. Significance is not enough: a
// change below the least that matters is none. rel is nil where old is 0, and then
// any change matters.
func verdict(significant bool, delta float64, rel *float64, lowerIsBetter bool, minEffect float64) (Verdict, string) {
	switch {
	case !significant:
		return Same, ""
	case rel != nil && math.Abs(*rel) < minEffect:
		return Same, fmt.Sprintf("shown to differ, but by less than min_effect %g %%", minEffect*100)
	}
	up := delta > 0
	if rel != nil {
		up = *rel > 0
	}
	if up != lowerIsBetter {
		return Better, ""
	}
	return Worse, ""
}
