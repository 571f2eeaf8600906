package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/report/stat"
)

// title is the plan's name and what it gained, with no claim that the repeats do not
// carry.
func title(o Options, hs []headline, axes []Column) string {
	name := Clean(o.Plan, maxText)
	if name == "" {
		name = "specsweep"
	}
	var with []headline
	for _, h := range hs {
		if h.speedup != nil {
			with = append(with, h)
		}
	}
	if len(with) == 0 {
		return name
	}
	if len(with) == 1 {
		return name + ": " + with[0].verdict("", o.MinEffect, axes)
	}
	if best := bestHeadline(with, axes, o.MinEffect); best != nil {
		return name + ": " + best.verdict(fmt.Sprintf(", the best of %s", count(len(with), "server")), o.MinEffect, axes)
	}
	return name + ": " + rangeOf(with, o.MinEffect, axes)
}

// verdict is the gain of one server at one point in words.
func (h headline) verdict(rank string, least float64, axes []Column) string {
	over := h.over("geometric mean")
	if left := append(slices.Clone(h.without), h.other...); len(left) > 0 {
		over += "; without " + listOf(left, 4)
	}
	gain := formatNumber(*h.speedup, 2) + "x over no speculation"
	if same(h.interval, least) {
		gain = "not different from no speculation: " + formatNumber(*h.speedup, 2) + "x"
	}
	return fmt.Sprintf("%s %s%s (%s; %s%s)", orNotAvailable(Clean(h.Server, maxText)), gain, rank, over, h.where(axes),
		fewRuns([]headline{h})+seeFootnotes([]headline{h}))
}

// rangeOf is the gains of several servers or points, from the least to the greatest.
func rangeOf(with []headline, least float64, axes []Column) string {
	var vs, shown []float64
	var servers, points []string
	for _, h := range with {
		vs = append(vs, *h.speedup)
		if !same(h.interval, least) {
			shown = append(shown, *h.speedup)
		}
		if !slices.Contains(servers, h.Server) {
			servers = append(servers, h.Server)
		}
		if at := h.where(axes); !slices.Contains(points, at) {
			points = append(points, at)
		}
	}
	over := with[0].over("geometric means")
	if slices.ContainsFunc(with, func(h headline) bool { return !slices.Equal(h.with, with[0].with) }) {
		over = "geometric means, not all over the same datasets"
	}
	at := count(len(points), "point") + " of the axes"
	if !strings.Contains(points[0], ",") { // the concurrency alone
		for i := range points[1:] {
			points[i+1] = strings.TrimPrefix(points[i+1], "concurrency ")
		}
		at = listOf(points, 6)
	}
	return fmt.Sprintf("%s (%s; %s; %s%s)", gains(vs, shown), over, count(len(servers), "server"), at, fewRuns(with)+seeFootnotes(with))
}

// gains is the range of the speedups that are shown to differ from 1, and how many are
// not: a value that may be chance is no end of a range that somebody quotes.
func gains(all, shown []float64) string {
	if len(shown) == 0 {
		low, high, _ := stat.Range(all)
		return fmt.Sprintf("nowhere different from no speculation: %sx to %sx", formatNumber(low, 2), formatNumber(high, 2))
	}
	low, high, _ := stat.Range(shown)
	text := fmt.Sprintf("%sx to %sx over no speculation", formatNumber(low, 2), formatNumber(high, 2))
	if len(shown) == len(all) {
		return text
	}
	switch {
	case low >= 1:
		text = fmt.Sprintf("up to %sx over no speculation", formatNumber(high, 2))
	case len(shown) == 1:
		text = fmt.Sprintf("%sx over no speculation", formatNumber(low, 2))
	}
	return fmt.Sprintf("%s; %d of %d not shown to differ", text, len(all)-len(shown), len(all))
}

// bestHeadline is the server that is shown to gain more than every other one at the
// only point there is and over the same datasets; nil where there is none.
func bestHeadline(with []headline, axes []Column, least float64) *headline {
	best := 0
	for i, h := range with {
		if h.where(axes) != with[0].where(axes) || !slices.Equal(h.with, with[0].with) {
			return nil
		}
		if *h.speedup > *with[best].speedup {
			best = i
		}
	}
	for i, h := range with {
		if i != best && !differs(intervalOf(ratios(with[best].means, h.means)), least) {
			return nil
		}
	}
	return &with[best]
}

// ratios is a over b in every repeat that both have.
func ratios(a, b map[int]float64) map[int]float64 {
	out := map[int]float64{}
	for repeat, v := range a {
		if r := stat.Ratio(v, b[repeat]); r != nil {
			out[repeat] = *r
		}
	}
	return out
}

// fewRuns says where the gain has no interval.
func fewRuns(hs []headline) string {
	most := 0
	for _, h := range hs {
		if h.interval != nil {
			most = max(most, h.interval.N)
		}
	}
	each := ""
	if len(hs) > 1 {
		each = " each"
	}
	switch most {
	case 1:
		return "; one run" + each
	case 2:
		return "; two runs" + each
	default: // none: a mean over datasets that no repeat has in common
		return ""
	}
}
