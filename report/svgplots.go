package report

import (
	"fmt"
	"slices"

	"github.com/specsweep/specsweep/report/plot"
	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// Limits of the plots, so that a report of a thousand runs can still be read.
const (
	maxFacets   = 6  // plots of one kind
	maxPlotName = 40 // runes of a server's or dataset's name
)

// plotGroup is the plots of one kind: what they show and what was left out.
type plotGroup struct {
	title  string
	charts []plot.Chart
	notes  []string
}

// plots is every plot that the rows have numbers for.
func plots(s Set) []plotGroup {
	cells := table.Cells(s.Rows)
	x := axesOf(cells)
	groups := []plotGroup{x.overConcurrency("speedup"), x.overConcurrency("output_throughput_tok_s")}
	if x.concurrencies == 1 {
		groups = []plotGroup{x.overDatasets("speedup"), x.overDatasets("output_throughput_tok_s")}
	}
	groups = append(groups, x.overDatasets("accept_length"))
	for _, label := range x.labels() {
		groups = append(groups, x.overLabel(label, "accept_length"), x.overLabel(label, "speedup"))
	}
	groups = append(groups, x.byPosition())
	return slices.DeleteFunc(groups, func(g plotGroup) bool { return len(g.charts) == 0 })
}

// axes is the cells and what differs between them.
type axes struct {
	cells             []table.CellRows
	servers, datasets []string
	concurrencies     int
	// Axes with one value are not worth a word in a title.
	tokens, temperatures, prompts, rates bool
}

func axesOf(cells []table.CellRows) axes {
	x := axes{cells: cells}
	concurrencies := map[int]bool{}
	var tokens, temperatures, rates, prompts varies
	for _, c := range cells {
		x.servers = addName(x.servers, c.Server)
		x.datasets = addName(x.datasets, c.Dataset)
		concurrencies[c.Concurrency] = true
		tokens.see(c.Dataset, fmt.Sprint(c.MaxNewTokens))
		temperatures.see(c.Dataset, fmt.Sprint(c.Temperature))
		rates.see(c.Dataset, rateText(c))
		// Ten prompts per slot is no axis of its own.
		prompts.see(fmt.Sprint(c.Concurrency, " ", c.Dataset), fmt.Sprint(c.PromptsAsked))
	}
	x.concurrencies = len(concurrencies)
	x.tokens, x.temperatures, x.rates, x.prompts = tokens.found, temperatures.found, rates.found, prompts.found
	return x
}

// varies finds out whether an axis has two values at one place. That every dataset has
// its own does not count.
type varies struct {
	first map[string]string
	found bool
}

func (v *varies) see(place, value string) {
	if v.first == nil {
		v.first = map[string]string{}
	}
	if first, ok := v.first[place]; ok {
		v.found = v.found || first != value
		return
	}
	v.first[place] = value
}

func addName(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

func rateText(c table.CellRows) string {
	if c.RequestRate == nil {
		return "inf"
	}
	return fmt.Sprintf("%g", *c.RequestRate)
}

// where is the cell's place on the axes other than server, dataset and concurrency,
// as the end of a title.
func (x axes) where(c table.CellRows) string {
	var s string
	if x.tokens {
		s += fmt.Sprintf(", max_new_tokens %d", c.MaxNewTokens)
	}
	if x.temperatures {
		s += fmt.Sprintf(", temperature %g", c.Temperature)
	}
	if x.prompts {
		s += fmt.Sprintf(", prompts_asked %d", c.PromptsAsked)
	}
	if x.rates {
		s += ", request_rate " + rateText(c)
	}
	return s
}

// facet is the cells of one plot.
type facet struct {
	title string
	cells []table.CellRows
}

// facets groups the cells by the title of their plot, in order.
func (x axes) facets(title func(table.CellRows) string) []facet {
	var fs []facet
	at := map[string]int{}
	for _, c := range x.cells {
		t := title(c)
		i, ok := at[t]
		if !ok {
			i = len(fs)
			at[t] = i
			fs = append(fs, facet{title: t})
		}
		fs[i].cells = append(fs[i].cells, c)
	}
	return fs
}

// group makes a chart of each facet, as many as a report can hold.
func group(title string, fs []facet, chart func(facet) plot.Chart) plotGroup {
	g := plotGroup{title: title}
	var left []string
	for _, f := range fs {
		c := chart(f)
		switch {
		case c.Empty():
		case len(g.charts) < maxFacets:
			g.charts = append(g.charts, c)
		default:
			left = append(left, f.title)
		}
	}
	if n := len(left); n > 0 {
		shown := left[:min(n, 3)]
		text := fmt.Sprintf("%s: %d more plots left out: ", title, n)
		for i, name := range shown {
			if i > 0 {
				text += "; "
			}
			text += name
		}
		if n > len(shown) {
			text += fmt.Sprintf(" and %d more", n-len(shown))
		}
		g.notes = append(g.notes, text)
	}
	return g
}

// plotName is a text from outside as it stands in a plot.
func plotName(s string) string {
	if s = table.Clean(s, maxPlotName); s == "" {
		return table.NotAvailable
	}
	return s
}

// okValues is a value of the cell's repeats without an error, where they have it.
func okValues(c table.CellRows, get func(*result.Row) *float64) []float64 {
	var vs []float64
	for _, r := range c.OK() {
		if v := get(r); v != nil {
			vs = append(vs, *v)
		}
	}
	return vs
}
