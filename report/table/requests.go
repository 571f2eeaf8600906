package table

import (
	"strconv"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// requestGrid is accept_length over single answers, for the cells where the engine
// tells. Repeats are averaged.
func requestGrid(ls []line, axes []Column, notes *footnotes) Grid {
	g := Grid{Title: "accept_length over requests: each answer counts once, however long"}
	for _, c := range axes {
		g.Columns = append(g.Columns, c.header())
	}
	values := []Column{
		column("accept_length_req_mean"), column("accept_length_req_p10"), column("accept_length_req_p50"), column("accept_length_req_p90"),
	}
	for _, c := range values {
		g.Columns = append(g.Columns, c.header())
	}
	for _, l := range ls {
		if len(l.ok) == 0 || l.value(values[0]) == nil {
			continue
		}
		cells := l.identity(axes)
		for _, c := range values {
			cells = append(cells, l.cell(c, notes))
		}
		g.Lines = append(g.Lines, cells)
	}
	if len(g.Lines) == 0 {
		return Grid{}
	}
	return g
}

// categoryGrid is accept_length by the prompts' category, weighted by verify steps
// as the cell's own is: 1 + Σ accepted / Σ drafts over its repeats.
func categoryGrid(ls []line, axes []Column) Grid {
	g := Grid{Title: "accept_length by category", Brief: true}
	for _, c := range axes {
		g.Columns = append(g.Columns, c.header())
	}
	g.Columns = append(g.Columns, Header{"category", false}, Header{"requests", true}, column("accept_length").header())
	for _, l := range ls {
		for _, c := range l.categories() {
			length := stat.Ratio(float64(c.Drafts+c.Accepted), float64(c.Drafts))
			g.Lines = append(g.Lines, append(l.identity(axes),
				Cell{Text: c.Name}, Cell{Text: strconv.Itoa(c.Requests)}, Cell{Text: format(length, 3)}))
		}
	}
	if len(g.Lines) == 0 {
		return Grid{}
	}
	return g
}

// categories is the sums over the cell's repeats, in the order of the first one.
func (l line) categories() []result.Category {
	var out []result.Category
	at := map[string]int{}
	for _, r := range l.ok {
		for _, c := range r.Categories {
			i, ok := at[c.Name]
			if !ok {
				i = len(out)
				at[c.Name] = i
				out = append(out, result.Category{Name: c.Name})
			}
			out[i].Requests += c.Requests
			out[i].Drafts += c.Drafts
			out[i].Accepted += c.Accepted
		}
	}
	return out
}
