package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/specsweep/specsweep/report/plot"
	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/report/table"
)

// labels is those that hold a number in every row that has them, and more than one
// number.
func (x axes) labels() []string {
	values, texts := map[string]map[float64]bool{}, map[string]bool{}
	for _, c := range x.cells {
		for name, text := range c.Rows[0].Labels {
			if values[name] == nil {
				values[name] = map[float64]bool{}
			}
			v, err := strconv.ParseFloat(text, 64)
			texts[name] = texts[name] || err != nil
			values[name][v] = true
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) > 1 && !texts[name] {
			names = append(names, name)
		}
	}
	return names
}

// overLabel is a plot of each concurrency and point of the other axes, with the
// label's number along X: a series a dataset and, where they differ, engine and model.
func (x axes) overLabel(label, metric string) plotGroup {
	engines, models := map[string]bool{}, map[string]bool{}
	for _, c := range x.cells {
		engines[c.Rows[0].Engine], models[c.Rows[0].Model] = true, true
	}
	name := func(c table.CellRows) string {
		s := plotName(c.Dataset)
		if len(engines) > 1 {
			s += ", " + plotName(c.Rows[0].Engine)
		}
		if len(models) > 1 {
			s += ", " + plotName(c.Rows[0].Model)
		}
		return s
	}
	fs := x.facets(func(c table.CellRows) string { return fmt.Sprintf("concurrency %d", c.Concurrency) + x.where(c) })
	return group(metric+" over "+plotName(label), fs, func(f facet) plot.Chart {
		chart := chartOf(fmt.Sprintf("%s over %s: %s", metric, plotName(label), f.title), plotName(label), metric)
		at := map[string]int{}
		for _, c := range f.cells {
			v, err := strconv.ParseFloat(c.Rows[0].Labels[label], 64)
			p, ok := point(c, metric, v)
			if err != nil || !ok {
				continue
			}
			i, known := at[name(c)]
			if !known {
				i = len(chart.Series)
				at[name(c)] = i
				chart.Series = append(chart.Series, plot.Series{Name: name(c)})
			}
			chart.Series[i].Points = append(chart.Series[i].Points, p)
		}
		return chart
	})
}

// byPosition is the share of drafts that each position was accepted in: a plot of
// each dataset, concurrency and point of the other axes.
func (x axes) byPosition() plotGroup {
	const title = "acceptance_per_position"
	fs := x.facets(func(c table.CellRows) string {
		return fmt.Sprintf("%s, concurrency %d", plotName(c.Dataset), c.Concurrency) + x.where(c)
	})
	return group(title, fs, func(f facet) plot.Chart {
		chart := plot.Chart{Title: title + ": " + f.title, X: "position", Y: "accepted / drafts", FromZero: true}
		for _, server := range x.servers {
			s := plot.Series{Name: plotName(server)}
			for _, c := range f.cells {
				if c.Server == server {
					s.Points = append(s.Points, positions(c)...)
				}
			}
			chart.Series = append(chart.Series, s)
		}
		return chart
	})
}

// positions is the cell's acceptance by position from 1, over its repeats weighted by
// drafts where all are known.
func positions(c table.CellRows) []plot.Point {
	var ps []plot.Point
	ok := c.OK()
	for i := 0; ; i++ {
		var vs []*float64
		var drafts, ones []float64
		for _, r := range ok {
			if i >= len(r.PerPosition) {
				continue
			}
			vs, ones = append(vs, &r.PerPosition[i]), append(ones, 1)
			if r.NumDrafts != nil {
				drafts = append(drafts, float64(*r.NumDrafts))
			}
		}
		if len(vs) == 0 {
			return ps
		}
		if len(drafts) < len(vs) {
			drafts = ones
		}
		if v := stat.WeightedMean(vs, drafts); v != nil {
			ps = append(ps, plot.Point{X: float64(i + 1), Y: *v})
		}
	}
}
