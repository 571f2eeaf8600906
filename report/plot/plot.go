// Package plot draws numbers as SVG: points with intervals over a number, or over
// names. Colours follow the reader's light or dark mode and are told apart by the
// colour-blind; every series has a marker of its own beside its colour. A text from
// outside is escaped here, whatever it holds.
//
// It knows nothing of rows, computes no statistics and runs no script. What does not
// fit (series, names, long texts) is cut, and the chart says so.
package plot

import (
	"cmp"
	"math"
	"slices"
)

// Chart is one plot. Points with a coordinate that is not finite are left out.
type Chart struct {
	Title string
	// X and Y are the axes' titles: a column's name and, where it has one, its unit.
	X, Y string
	// LogX spaces X by its logarithm, as for a concurrency; it is ignored when an X is
	// not positive.
	LogX bool
	// Names makes X a list of names: a point's X is an index into it.
	Names []string
	// FromZero has the Y axis start at 0; else it starts near the least value.
	FromZero bool
	// Rule is a horizontal line to compare with, nil for none.
	Rule *Rule
	// Series are drawn in this order, at most MaxSeries.
	Series []Series
}

// Rule is a horizontal line and what it means.
type Rule struct {
	Y    float64
	Text string
}

// Series is the points of one name.
type Series struct {
	Name   string
	Points []Point
	// Dashed marks a series that others are compared with.
	Dashed bool
}

// Point is a value and, where it is known, its interval.
type Point struct {
	X, Y float64
	// Low and High bound the value, in the units of Y; both nil when nothing is known.
	Low, High *float64
}

// Limits of one chart.
const (
	MaxSeries = 8  // as many as there are colours and markers
	maxNames  = 14 // on the X axis
	maxPoints = 100
	maxText   = 44 // runes of a title or a name
)

// Empty tells whether there is nothing to draw.
func (c Chart) Empty() bool {
	return !slices.ContainsFunc(c.Series, func(s Series) bool { return len(s.drawn(c)) > 0 })
}

// drawn is the series' points that can be drawn, from left to right.
func (s Series) drawn(c Chart) []Point {
	var ps []Point
	for _, p := range s.Points {
		if !finite(p.X) || !finite(p.Y) || len(c.Names) > 0 && p.X >= maxNames {
			continue
		}
		if p.Low == nil || p.High == nil || !finite(*p.Low) || !finite(*p.High) {
			p.Low, p.High = nil, nil
		}
		ps = append(ps, p)
	}
	slices.SortStableFunc(ps, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	return ps[:min(len(ps), maxPoints)]
}

// line tells whether the points may be joined: they are in an order, and no two stand
// at one X.
func line(c Chart, ps []Point) bool {
	if len(c.Names) > 0 {
		return false
	}
	for i := range ps[1:] {
		if ps[i].X == ps[i+1].X {
			return false
		}
	}
	return true
}

// finite tells whether a number can be drawn; nothing that is measured comes near the
// limit, at which the arithmetic of an axis would overflow or lose its steps.
func finite(v float64) bool { return math.Abs(v) < 1e15 }
