package report

import (
	"io"

	"github.com/specsweep/specsweep/report/plot"
)

// svgFormat is the plots of report.html alone, below each other in one document.
func svgFormat() Format {
	return Format{Name: "svg", Ext: ".svg", Write: func(w io.Writer, s Set) error {
		var charts []plot.Chart
		var notes []string
		for _, g := range plots(s) {
			charts = append(charts, g.charts...)
			notes = append(notes, g.notes...)
		}
		return plot.Write(w, charts, notes)
	}}
}
