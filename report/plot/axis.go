package plot

import (
	"math"
	"slices"
	"strconv"
)

// axis maps values to pixels: Low to From, High to To.
type axis struct {
	low, high float64
	from, to  float64
	log       bool
	ticks     []float64
}

// at is the pixel of a value.
func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if low == high { // two numbers that differ in their last bit
		return (a.from + a.to) / 2
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// holds tells whether a value lies on the axis.
func (a axis) holds(v float64) bool { return v >= a.low-1e-9 && v <= a.high+1e-9 }

// yAxis holds every value and the rule, and ends on ticks. It holds intervals too, as
// far as they leave the values at least a third of its length.
func yAxis(c Chart, from, to float64) axis {
	var vs, ends []float64
	for _, s := range c.Series {
		for _, p := range s.drawn(c) {
			vs = append(vs, p.Y)
			if p.Low != nil {
				ends = append(ends, *p.Low, *p.High)
			}
		}
	}
	if c.Rule != nil {
		vs = append(vs, c.Rule.Y)
	}
	if c.FromZero {
		vs = append(vs, 0)
	}
	low, high := slices.Min(vs), slices.Max(vs)
	span := max(high-low, math.Abs(high)/5)
	least, most := low-span, high+span
	for _, v := range ends {
		low, high = min(low, max(v, least)), max(high, min(v, most))
	}
	if high-low <= max(math.Abs(low), math.Abs(high), 1e-3)*1e-9 { // too near for steps between them
		pad := max(math.Abs(low)/10, 0.1)
		low, high = low-pad, high+pad
	}
	step := niceStep((high - low) / 4)
	a := axis{low: math.Floor(low/step) * step, high: math.Ceil(high/step) * step, from: from, to: to}
	for i := range int(math.Round((a.high-a.low)/step)) + 1 {
		a.ticks = append(a.ticks, a.low+float64(i)*step)
	}
	return a
}

// xAxis has its ticks where there are values, as long as their texts have room.
func xAxis(c Chart, from, to float64) axis {
	if n := min(len(c.Names), maxNames); n > 0 {
		a := axis{low: -0.5, high: float64(n) - 0.5, from: from, to: to}
		for i := range n {
			a.ticks = append(a.ticks, float64(i))
		}
		return a
	}
	var vs []float64
	for _, s := range c.Series {
		for _, p := range s.drawn(c) {
			vs = append(vs, p.X)
		}
	}
	slices.Sort(vs)
	vs = slices.Compact(vs)
	const inset = 14 // so that markers do not sit on the axis
	a := axis{low: vs[0], high: vs[len(vs)-1], from: from + inset, to: to - inset, log: c.LogX && vs[0] > 0}
	switch {
	case a.low < a.high:
	case a.log:
		a.low, a.high = a.low/2, a.high*2
	default:
		pad := max(math.Abs(a.low)/2, 0.5)
		a.low, a.high = a.low-pad, a.high+pad
	}
	last := math.Inf(-1)
	for i, v := range vs {
		half := textWidth(number(v)) / 2
		x := a.at(v)
		fits := x-half > last+4
		if i < len(vs)-1 && fits { // the greatest value always has its tick
			end := vs[len(vs)-1]
			fits = x+half+4 < a.at(end)-textWidth(number(end))/2
		}
		if fits || i == len(vs)-1 {
			a.ticks = append(a.ticks, v)
			last = x + half
		}
	}
	return a
}

// niceStep is the least of 1, 2, 5 × 10^n that is not below v.
func niceStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= v*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// number is a value at an axis: as short as it can be without losing digits that the
// steps of an axis have.
func number(v float64) string {
	if math.Abs(v) < 1e-12 {
		v = 0
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
