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
	speedup *float64
	with    []string // datasets in the mean
	without []string // datasets that have no speedup
	other   []string // datasets whose baseline is of another engine
	doubt   bool     // a footnote stands at one of the speedups in the mean
}

// headlines are the points' gains, never across concurrencies.
func headlines(points []Point) []headline {
	speedup := column("speedup")
	var hs []headline
	for _, p := range points {
		h := headline{Point: p}
		var vs []float64
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
			}
		}
		h.speedup = stat.GeoMean(vs)
		hs = append(hs, h)
	}
	return hs
}

// title is the plan's name and what it gained.
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
	switch len(with) {
	case 0:
		return name
	case 1:
		h := with[0]
		over := h.over("geometric mean")
		if left := append(slices.Clone(h.without), h.other...); len(left) > 0 {
			over += "; without " + listOf(left, 4)
		}
		return fmt.Sprintf("%s: %s %sx over no speculation (%s; %s%s)",
			name, Clean(h.Server, maxText), formatNumber(*h.speedup, 2), over, h.where(axes), seeFootnotes(with))
	}
	var vs []float64
	var servers, points []string
	for _, h := range with {
		vs = append(vs, *h.speedup)
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
	low, high, _ := stat.Range(vs)
	at := count(len(points), "point") + " of the axes"
	if !strings.Contains(points[0], ",") { // the concurrency alone
		for i := range points[1:] {
			points[i+1] = strings.TrimPrefix(points[i+1], "concurrency ")
		}
		at = listOf(points, 6)
	}
	return fmt.Sprintf("%s: %sx to %sx over no speculation (%s; %s; %s%s)",
		name, formatNumber(low, 2), formatNumber(high, 2), over, count(len(servers), "server"), at, seeFootnotes(with))
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

// headlineGrid is one line a point, when there is more than one with a gain over
// more than one dataset.
func headlineGrid(hs []headline, axes []Column) Grid {
	g := Grid{Title: "Speedup over datasets: geometric mean, per concurrency", Brief: true}
	useful := false
	for _, h := range hs {
		headers, cells := h.axisCells(axes)
		g.Columns = append(headers, Header{"speedup_geomean", true}, Header{"datasets", false}, Header{"left_out", false})
		left := slices.Clone(h.without)
		for _, name := range h.other {
			left = append(left, name+" (baseline of another engine)")
		}
		g.Lines = append(g.Lines, append(cells, Cell{Text: format(h.speedup, 3)},
			Cell{Text: orNone(listOf(h.with, 20))}, Cell{Text: orNone(listOf(left, 20))}))
		useful = useful || len(h.with) > 1
	}
	if !useful || len(hs) < 2 {
		return Grid{}
	}
	return g
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
