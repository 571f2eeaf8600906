package plot

import (
	"fmt"
	"strings"
)

// draw is the chart's elements and its height; "" when there is no point.
func (c Chart) draw() (string, int) {
	if c.Empty() {
		return "", 0
	}
	c, more := c.capped()
	var b strings.Builder
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(c.Title))
	top := float64(plotTop)
	for i, l := range wrap(c.Title, 62) {
		label(&b, "title", "start", 8, float64(18+i*17), l)
		top = float64(plotTop + i*17)
	}
	bottom := top + plotHeight
	x, y := xAxis(c, plotLeft, plotRight), yAxis(c, bottom, top)
	below := c.drawAxes(&b, x, y)
	for i, s := range c.Series {
		c.drawSeries(&b, i, s, x, y)
	}
	below = c.drawLegend(&b, below)
	for _, note := range c.cut(more, y) {
		label(&b, "dim", "start", 8, below, note)
		below += legendLine
	}
	return b.String(), int(below)
}

// capped is the chart with as many series as it can hold, and how many more have
// points. Series without points keep their place, and so their colour, while all fit.
func (c Chart) capped() (Chart, int) {
	if len(c.Series) <= MaxSeries {
		return c, 0
	}
	var full []Series
	for _, s := range c.Series {
		if len(s.drawn(c)) > 0 {
			full = append(full, s)
		}
	}
	n := min(MaxSeries, len(full))
	c.Series = full[:n]
	return c, len(full) - n
}

// cut is what the chart leaves out.
func (c Chart) cut(series int, y axis) []string {
	var notes []string
	open, points := false, false
	for _, s := range c.Series {
		points = points || len(s.Points) > maxPoints
		for _, p := range s.drawn(c) {
			open = open || p.Low != nil && (!y.holds(*p.Low) || !y.holds(*p.High))
		}
	}
	if open {
		notes = append(notes, "a bar without an end goes on beyond the plot")
	}
	if points {
		notes = append(notes, fmt.Sprintf("left out: points of a series after the first %d", maxPoints))
	}
	if series > 0 {
		notes = append(notes, fmt.Sprintf("left out: %d more series", series))
	}
	if n := len(c.Names) - maxNames; n > 0 {
		notes = append(notes, fmt.Sprintf("left out: %d more of %s", n, c.X))
	}
	return notes
}

// drawAxes draws grid, ticks, titles and rule, and tells where the legend may start.
func (c Chart) drawAxes(b *strings.Builder, x, y axis) float64 {
	for _, v := range y.ticks {
		segment(b, "grid", plotLeft, y.at(v), plotRight, y.at(v))
		label(b, "tick", "end", plotLeft-6, y.at(v)+4, number(v))
	}
	fmt.Fprintf(b, "<text text-anchor=\"middle\" transform=\"translate(14 %.1f) rotate(-90)\">%s</text>\n", (y.from+y.to)/2, escape(short(c.Y, 34)))
	segment(b, "axis", plotLeft, y.from, plotRight, y.from)
	below := y.from + 18
	for i, v := range x.ticks {
		segment(b, "axis", x.at(v), y.from, x.at(v), y.from+4)
		text, drop := number(v), 0.0
		if len(c.Names) > 0 {
			text = c.Names[i]
			slot := (plotRight - plotLeft) / float64(len(x.ticks))
			if c.crowded(len(x.ticks)) {
				drop = float64(i%3) * 14 // three rows, so that names have room
				slot *= 3
			}
			text = short(text, max(3, int(slot/7)))
		}
		label(b, "tick", "middle", clamp(x.at(v), textWidth(text)/2+2, width-textWidth(text)/2-2), below+drop, text)
	}
	if c.crowded(len(x.ticks)) {
		below += 28
	}
	below += 20
	label(b, "", "middle", (plotLeft+plotRight)/2, below, short(c.X, maxText))
	if c.Rule != nil {
		segment(b, "rule", plotLeft, y.at(c.Rule.Y), plotRight, y.at(c.Rule.Y))
	}
	return below + 24
}

// crowded tells whether the names on the X axis need more than one row.
func (c Chart) crowded(n int) bool {
	for _, name := range c.Names {
		if textWidth(name) > (plotRight-plotLeft)/float64(n)-4 {
			return true
		}
	}
	return false
}

// drawSeries draws intervals, then the line, then markers. Series stand a little apart,
// so that their intervals do not hide each other.
func (c Chart) drawSeries(b *strings.Builder, i int, s Series, x, y axis) {
	ps := s.drawn(c)
	if len(ps) == 0 {
		return
	}
	apart := 4.0
	if len(c.Names) > 0 {
		apart = min(14, (plotRight-plotLeft)/float64(len(x.ticks))*0.7/float64(len(c.Series)))
	}
	shift := (float64(i) - float64(len(c.Series)-1)/2) * apart
	at := func(p Point) float64 { return x.at(p.X) + shift }
	fmt.Fprintf(b, "<g class=\"series\" aria-label=\"%s\">\n", escape(s.Name))
	for _, p := range ps {
		if p.Low == nil || *p.Low == *p.High {
			continue
		}
		class := fmt.Sprintf("bar s%d", i)
		segment(b, class, at(p), y.at(clamp(*p.Low, y.low, y.high)), at(p), y.at(clamp(*p.High, y.low, y.high)))
		for _, end := range []float64{*p.Low, *p.High} {
			if y.holds(end) {
				segment(b, class, at(p)-4, y.at(end), at(p)+4, y.at(end))
			}
		}
	}
	if line(c, ps) && len(ps) > 1 {
		var points []string
		for _, p := range ps {
			points = append(points, fmt.Sprintf("%.1f,%.1f", at(p), y.at(p.Y)))
		}
		dashed := ""
		if s.Dashed {
			dashed = " dashed"
		}
		fmt.Fprintf(b, "<polyline class=\"line s%d%s\" points=\"%s\"/>\n", i, dashed, strings.Join(points, " "))
	}
	for _, p := range ps {
		text := number(p.Y)
		if p.Low != nil {
			text += fmt.Sprintf(" (%s to %s)", number(*p.Low), number(*p.High))
		}
		marker(b, i, at(p), y.at(p.Y), fmt.Sprintf("%s: %s", s.Name, text))
	}
	b.WriteString("</g>\n")
}

// drawLegend draws markers and names in as many rows as they need.
func (c Chart) drawLegend(b *strings.Builder, y float64) float64 {
	x := 16.0
	for i, s := range c.Series {
		if len(s.drawn(c)) == 0 {
			continue
		}
		name := short(s.Name, maxText)
		if need := 30 + textWidth(name); x > 16 && x+need > width {
			x, y = 16, y+legendLine
		}
		marker(b, i, x, y-4, "")
		label(b, "legend", "start", x+11, y, name)
		x += 30 + textWidth(name)
	}
	if c.Rule != nil {
		name := short(c.Rule.Text, maxText)
		if x > 16 && x+40+textWidth(name) > width {
			x, y = 16, y+legendLine
		}
		segment(b, "rule", x-6, y-4, x+14, y-4)
		label(b, "legend", "start", x+20, y, name)
	}
	return y + legendLine
}
