package table

import (
	"slices"
	"strconv"

	"github.com/specsweep/specsweep/runner/result"
)

// latencyColumns is the columns of what requests felt like. Repeats are averaged:
// the quantile of a cell is the mean of its repeats' quantiles. goodput_req_s is a rate
// and combined as throughput is.
func latencyColumns() []Column {
	type row = result.Row
	ms := func(name string, get func(*row) *float64) Column { return number(name, "ms", 1, get, mean).lower() }
	return slices.Concat(
		[]Column{
			ms("ttft_mean_ms", func(r *row) *float64 { return r.TTFTMeanMs }),
			ms("ttft_p50_ms", func(r *row) *float64 { return r.TTFTP50Ms }),
			ms("ttft_p90_ms", func(r *row) *float64 { return r.TTFTP90Ms }),
			ms("ttft_p99_ms", func(r *row) *float64 { return r.TTFTP99Ms }),
			ms("tpot_mean_ms", func(r *row) *float64 { return r.TPOTMeanMs }),
			ms("tpot_p50_ms", func(r *row) *float64 { return r.TPOTP50Ms }),
			ms("tpot_p90_ms", func(r *row) *float64 { return r.TPOTP90Ms }),
			ms("tpot_p99_ms", func(r *row) *float64 { return r.TPOTP99Ms }),
			ms("icl_mean_ms", func(r *row) *float64 { return r.ICLMeanMs }),
			ms("icl_p50_ms", func(r *row) *float64 { return r.ICLP50Ms }),
			ms("icl_p90_ms", func(r *row) *float64 { return r.ICLP90Ms }),
			ms("icl_p99_ms", func(r *row) *float64 { return r.ICLP99Ms }),
			ms("e2e_latency_mean_ms", func(r *row) *float64 { return r.E2ELatencyMeanMs }),
			ms("e2e_latency_p50_ms", func(r *row) *float64 { return r.E2ELatencyP50Ms }),
			ms("e2e_latency_p90_ms", func(r *row) *float64 { return r.E2ELatencyP90Ms }),
			ms("e2e_latency_p99_ms", func(r *row) *float64 { return r.E2ELatencyP99Ms }),
			ms("baseline_ttft_mean_ms", func(r *row) *float64 { return r.BaselineTTFTMeanMs }),
			ms("baseline_ttft_p50_ms", func(r *row) *float64 { return r.BaselineTTFTP50Ms }),
			ms("baseline_ttft_p90_ms", func(r *row) *float64 { return r.BaselineTTFTP90Ms }),
			ms("baseline_ttft_p99_ms", func(r *row) *float64 { return r.BaselineTTFTP99Ms }),
			ms("baseline_tpot_mean_ms", func(r *row) *float64 { return r.BaselineTPOTMeanMs }),
			ms("baseline_tpot_p50_ms", func(r *row) *float64 { return r.BaselineTPOTP50Ms }),
			ms("baseline_tpot_p90_ms", func(r *row) *float64 { return r.BaselineTPOTP90Ms }),
			ms("baseline_tpot_p99_ms", func(r *row) *float64 { return r.BaselineTPOTP99Ms }),
			ms("baseline_icl_mean_ms", func(r *row) *float64 { return r.BaselineICLMeanMs }),
			ms("baseline_icl_p50_ms", func(r *row) *float64 { return r.BaselineICLP50Ms }),
			ms("baseline_icl_p90_ms", func(r *row) *float64 { return r.BaselineICLP90Ms }),
			ms("baseline_icl_p99_ms", func(r *row) *float64 { return r.BaselineICLP99Ms }),
			ms("baseline_e2e_latency_mean_ms", func(r *row) *float64 { return r.BaselineE2ELatencyMeanMs }),
			ms("baseline_e2e_latency_p50_ms", func(r *row) *float64 { return r.BaselineE2ELatencyP50Ms }),
			ms("baseline_e2e_latency_p90_ms", func(r *row) *float64 { return r.BaselineE2ELatencyP90Ms }),
			ms("baseline_e2e_latency_p99_ms", func(r *row) *float64 { return r.BaselineE2ELatencyP99Ms }),
		},
		[]Column{
			number("tpot_speedup", "", 3, func(r *row) *float64 { return r.TPOTSpeedup }, geoMean).higher().spread(),
			number("goodput", "", 3, func(r *row) *float64 { return r.Goodput }, mean).higher(),
			number("goodput_req_s", "req/s", 2, func(r *row) *float64 { return r.GoodputReqS }, goodputRate).higher(),
			number("baseline_goodput", "", 3, func(r *row) *float64 { return r.BaselineGoodput }, mean).higher(),
			number("baseline_goodput_req_s", "req/s", 2, func(r *row) *float64 { return r.BaselineGoodputReqS }, baselineGoodputRate).higher(),
			ms("lateness_p99_ms", func(r *row) *float64 { return r.LatenessP99Ms }),
			number("client_cpu_share", "", 3, func(r *row) *float64 { return r.ClientCPUShare }, mean),
			number("client_sched_p99_ms", "ms", 2, func(r *row) *float64 { return r.ClientSchedP99Ms }, mean),
			number("client_gc_pause_ms", "ms", 2, func(r *row) *float64 { return r.ClientGCPauseMs }, total),
		},
	)
}

// requestRate is inf for a closed loop, as in plans.
func requestRate(r *result.Row) string {
	if r.RequestRate == nil {
		return "inf"
	}
	return strconv.FormatFloat(*r.RequestRate, 'g', -1, 64)
}
