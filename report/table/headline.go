package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/report/stat"
)

// headline is the gain of one server at one point of the axes: the geometric mean
// of the datasets' speedups.
type headline struct {
	Point
	speedup  *float64        // nil: none
	interval *stat.Interval  // of speedup, over the repeats that every dataset has; nil: none does
	means    map[int]float64 // by repeat, what speedup is the mean of
	with     []string        // datasets in the mean
	without  []string        // datasets that have no speedup
	other    []string        // datasets whose baseline is of another engine
	doubt    bool            // a footnote stands at one of the speedups in the mean
}

// headlines are the points' gains, never across concurrencies.
func headlines(points []Point) []headline {
	speedup := column("speedup")
	var hs []headline
	for _, p := range points {
		h := headline{Point: p}
		var vs []float64
		var in []line
		for _, l := range lines(p.Rows) {
			name := Clean(l.rows[0].Dataset, maxText)
			v := l.value(speedup)
			switch {
			case v == nil || len(l.ok) == 0:
				h.without = append(h.without, name)
			case l.otherEngine():
				h.other = append(h.other, name)
			default:
				h.with = append(h.with, name)
				h.doubt = h.doubt || len(l.notes("speedup")) > 0
				vs = append(vs, *v)
				in = append(in, l)
			}
		}
		h.speedup = stat.GeoMean(vs)
		h.means = overDatasets(in)
		if h.interval = intervalOf(h.means); h.interval != nil {
			h.speedup = &h.interval.Estimate
		}
		hs = append(hs, h)
	}
	return hs
}

// doubtful stands behind a mean of values of which some carry a footnote.
const doubtful = "†"

// incomplete stands behind a mean that is not over all datasets of its point, so
// that it is not read as one over the same.
const incomplete = "‡"

// text is the speedup as tables show it.
func (h headline) text(least float64) string {
	text := format(h.speedup, 3)
	if h.interval != nil {
		text = ratioText(h.interval, 3, least)
	}
	if h.doubt && text != NotAvailable {
		text += " " + doubtful
	}
	if text != NotAvailable && len(h.without)+len(h.other) > 0 {
		text += " " + incomplete
	}
	return text
}

// over is what the mean is taken over; of one dataset there is none.
func (h headline) over(mean string) string {
	if len(h.with) == 1 {
		return h.with[0]
	}
	return mean + " of " + listOf(h.with, 4)
}

// seeFootnotes keeps a doubt about a speedup beside the number made of it.
func seeFootnotes(hs []headline) string {
	if slices.ContainsFunc(hs, func(h headline) bool { return h.doubt }) {
		return "; see the footnotes"
	}
	return ""
}

// where is the point in words: concurrency 8, max_new_tokens 256.
func (h headline) where(axes []Column) string {
	headers, cells := h.axisCells(axes)
	var parts []string
	for i, c := range cells {
		if name := headers[i].Name; name != "server" && name != "engine" && name != "model" {
			parts = append(parts, name+" "+c.Text)
		}
	}
	return strings.Join(parts, ", ")
}

// listOf joins names; what goes beyond limit is counted.
func listOf(names []string, limit int) string {
	if len(names) > limit {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
	}
	return strings.Join(names, ", ")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// count is n and the noun in the right number.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
