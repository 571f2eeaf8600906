package table

import (
	"fmt"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// positionGrid is the share of drafts that each position was accepted in, for
// the cells where the engine tells.
func positionGrid(ls []line, axes []Column) Grid {
	positions := 0
	for _, l := range ls {
		for _, r := range l.ok {
			positions = max(positions, len(r.PerPosition))
		}
	}
	if positions == 0 {
		return Grid{}
	}
	g := Grid{Title: "Acceptance by draft position: accepted / drafts", Brief: true}
	for _, c := range axes {
		g.Columns = append(g.Columns, c.header())
	}
	for i := range positions {
		g.Columns = append(g.Columns, Header{fmt.Sprint("position ", i+1), true})
	}
	for _, l := range ls {
		cells, found := l.identity(axes), false
		for i := range positions {
			v := l.position(i)
			found = found || v != nil
			cells = append(cells, Cell{Text: format(v, 3)})
		}
		if found {
			g.Lines = append(g.Lines, cells)
		}
	}
	return g
}

// position is position i of the cell: its repeats' mean, weighted by their drafts
// where all are known.
func (l line) position(i int) *float64 {
	var vs []*float64
	var drafts, ones []float64
	for _, r := range l.ok {
		if i >= len(r.PerPosition) {
			continue
		}
		vs = append(vs, &r.PerPosition[i])
		ones = append(ones, 1)
		if r.NumDrafts != nil {
			drafts = append(drafts, float64(*r.NumDrafts))
		}
	}
	if len(drafts) < len(vs) {
		drafts = ones
	}
	return stat.WeightedMean(vs, drafts)
}

// repeatGrid is one line a run, so that no mean hides its parts; empty when every
// cell is a single run.
func repeatGrid(ls []line, rows []*result.Row, axes []Column) Grid {
	g := Grid{Title: "Every repeat"}
	cols := append(append([]Column{}, axes...), column("repeat"))
	cols = append(cols, measured(rows)...)
	for _, c := range cols {
		g.Columns = append(g.Columns, c.header())
	}
	several := false
	for _, l := range ls {
		several = several || len(l.rows) > 1
		for _, r := range l.rows {
			one := line{rows: []*result.Row{r}}
			g.Lines = append(g.Lines, one.identity(cols))
		}
	}
	if !several {
		return Grid{}
	}
	return g
}

// identity is the line's cells of the columns without marks.
func (l line) identity(cols []Column) []Cell {
	var cells []Cell
	for _, c := range cols {
		cells = append(cells, Cell{Text: l.text(c)})
	}
	return cells
}
