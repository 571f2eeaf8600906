package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/specsweep/specsweep/report/plot"
	"github.com/specsweep/specsweep/report/table"
)

// Limits of the page, so that a thousand runs do not make one that no phone opens.
const (
	maxMainLines   = 500
	maxDetailLines = 200
	longCell       = 60 // runes from which a cell may break its line
)

// page is the whole page: it loads nothing and runs no script.
//
//go:embed html.gohtml
var page string

// htmlFormat is tables and plots as one file that needs no network.
func htmlFormat() Format {
	return Format{Name: "html", Ext: ".html", Write: writeHTML}
}

// htmlPage is what the template fills in.
type htmlPage struct {
	Table       table.Table
	Best        string // what a marked cell means; empty: none is marked
	Style       template.CSS
	Main        htmlGrid
	Plots       []htmlPlots
	Details     []htmlGrid
	Environment []htmlGrid
}

// htmlPlots is the plots of one kind.
type htmlPlots struct {
	Title  string
	Charts []template.HTML
	Notes  []string
}

// htmlGrid is a grid with as many lines as the page takes.
type htmlGrid struct {
	Title   string
	Open    bool
	Columns []table.Header
	Lines   [][]htmlCell
	More    string // what was left out; empty: nothing
}

// htmlCell is a cell and its CSS classes.
type htmlCell struct {
	Text  string
	Marks []int
	Class string
}

func writeHTML(w io.Writer, s Set) error {
	t := s.table()
	p := htmlPage{Table: t, Style: template.CSS(plot.Style()), //nolint:gosec // a constant of ours
		Main: htmlGridOf(t.Main, maxMainLines)}
	if t.HasBest() {
		p.Best = t.BestText()
	}
	for _, g := range plots(s) {
		h := htmlPlots{Title: g.title, Notes: g.notes}
		for _, c := range g.charts {
			h.Charts = append(h.Charts, template.HTML(c.Inline())) //nolint:gosec // plot escapes what it writes
		}
		p.Plots = append(p.Plots, h)
	}
	for _, g := range t.Details {
		h := htmlGridOf(g, maxDetailLines)
		h.Open = g.Brief && len(g.Lines) <= 12
		p.Details = append(p.Details, h)
	}
	for _, g := range environment(s) {
		if len(g.Lines) > 0 {
			p.Environment = append(p.Environment, htmlGridOf(g, maxDetailLines))
		}
	}
	tmpl, err := template.New("report").Funcs(template.FuncMap{"inc": func(i int) int { return i + 1 }}).Parse(page)
	if err != nil {
		return fmt.Errorf("reading the page's template: %w", err)
	}
	return tmpl.Execute(w, p)
}

// htmlGridOf is the grid's first lines.
func htmlGridOf(g table.Grid, limit int) htmlGrid {
	h := htmlGrid{Title: g.Title, Columns: g.Columns}
	if n := len(g.Lines); n > limit {
		h.More = fmt.Sprintf("the first %d of %d lines; every run is in results.csv", limit, n)
		g.Lines = g.Lines[:limit]
	}
	for _, l := range g.Lines {
		cells := make([]htmlCell, len(l))
		for i, c := range l {
			var classes []string
			if g.Columns[i].Right {
				classes = append(classes, "right")
			}
			if c.Best {
				classes = append(classes, "best")
			}
			if utf8.RuneCountInString(c.Text) > longCell {
				classes = append(classes, "long")
			}
			cells[i] = htmlCell{c.Text, c.Marks, strings.Join(classes, " ")}
		}
		h.Lines = append(h.Lines, cells)
	}
	return h
}
