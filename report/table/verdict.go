package table

import (
	"fmt"
	"math"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// Undecided stands behind a ratio that is not shown to differ from 1.
const Undecided = "~"

// same tells whether the ratio is not shown to differ from 1: its interval holds 1,
// or the effect is smaller than the least one worth a verdict. One value says
// neither.
func same(iv *stat.Interval, least float64) bool {
	return iv != nil && iv.N > 1 && (iv.Holds(1) || math.Abs(iv.Estimate-1) < least)
}

// differs tells whether the ratio is shown to differ from 1. Two values can lie on
// one side of 1 by chance every other time, so a range shows nothing.
func differs(iv *stat.Interval, least float64) bool {
	return iv != nil && !iv.Range && !iv.Holds(1) && math.Abs(iv.Estimate-1) >= least
}

// ratioText is a ratio as tables show it: 1.840 (1.790–1.900), with ~ where it is
// not shown to differ from 1; of a single value that value alone.
func ratioText(iv *stat.Interval, digits int, least float64) string {
	if iv == nil {
		return NotAvailable
	}
	text := formatNumber(iv.Estimate, digits)
	if iv.N > 1 && text != NotAvailable {
		text += " (" + formatNumber(iv.Low, digits) + "–" + formatNumber(iv.High, digits) + ")"
	}
	if same(iv, least) {
		text += " " + Undecided
	}
	return text
}

// against is the ratio of two lines' values of a column, over the repeats that have
// both. Repeats of one block ran next to each other, so what they share (the
// baseline, the hour) cancels.
func (l line) against(other line, c Column) *stat.Interval {
	of := map[int]*result.Row{}
	for _, r := range other.ok {
		of[r.Repeat] = r
	}
	var ratios []float64
	for _, r := range l.ok {
		o := of[r.Repeat]
		if o == nil {
			continue
		}
		a, b := c.Value(r), c.Value(o)
		if a == nil || b == nil {
			continue
		}
		if ratio := stat.Ratio(*a, *b); ratio != nil {
			ratios = append(ratios, *ratio)
		}
	}
	return stat.GeoMeanInterval(ratios)
}

// bestOf is the line of a block that is shown to have a higher value than every
// other one, -1 where there is none: of a single server, too few repeats, or a
// difference that may be chance. Repeats of the same prompts say nothing about
// other prompts, so it must not be asked about acceptance.
func bestOf(ls []line, members []int, c Column) int {
	best := -1
	servers := map[string]bool{}
	for _, i := range members {
		servers[ls[i].rows[0].Server] = true
		if v := ls[i].value(c); v != nil && (best < 0 || *v > *ls[best].value(c)) {
			best = i
		}
	}
	if len(servers) < 2 || best < 0 {
		return -1
	}
	for _, i := range members {
		if i != best && !differs(ls[best].against(ls[i], c), ls[best].least) {
			return -1
		}
	}
	return best
}

// blocks are the lines that differ in their server only and have a comparable value
// of the column.
func blocks(ls []line, c Column) map[lineKey][]int {
	members := map[lineKey][]int{}
	for i, l := range ls {
		if l.value(c) != nil && len(l.ok) > 0 && (c.Name != "speedup" || !l.otherEngine()) {
			members[l.block()] = append(members[l.block()], i)
		}
	}
	return members
}

// ratioRemarks say how to read the speedups.
func ratioRemarks(ls []line, least float64) []string {
	most, undecided := 0, false
	for _, l := range ls {
		if iv := l.speedup(); iv != nil {
			most = max(most, iv.N)
			undecided = undecided || same(iv, least)
		}
	}
	var out []string
	if most > 1 {
		out = append(out, "speedup is the geometric mean of the repeats' (95 % interval: t on the log ratio for n >= 3; least–greatest for n = 2)")
	}
	if undecided {
		text := Undecided + " not different from 1: the interval holds 1"
		if least > 0 {
			text += fmt.Sprintf(", or the difference is below min_effect (%s %%)", formatPercent(least))
		}
		out = append(out, text)
	}
	return out
}

func formatPercent(share float64) string { return fmt.Sprintf("%.4g", 100*share) }
