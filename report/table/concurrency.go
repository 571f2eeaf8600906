package table

import (
	"fmt"
	"slices"
	"strings"
)

// headlineGrid is one line a point, when there is more than one and a mean over
// more than one dataset.
func headlineGrid(hs []headline, axes []Column, least float64) Grid {
	g := Grid{Title: "Speedup over datasets: geometric mean, per concurrency"}
	useful, short := false, len(concurrencies(hs)) <= maxSpeedups
	for _, h := range hs {
		headers, cells := h.axisCells(axes)
		g.Columns = append(headers, Header{"speedup_geomean", true}, Header{"datasets", false}, Header{"left_out", false})
		left := slices.Clone(h.without)
		for _, name := range h.other {
			left = append(left, name+" (baseline of another engine)")
		}
		g.Lines = append(g.Lines, append(cells, Cell{Text: h.text(least)},
			Cell{Text: orNone(listOf(h.with, 20))}, Cell{Text: orNone(listOf(left, 20))}))
		useful = useful || len(h.with) > 1
		short = short && len(left) == 0
	}
	g.Brief = !short // the summary has it all then
	if !useful || len(hs) < 2 {
		return Grid{}
	}
	return g
}

// crossoverGrid says for each server between which concurrencies speculation stops
// paying. It is empty where only one concurrency was measured.
func crossoverGrid(gs []group, axes []Column, least float64) Grid {
	g := Grid{Title: "Concurrency: where speculation stops paying", Brief: true}
	useful := false
	for _, of := range gs {
		headers, cells := of.axisCells(axes)
		g.Columns = append(headers, Header{"concurrency", false}, Header{"speedup falls below 1", false})
		var with []headline
		var levels []string
		for _, h := range of.hs {
			if h.speedup != nil {
				with = append(with, h)
				levels = append(levels, fmt.Sprint(h.Concurrency))
			}
		}
		useful = useful || len(with) > 1
		g.Lines = append(g.Lines, append(cells, Cell{Text: orNotAvailable(listOf(levels, 12))}, Cell{Text: crossover(with, least)}))
	}
	if !useful {
		return Grid{}
	}
	return g
}

// crossover is where the speedup falls below 1, in words. The headlines have one and
// come by concurrency.
func crossover(hs []headline, least float64) string {
	if len(hs) == 0 {
		return NotAvailable
	}
	var falls []string
	below := 0
	for i, h := range hs {
		if *h.speedup < 1 {
			below++
		}
		if i > 0 && *hs[i-1].speedup >= 1 && *h.speedup < 1 {
			falls = append(falls, fmt.Sprintf("between %d and %d%s", hs[i-1].Concurrency, h.Concurrency, doubtOf(least, hs[i-1], h)))
		}
	}
	last := hs[len(hs)-1]
	switch {
	case below == 0:
		return fmt.Sprintf("not up to %d%s", last.Concurrency, doubtOf(least, last))
	case below == len(hs):
		return fmt.Sprintf("already at %d%s", hs[0].Concurrency, doubtOf(least, hs[0]))
	case len(falls) == 0:
		return fmt.Sprintf("at %d, not at %d%s", hs[0].Concurrency, last.Concurrency, doubtOf(least, hs[0], last))
	}
	return strings.Join(falls, "; again ")
}

// doubtOf is what the speedups that decide have against them.
func doubtOf(least float64, hs ...headline) string {
	var parts []string
	for _, h := range hs {
		switch {
		case h.interval == nil:
			parts = append(parts, fmt.Sprintf("no interval at %d", h.Concurrency))
		case h.interval.N == 1:
			parts = append(parts, fmt.Sprintf("one run at %d", h.Concurrency))
		case same(h.interval, least):
			parts = append(parts, fmt.Sprintf("%s at %d", Undecided, h.Concurrency))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
