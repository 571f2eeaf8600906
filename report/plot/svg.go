package plot

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The layout of a chart in its own units. It is narrow so that texts can still be read
// when a phone scales it down.
const (
	width      = 480
	plotLeft   = 76
	plotRight  = width - 14
	plotTop    = 40
	plotHeight = 200
	legendLine = 20
	gap        = 18 // between stacked charts
)

// Style is the CSS that the charts need, once a document.
func Style() string { return style }

const style = `.plot{--fg:#1b1f24;--dim:#59636e;--grid:#d9dee3;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b0569a;--c4:#b8860b;--c5:#2a9fd6;--c6:#7a5230;--c7:#59636e;
font:13px system-ui,sans-serif}
@media (prefers-color-scheme:dark){.plot{--fg:#e6edf3;--dim:#9da7b1;--grid:#3a424c;--c0:#58a6e8;--c1:#ff8f4d;--c2:#35c997;--c3:#e39ad0;--c4:#e8c14a;--c5:#8ed7ff;--c6:#c9a184;--c7:#9da7b1}}
.plot text{fill:var(--fg)}
.plot .title{font-weight:600}
.plot .dim,.plot .tick{fill:var(--dim)}
.plot .tick{font-size:12px}
.plot .grid{stroke:var(--grid)}
.plot .axis{stroke:var(--dim)}
.plot .rule{stroke:var(--fg);stroke-dasharray:2 3}
.plot .line{fill:none;stroke-width:2}
.plot .dashed{stroke-dasharray:6 4}
.plot .bar{stroke-width:1.5;opacity:.75}
.plot .s0{stroke:var(--c0)}.plot .s1{stroke:var(--c1)}.plot .s2{stroke:var(--c2)}.plot .s3{stroke:var(--c3)}.plot .s4{stroke:var(--c4)}.plot .s5{stroke:var(--c5)}.plot .s6{stroke:var(--c6)}.plot .s7{stroke:var(--c7)}
.plot .f0{fill:var(--c0)}.plot .f1{fill:var(--c1)}.plot .f2{fill:var(--c2)}.plot .f3{fill:var(--c3)}.plot .f4{fill:var(--c4)}.plot .f5{fill:var(--c5)}.plot .f6{fill:var(--c6)}.plot .f7{fill:var(--c7)}
`

// Write writes one SVG document with the charts below each other and then the notes,
// one a line. Charts without a point are left out.
func Write(w io.Writer, charts []Chart, notes []string) error {
	var body strings.Builder
	y := 0
	for _, c := range charts {
		text, height := c.draw()
		if text == "" {
			continue
		}
		fmt.Fprintf(&body, "<g transform=\"translate(0 %d)\">\n%s</g>\n", y, text)
		y += height + gap
	}
	if y == 0 {
		notes = append(notes, "nothing to plot")
	}
	for _, note := range notes {
		for _, l := range wrap(note, 70) {
			y += legendLine
			label(&body, "dim", "start", 8, float64(y), l)
		}
	}
	height := y + gap
	_, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n"+
		"<style>%s@media (prefers-color-scheme:dark){svg{background:#0d1117}}</style>\n%s</svg>\n",
		width, height, width*3/2, height*3/2, style, &body)
	return err
}

// Inline is one chart as an svg element for a page that holds Style; "" for a chart
// without a point.
func (c Chart) Inline() string {
	text, height := c.draw()
	if text == "" {
		return ""
	}
	return fmt.Sprintf("<svg class=\"plot\" viewBox=\"0 0 %d %d\" width=\"100%%\" role=\"img\" aria-label=\"%s\">\n%s</svg>",
		width, height, escape(c.Title), text)
}

// label writes a text element; x and y are where its anchor stands.
func label(b *strings.Builder, class, anchor string, x, y float64, text string) {
	fmt.Fprintf(b, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, anchor, x, y, escape(text))
}

func segment(b *strings.Builder, class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2, y2)
}

// escape makes a text safe within an element and within quotes; what XML cannot hold
// becomes U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder never fails
	return b.String()
}
