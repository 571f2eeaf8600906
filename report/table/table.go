// Package table turns rows into tables as data: which columns, which value in
// each cell, what doubt stands beside it and what is best. Renderers only print.
//
// It computes nothing that would need more than the rows, calls nothing different or
// best without an interval over repeats that says so, never does so of acceptance,
// whose unit is the prompt, and escapes no markup; but text from outside is cleaned of
// control characters here, once for all formats.
package table

import (
	"math"
	"slices"
	"strconv"

	"github.com/specsweep/specsweep/runner/result"
)

// NotAvailable stands where there is no value. It is never 0, NaN or a blank.
const NotAvailable = "n/a"

// Table is what there is to say about a set of rows.
type Table struct {
	Title   string   // one line: the plan, and what it gained
	Caption []string // short facts that hold for all of it
	Main    Grid
	Notes   []string // footnotes of Main and, after them, of Details; a mark n in a cell is Notes[n-1]
	Remarks []string // how to read Main
	Details []Grid
	Best    string // what the mark of the best cell means; empty: BestRemark
}

// Grid is one table. Every line has as many cells as there are columns.
type Grid struct {
	Title   string // empty for Main
	Name    string // one of the Grid constants, or empty
	Brief   bool   // worth its place on a terminal too
	Columns []Header
	Lines   [][]Cell
}

// Header is a column's name, spelled as in every file, and its side.
type Header struct {
	Name  string
	Right bool
}

// Cell is one cell: the text without marks and emphasis.
type Cell struct {
	Text  string
	Marks []int // footnotes, ascending
	Best  bool  // the best of its block
}

// HasBest tells whether any cell is marked as the best.
func (g Grid) HasBest() bool {
	for _, l := range g.Lines {
		for _, c := range l {
			if c.Best {
				return true
			}
		}
	}
	return false
}

// HasBest tells whether any table marks a cell as the best.
func (t Table) HasBest() bool {
	return t.Main.HasBest() || slices.ContainsFunc(t.Details, Grid.HasBest)
}

// BestText is what the mark of the best cell means in this table.
func (t Table) BestText() string {
	if t.Best != "" {
		return t.Best
	}
	return BestRemark
}

// BestRemark is what the mark of the best cell means.
const BestRemark = "higher than every other of the cells that differ in their server only, by the 95 % interval of the ratio per repeat"

// Options is what a table should know beside the rows. The zero value is fine.
type Options struct {
	Plan   string         // its name; empty: the first row's
	Own    map[string]Own // by dataset; see Points
	Runs   int            // how many were asked for; 0: not known
	Cells  int            // how many cells were asked for; 0: not known
	Status string         // of the sweep, as the manifest has it
	// MinEffect is the smallest relative difference that is worth a verdict.
	MinEffect float64
}

// Build makes the table of the rows, in the order of their run_index. It never
// fails: no rows give a grid without lines.
func Build(rows []result.Row, o Options) Table {
	refs := make([]*result.Row, len(rows))
	for i := range rows {
		refs[i] = &rows[i]
	}
	if o.Plan == "" && len(rows) > 0 {
		o.Plan = rows[0].Plan
	}
	ls := lines(refs)
	for i := range ls {
		ls[i].least = o.MinEffect
	}
	axes := varying(refs)
	hs := headlines(Points(refs, o.Own))
	t := Table{Title: title(o, hs, axes), Caption: caption(refs, ls, o)}
	var notes footnotes
	t.Main = mainGrid(ls, refs, axes, &notes)
	t.Remarks = remarks(ls, hs, axes, o.MinEffect)
	gs := groups(hs)
	summary, all := summaryGrids(gs, hs, ls, axes, o.MinEffect)
	grids := []Grid{
		summary, bestGrid(ls, axes), all, datasetGrid(ls, axes, &notes), crossoverGrid(gs, axes, o.MinEffect), headlineGrid(hs, axes, o.MinEffect),
	}
	grids = append(grids, labelGrids(hs, axes, o.MinEffect)...)
	grids = append(grids, latencyGrid(ls, axes, &notes), aggregateGrid(Points(refs, o.Own), axes), positionGrid(ls, axes), requestGrid(ls, axes, &notes),
		categoryGrid(ls, axes), repeatGrid(ls, refs, axes))
	t.Notes = notes.texts
	for _, g := range grids {
		if len(g.Lines) > 0 {
			t.Details = append(t.Details, g)
		}
	}
	return t
}

// formatNumber is v with fixed decimals. Numbers too long to read are written
// with an exponent.
func formatNumber(v float64, digits int) string {
	switch {
	case math.IsNaN(v), math.IsInf(v, 0):
		return NotAvailable
	case math.Abs(v) >= 1e15:
		return strconv.FormatFloat(v, 'g', 6, 64)
	case v == 0:
		v = 0 // not -0
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

func format(v *float64, digits int) string {
	if v == nil {
		return NotAvailable
	}
	return formatNumber(*v, digits)
}
