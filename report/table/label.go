package table

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// labelGrids is one table for each label that differs between rows, by its value: a
// step of training becomes an axis.
func labelGrids(hs []headline, axes []Column, least float64) []Grid {
	var grids []Grid
	for _, name := range varyingLabels(hs) {
		grids = append(grids, labelGrid(name, hs, axes, least))
	}
	return grids
}

// varyingLabels is the names of the labels with more than one value, sorted.
func varyingLabels(hs []headline) []string {
	values := map[string]map[string]bool{}
	for _, h := range hs {
		for _, r := range h.Rows {
			for name, v := range r.Labels {
				if values[name] == nil {
					values[name] = map[string]bool{}
				}
				values[name][v] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(values)), func(name string) bool { return len(values[name]) < 2 })
}

func labelGrid(name string, hs []headline, axes []Column, least float64) Grid {
	g := Grid{Title: "By label " + Clean(name, maxText), Brief: true}
	sorted := slices.Clone(hs)
	slices.SortStableFunc(sorted, func(a, b headline) int { return compareLabels(a.label(name), b.label(name)) })
	for _, h := range sorted {
		headers, cells := h.axisCells(axes)
		g.Columns = slices.Concat([]Header{{"label_" + Clean(name, maxText), true}}, headers,
			[]Header{{"speedup_geomean", true}, {"accept_length", true}, {"acceptance_rate", true}})
		value := orNotAvailable(Clean(h.label(name), maxText))
		g.Lines = append(g.Lines, slices.Concat([]Cell{{Text: value}}, cells, []Cell{
			{Text: h.text(least)}, {Text: format(pooled("accept_length", h.Rows), 3)}, {Text: format(pooled("acceptance_rate", h.Rows), 3)},
		}))
	}
	return g
}

// label is the point's value of a label; a server has one.
func (p Point) label(name string) string { return p.Rows[0].Labels[name] }

// compareLabels puts numbers first, by their value, then texts, then what has no
// such label.
func compareLabels(a, b string) int {
	class := func(s string) (int, float64) {
		if s == "" {
			return 2, 0
		}
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			return 0, v
		}
		return 1, 0
	}
	ca, va := class(a)
	cb, vb := class(b)
	return cmp.Or(cmp.Compare(ca, cb), cmp.Compare(va, vb), cmp.Compare(a, b))
}
