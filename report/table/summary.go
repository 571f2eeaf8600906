package table

import (
	"fmt"
	"slices"
	"strconv"
)

// maxSpeedups bounds the columns of the summary; a plan over more concurrencies has
// them line by line in another table.
const maxSpeedups = 8

// Names of grids that a renderer may look for.
const (
	GridSummary    = "summary"
	GridPerDataset = "per_dataset"
)

// summaryGrid is one line a server and point of the axes other than dataset and
// concurrency.
func summaryGrid(gs []group, hs []headline, ls []line, axes []Column, least float64) Grid {
	if len(ls) < 2 || !slices.ContainsFunc(ls, func(l line) bool { return len(l.ok) > 0 }) {
		return Grid{}
	}
	g := Grid{Name: GridSummary, Title: "Summary: speedup is the geometric mean over datasets", Brief: true}
	levels := concurrencies(hs)
	if len(levels) > maxSpeedups {
		levels = nil
	}
	for _, of := range gs {
		headers, cells := of.axisCells(axes)
		for _, c := range levels {
			headers = append(headers, Header{fmt.Sprintf("speedup c=%d", c), true})
			text := NotAvailable
			if h := of.at(c); h != nil {
				text = h.text(least)
			}
			cells = append(cells, Cell{Text: text})
		}
		rows := of.rows()
		ok, cellLines := 0, lines(rows)
		for _, l := range cellLines {
			if len(l.ok) == len(l.rows) {
				ok++
			}
		}
		g.Columns = append(headers, Header{"accept_length", true}, Header{"acceptance_rate", true}, Header{"cells_ok", true},
			Header{"worst_cell", false}, Header{"n", true})
		g.Lines = append(g.Lines, append(cells,
			Cell{Text: format(pooled("accept_length", rows), 3)}, Cell{Text: format(pooled("acceptance_rate", rows), 3)},
			Cell{Text: fmt.Sprintf("%d of %d", ok, len(cellLines))}, Cell{Text: worst(cellLines)}, Cell{Text: of.repeats()}))
	}
	return g
}

// worst is the cell with the lowest speedup: where a server pays least. Errors are
// not it; they have no value.
func worst(ls []line) string {
	speedup := column("speedup")
	at := -1
	for i, l := range ls {
		if v := l.value(speedup); v != nil && len(l.ok) > 0 && !l.otherEngine() && (at < 0 || *v < *ls[at].value(speedup)) {
			at = i
		}
	}
	if at < 0 {
		return NotAvailable
	}
	r := ls[at].rows[0]
	return fmt.Sprintf("%s c=%s: %s", orNotAvailable(Clean(r.Dataset, maxText)), strconv.Itoa(r.Concurrency), format(ls[at].value(speedup), 3))
}

func orNotAvailable(s string) string {
	if s == "" {
		return NotAvailable
	}
	return s
}
