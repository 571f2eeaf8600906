package table

import (
	"fmt"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// Aggregate is one value over the rows of several datasets. The weighted means
// are those of NeMo Automodel's bench_sweep; the other two are beside them because
// a mean of throughputs is not the throughput of the whole.
type Aggregate struct {
	Rows, OK       int   // rows, and those without an error
	TotalCompleted int64 // requests, of the ok rows

	// Means over the ok rows that have the value, weighted by completed requests.
	AcceptLength         *float64
	AcceptanceRate       *float64
	OutputThroughputTokS *float64
	Speedup              *float64

	// TokensPerSecond is Σ output_tokens / Σ wall_clock_s of the ok rows that have
	// both.
	TokensPerSecond *float64
	// SpeedupGeoMean is the geometric mean of the ok rows' speedups over a baseline
	// of the same engine.
	SpeedupGeoMean *float64
}

// AggregateOf computes the aggregate of rows.
func AggregateOf(rows []*result.Row) Aggregate {
	a := Aggregate{Rows: len(rows)}
	var ok []*result.Row
	var weights, ratios []float64
	var tokens, seconds float64
	for _, r := range rows {
		if !r.OK() {
			continue
		}
		ok = append(ok, r)
		completed := 0
		if r.Completed != nil {
			completed = *r.Completed
		}
		a.TotalCompleted += int64(completed)
		weights = append(weights, float64(completed))
		if r.OutputTokens != nil && r.WallClockS != nil {
			tokens, seconds = tokens+float64(*r.OutputTokens), seconds+*r.WallClockS
		}
		if r.Speedup != nil && (r.BaselineEngine == r.Engine || r.BaselineEngine == "") {
			ratios = append(ratios, *r.Speedup)
		}
	}
	a.OK = len(ok)
	weighted := func(get func(*result.Row) *float64) *float64 {
		vs := make([]*float64, len(ok))
		for i, r := range ok {
			vs[i] = get(r)
		}
		return stat.WeightedMean(vs, weights)
	}
	a.AcceptLength = weighted(func(r *result.Row) *float64 { return r.AcceptLength })
	a.AcceptanceRate = weighted(func(r *result.Row) *float64 { return r.AcceptanceRate })
	a.OutputThroughputTokS = weighted(func(r *result.Row) *float64 { return r.OutputThroughputTokS })
	a.Speedup = weighted(func(r *result.Row) *float64 { return r.Speedup })
	a.TokensPerSecond = stat.Ratio(tokens, seconds)
	a.SpeedupGeoMean = stat.GeoMean(ratios)
	return a
}

// aggregateGrid is one line a point, when any has more than one dataset.
func aggregateGrid(points []Point, axes []Column) Grid {
	g := Grid{Title: "Over datasets and repeats: means weighted by completed requests, and total tokens / total seconds"}
	useful := false
	for _, p := range points {
		headers, cells := p.axisCells(axes)
		g.Columns = append(headers, Header{"datasets_ok", true}, Header{"total_completed", true},
			Header{"output_throughput_tok_s (weighted mean)", true}, Header{"output_throughput_tok_s (total)", true},
			Header{"speedup (weighted mean)", true}, Header{"accept_length (weighted mean)", true},
			Header{"acceptance_rate (weighted mean)", true})
		a := AggregateOf(p.Rows)
		names := p.datasets()
		okNames := map[string]bool{}
		for _, r := range p.Rows {
			if r.OK() {
				okNames[r.Dataset] = true
			}
		}
		cells = append(cells, Cell{Text: fmt.Sprintf("%d of %d", len(okNames), len(names))}, Cell{Text: fmt.Sprint(a.TotalCompleted)},
			Cell{Text: format(a.OutputThroughputTokS, 1)}, Cell{Text: format(a.TokensPerSecond, 1)},
			Cell{Text: format(a.Speedup, 3)}, Cell{Text: format(a.AcceptLength, 3)}, Cell{Text: format(a.AcceptanceRate, 3)})
		g.Lines = append(g.Lines, cells)
		useful = useful || len(names) > 1
	}
	if !useful {
		return Grid{}
	}
	return g
}
