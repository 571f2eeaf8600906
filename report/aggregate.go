package report

import (
	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// aggregate is bench_sweep's aggregate, and after its keys two that say what
// theirs do not: the throughput of the whole, and the mean that suits ratios.
func aggregate(rows []*result.Row) object {
	a := table.AggregateOf(rows)
	return object{
		{"num_datasets", a.Rows},
		{"num_datasets_ok", a.OK},
		{"total_completed", a.TotalCompleted},
		{"accept_length", float(a.AcceptLength)},
		{"acceptance_rate", float(a.AcceptanceRate)},
		{"output_throughput_tok_s", float(a.OutputThroughputTokS)},
		{"speedup", float(a.Speedup)},
		{"total_tokens_per_total_s", float(a.TokensPerSecond)},
		{"speedup_geomean", float(a.SpeedupGeoMean)},
	}
}
