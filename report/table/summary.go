package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/specsweep/specsweep/runner/result"
)

// maxSpeedups bounds the columns of the summary; a plan over more concurrencies has
// them line by line in another table.
const maxSpeedups = 8

// Names of grids that a renderer may look for.
const (
	GridSummary    = "summary"
	GridSummaryAll = "summary_all" // of so many servers that the summary is cut
	GridBest       = "best"
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

// maxSummary is the lines of a summary that people read; of more servers it shows the
// best ones and some of those of which something is wrong.
const (
	maxSummary = 20
	maxOdd     = 10
)

// summaryGrids is the summary and, where that is cut, the whole one.
func summaryGrids(gs []group, hs []headline, ls []line, axes []Column, least float64) (summary, all Grid) {
	whole := summaryGrid(gs, hs, ls, axes, least)
	if len(whole.Lines) <= maxSummary {
		return whole, Grid{}
	}
	keep := summaryLines(gs)
	summary = whole
	summary.Lines = nil
	for i, l := range whole.Lines {
		if keep[i] {
			summary.Lines = append(summary.Lines, l)
		}
	}
	n := len(whole.Lines)
	summary.Title += fmt.Sprintf(": the best %d by the first one, and those with failures or footnotes; %d of %d lines left out", maxSummary, n-len(summary.Lines), n)
	if len(summary.Lines) == n {
		return whole, Grid{}
	}
	whole.Name, whole.Brief, whole.Title = GridSummaryAll, false, fmt.Sprintf("Summary of all %d", n)
	return summary, whole
}

// summaryLines is which lines a cut summary keeps: the highest speedups at the lowest
// concurrency that has any, and the first of those with failed cells or footnotes.
func summaryLines(gs []group) map[int]bool {
	order := make([]int, len(gs))
	first := make([]float64, len(gs))
	for i, g := range gs {
		order[i] = i
		for _, h := range g.hs {
			if h.speedup != nil {
				first[i] = *h.speedup
				break
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(first[b], first[a]) })
	keep := map[int]bool{}
	for _, i := range order[:min(maxSummary, len(order))] {
		keep[i] = true
	}
	odd := 0
	for _, i := range order {
		if odd < maxOdd && !keep[i] && gs[i].odd() {
			keep[i] = true
			odd++
		}
	}
	return keep
}

// odd tells whether a run of the group failed or its speedup carries a footnote.
func (g group) odd() bool {
	if slices.ContainsFunc(g.hs, func(h headline) bool { return h.doubt }) {
		return true
	}
	return slices.ContainsFunc(g.rows(), func(r *result.Row) bool { return !r.OK() })
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
