package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// element is an XML element with what a test looks at.
type element struct {
	name, text string
	attr       map[string]string
}

// parse reads the SVG as XML, which fails on whatever is not escaped.
func parse(t *testing.T, svg string) []element {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(svg))
	var all []element
	var open []int
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch x := token.(type) {
		case xml.StartElement:
			e := element{name: x.Name.Local, attr: map[string]string{}}
			for _, a := range x.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			open = append(open, len(all))
			all = append(all, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				all[open[len(open)-1]].text += string(x)
			}
		}
	}
}

// texts is the texts of every element of that name and class.
func texts(es []element, name, class string) []string {
	var out []string
	for _, e := range es {
		if e.name == name && e.attr["class"] == class {
			out = append(out, e.text)
		}
	}
	return out
}

func pixel(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// scale is value as a function of the pixel, from the Y axis' own ticks: their texts and
// the grid lines beside them.
func scale(t *testing.T, es []element) func(y float64) float64 {
	t.Helper()
	var values, ys []float64
	for i, e := range es {
		if e.name == "line" && e.attr["class"] == "grid" {
			ys = append(ys, pixel(t, e.attr["y1"]))
			values = append(values, pixel(t, es[i+1].text))
		}
	}
	if len(ys) < 3 {
		t.Fatalf("%d ticks on the Y axis", len(ys))
	}
	last := len(ys) - 1
	return func(y float64) float64 {
		return values[0] + (y-ys[0])/(ys[last]-ys[0])*(values[last]-values[0])
	}
}

func ptr(v float64) *float64 { return &v }

func speedups() Chart {
	return Chart{
		Title: "speedup: gsm8k", X: "concurrency", Y: "speedup", LogX: true, Rule: &Rule{1, "1: no speculation"},
		Series: []Series{
			{Name: "a", Points: []Point{{X: 32, Y: 0.9}, {X: 1, Y: 2.1, Low: ptr(1.9), High: ptr(2.3)}, {X: 8, Y: 1.7}}},
			{Name: "b", Points: []Point{{X: 1, Y: 1.5}, {X: 8, Y: math.NaN()}, {X: 32, Y: 1.1}}},
		},
	}
}

// TestPointsStandAtTheirValues reads the pixels back into values.
func TestPointsStandAtTheirValues(t *testing.T) {
	es := parse(t, speedups().Inline())
	value := scale(t, es)
	near := func(what string, y, want float64) {
		t.Helper()
		if got := value(y); math.Abs(got-want) > 0.01 {
			t.Errorf("%s stands at %.3f, want %.3f", what, got, want)
		}
	}
	lines := map[string][]string{}
	for _, e := range es {
		if e.name == "polyline" {
			lines[e.attr["class"]] = strings.Fields(e.attr["points"])
		}
		if e.name == "line" && e.attr["class"] == "rule" && pixel(t, e.attr["x1"]) == plotLeft {
			near("the rule", pixel(t, e.attr["y1"]), 1)
		}
		if e.name == "line" && e.attr["class"] == "bar s0" && e.attr["x1"] == e.attr["x2"] {
			near("the interval's low end", pixel(t, e.attr["y1"]), 1.9)
			near("the interval's high end", pixel(t, e.attr["y2"]), 2.3)
		}
	}
	for class, want := range map[string][]float64{"line s0": {2.1, 1.7, 0.9}, "line s1": {1.5, 1.1}} {
		if len(lines[class]) != len(want) {
			t.Fatalf("%s has points %q, want %d of them", class, lines[class], len(want))
		}
		last := 0.0
		for i, p := range lines[class] {
			x, y, _ := strings.Cut(p, ",")
			near(class, pixel(t, y), want[i])
			if got := pixel(t, x); got <= last {
				t.Errorf("%s goes back to x = %g", class, got)
			} else {
				last = got
			}
		}
	}
}

func TestTicksAndTitles(t *testing.T) {
	es := parse(t, speedups().Inline())
	ticks := strings.Join(texts(es, "text", "tick"), " ")
	if want := "0.5 1 1.5 2 2.5 1 8 32"; ticks != want {
		t.Errorf("ticks %q, want %q", ticks, want)
	}
	if got := strings.Join(texts(es, "text", "legend"), "|"); got != "a|b|1: no speculation" {
		t.Errorf("legend %q", got)
	}
	all := strings.Join(texts(es, "text", ""), "|")
	for _, want := range []string{"speedup", "concurrency"} {
		if !strings.Contains(all, want) {
			t.Errorf("no axis is called %s in %q", want, all)
		}
	}
}

// TestLinesOnlyWhereThereIsAnOrder has no line between names or through two points at
// one place.
func TestLinesOnlyWhereThereIsAnOrder(t *testing.T) {
	twice := Series{Name: "a", Points: []Point{{X: 1, Y: 1}, {X: 1, Y: 2}, {X: 2, Y: 2}}}
	for _, tt := range []struct {
		name  string
		chart Chart
		lines int
	}{
		{"over a number", speedups(), 2},
		{"over names", Chart{Names: []string{"x", "y", "z"}, Series: twice.over(0, 1)}, 0},
		{"two at one place", Chart{Series: []Series{twice}}, 0},
		{"one point", Chart{Series: []Series{{Points: []Point{{X: 3, Y: 4}}}}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Count(tt.chart.Inline(), "<polyline"); got != tt.lines {
				t.Errorf("%d lines, want %d", got, tt.lines)
			}
		})
	}
}

// over is the series with its points at those places.
func (s Series) over(xs ...float64) []Series {
	s.Points = nil
	for _, x := range xs {
		s.Points = append(s.Points, Point{X: x, Y: x + 1})
	}
	return []Series{s}
}

func TestOddTextsAreEscaped(t *testing.T) {
	for _, text := range []string{`<script>alert(1)</script>`, `"quoted" & 'so'`, "]]>", "\x1b[31m\x00", "日本語モデル", "\xff\xfe", "&lt;b&gt;"} {
		c := Chart{Title: text, X: text, Y: text, Names: []string{text}, Rule: &Rule{1, text}, Series: []Series{{Name: text, Points: []Point{{Y: 2}}}}}
		es := parse(t, c.Inline())
		for _, e := range es {
			switch e.name {
			case "svg", "g", "text", "title", "line", "path":
			default:
				t.Errorf("%q makes an element %s", text, e.name)
			}
		}
		want := strings.ToValidUTF8(strings.NewReplacer("\x1b", "\ufffd", "\x00", "\ufffd").Replace(text), "\ufffd")
		got := texts(es, "text", "legend")[0]
		if got != want && !strings.Contains(text, "\xff") {
			t.Errorf("the legend says %q, want %q", got, want)
		}
	}
}

// TestWhatDoesNotFit has too much of everything.
func TestWhatDoesNotFit(t *testing.T) {
	c := Chart{Title: strings.Repeat("long ", 40), X: "dataset", Y: "speedup"}
	for i := range 20 {
		c.Names = append(c.Names, fmt.Sprintf("dataset-number-%d", i))
	}
	for i := range 11 {
		c.Series = append(c.Series, Series{Name: fmt.Sprint("server ", i)}.over(0, 1, 2, 19)[0])
	}
	es := parse(t, c.Inline())
	notes := strings.Join(texts(es, "text", "dim"), "|")
	if notes != "left out: 3 more series|left out: 6 more of dataset" {
		t.Errorf("the chart says %q", notes)
	}
	for _, e := range es {
		if x, ok := e.attr["x"]; ok && (pixel(t, x) < 0 || pixel(t, x) > width) {
			t.Errorf("%q stands outside at x = %s", e.text, x)
		}
	}
	far := Chart{Series: []Series{{Name: "a", Points: []Point{{X: 1, Y: 1, Low: ptr(0.9), High: ptr(1000)}, {X: 2, Y: 2}}}}}
	if got := far.Inline(); !strings.Contains(got, "goes on beyond the plot") || strings.Contains(got, ">1000</text>") {
		t.Errorf("an interval far away squeezes the values:\n%s", got)
	}
	long := Series{Name: "a"}
	for i := range 3 * maxPoints {
		long.Points = append(long.Points, Point{X: float64(i), Y: 1})
	}
	if got := (Chart{Series: []Series{long}}).Inline(); strings.Count(got, "<path") != maxPoints+1 || !strings.Contains(got, "after the first 100") {
		t.Errorf("%d markers of %d points", strings.Count(got, "<path"), len(long.Points))
	}
}

func TestNothingToDraw(t *testing.T) {
	c := Chart{Title: "x", Series: []Series{{Name: "a", Points: []Point{{X: 1, Y: math.Inf(1)}}}}}
	if got := c.Inline(); got != "" || !c.Empty() {
		t.Errorf("a chart without a point draws %q", got)
	}
	var b bytes.Buffer
	if err := Write(&b, []Chart{c}, nil); err != nil {
		t.Fatal(err)
	}
	if got := texts(parse(t, b.String()), "text", "dim"); len(got) != 1 || got[0] != "nothing to plot" {
		t.Errorf("the document says %q", got)
	}
}

// FuzzInline draws whatever numbers and names there are.
func FuzzInline(f *testing.F) {
	f.Add("a", 1.0, 2.0, 0.5, 3.0, true)
	f.Add("<&>\x00", 0.0, -1e300, 1e300, 0.0, false)
	f.Add("one place", 0.3, 1.0, 1.0, 0.3, true)
	f.Add("", 1e-300, 5e-324, 1e-310, 2.0, true)
	f.Fuzz(func(t *testing.T, name string, x, y, low, high float64, log bool) {
		c := Chart{Title: name, X: name, Y: name, LogX: log, Series: []Series{{Name: name, Points: []Point{
			{X: x, Y: y, Low: &low, High: &high}, {X: high, Y: low},
		}}}}
		svg := c.Inline()
		if svg == "" {
			return
		}
		for _, e := range parse(t, svg) {
			for key, v := range e.attr {
				if key != "aria-label" && (strings.Contains(v, "NaN") || strings.Contains(v, "Inf")) {
					t.Errorf("%s of %s is %s", key, e.name, v)
				}
			}
		}
	})
}
