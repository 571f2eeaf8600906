package report

import (
	"fmt"
	"slices"

	"github.com/specsweep/specsweep/report/plot"
	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// point is the cell's value of a metric at x; ok is false where there is none. Its
// interval is over the repeats, of speedup and throughput only: repeats of the same
// prompts tell nothing of how sure an accept_length is.
func point(c table.CellRows, metric string, x float64) (p plot.Point, ok bool) {
	v := table.CellValue(c.OK(), metric)
	if v == nil {
		return p, false
	}
	p = plot.Point{X: x, Y: *v}
	if i := interval(c, metric); i != nil && i.N > 1 {
		p.Low, p.High = &i.Low, &i.High
	}
	return p, true
}

// interval is that of a cell's metric over its repeats; nil where there is none.
func interval(c table.CellRows, metric string) *stat.Interval {
	switch metric {
	case "speedup":
		return c.Speedup()
	case "output_throughput_tok_s":
		return stat.GeoMeanInterval(okValues(c, func(r *result.Row) *float64 { return r.OutputThroughputTokS }))
	case "baseline_throughput_tok_s":
		return stat.GeoMeanInterval(okValues(c, func(r *result.Row) *float64 { return r.BaselineThroughputTokS }))
	}
	return nil
}

// chartOf has the axis and the line to compare with that go with a metric.
func chartOf(title, x, metric string) plot.Chart {
	c := plot.Chart{Title: title, X: x, Y: metric}
	switch metric {
	case "speedup":
		c.Rule = &plot.Rule{Y: 1, Text: "1: no speculation"}
	case "output_throughput_tok_s":
		c.FromZero = true
	case "accept_length":
		c.Y = metric + " (tok)"
	}
	return c
}

// overConcurrency is a plot of each dataset and point of the other axes, a series a
// server; throughput has the baseline beside them.
func (x axes) overConcurrency(metric string) plotGroup {
	fs := x.facets(func(c table.CellRows) string { return plotName(c.Dataset) + x.where(c) })
	return group(metric+" over concurrency", fs, func(f facet) plot.Chart {
		at := func(c table.CellRows) float64 { return float64(c.Concurrency) }
		chart := chartOf(metric+": "+f.title, "concurrency", metric)
		chart.LogX = true
		chart.Series = x.byServer(f, metric, at)
		return chart
	})
}

// overDatasets is a plot of each concurrency and point of the other axes, a series a
// server.
func (x axes) overDatasets(metric string) plotGroup {
	fs := x.facets(func(c table.CellRows) string { return fmt.Sprintf("concurrency %d", c.Concurrency) + x.where(c) })
	return group(metric+" per dataset", fs, func(f facet) plot.Chart {
		var names []string
		for _, c := range f.cells {
			names = addName(names, c.Dataset)
		}
		at := func(c table.CellRows) float64 { return float64(slices.Index(names, c.Dataset)) }
		chart := chartOf(metric+": "+f.title, "dataset", metric)
		chart.Series = x.byServer(f, metric, at)
		for _, name := range names {
			chart.Names = append(chart.Names, plotName(name))
		}
		return chart
	})
}

// byServer is a series a server, also for one without a point, so that a server keeps
// its colour in every plot. Throughput gets the baselines' series too.
func (x axes) byServer(f facet, metric string, at func(table.CellRows) float64) []plot.Series {
	var series []plot.Series
	for _, server := range x.servers {
		s := plot.Series{Name: plotName(server)}
		for _, c := range f.cells {
			if c.Server != server {
				continue
			}
			if p, ok := point(c, metric, at(c)); ok {
				s.Points = append(s.Points, p)
			}
		}
		series = append(series, s)
	}
	if metric == "output_throughput_tok_s" {
		series = append(series, x.baselines(f, at)...)
	}
	return series
}

// baselines is a dashed series for each baseline: servers that share one have its
// very numbers in their rows.
func (x axes) baselines(f facet, at func(table.CellRows) float64) []plot.Series {
	var series []plot.Series
	seen := map[string]bool{}
	for _, server := range x.servers {
		s := plot.Series{Name: "baseline of " + plotName(server), Dashed: true}
		key := ""
		for _, c := range f.cells {
			if c.Server != server {
				continue
			}
			if p, ok := point(c, "baseline_throughput_tok_s", at(c)); ok {
				s.Points = append(s.Points, p)
				key += fmt.Sprint(p.X, p.Y, " ")
			}
		}
		if key != "" && !seen[key] {
			seen[key] = true
			series = append(series, s)
		}
	}
	if len(series) == 1 {
		series[0].Name = "baseline"
	}
	return series
}
