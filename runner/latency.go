package runner

import (
	"fmt"
	"slices"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/result"
)

// Codes of the warnings about latencies.
const (
	CodeNoLatency   = "no_latency"
	CodeSingleChunk = "single_chunk"
	CodeNoGoodput   = "no_goodput"
	CodeGapsSampled = "gaps_sampled"
)

// singleChunkShare is the share of answers in one chunk above which ttft is not what
// its name says: most of them.
const singleChunkShare = 0.5

// latency is what the requests of a pass felt like. It is made when the pass is over,
// so that a sweep does not keep every time of every pass.
type latency struct {
	ttft, tpot, icl, e2e spread // ms
	good                 *good  // nil: nobody asked
	lateP99              *float64
	rates                rates
	gapsSampled          bool
}

// spread is a sample's mean and quantiles; nil each when it is empty.
type spread struct{ mean, p50, p90, p99 *float64 }

func spreadOf(xs []float64) spread {
	slices.Sort(xs) // once for all quantiles
	return spread{stat.Mean(xs), stat.Quantile(xs, 0.5), stat.Quantile(xs, 0.9), stat.Quantile(xs, 0.99)}
}

// put hands the values to a row's fields.
func (s spread) put(mean, p50, p90, p99 **float64) {
	*mean, *p50, *p90, *p99 = s.mean, s.p50, s.p90, s.p99
}

// newLatency sums a pass up, over completed answers only.
func newLatency(l *load.Pass, slo plan.SLO) latency {
	var ttft, tpot, icl, e2e, late []float64
	for i := range l.Samples {
		s := &l.Samples[i]
		late = append(late, ms(s.Late))
		if s.Failed != "" {
			continue
		}
		e2e = append(e2e, ms(s.Done))
		if s.FirstToken > 0 {
			ttft = append(ttft, ms(s.FirstToken))
		}
		if v := tpotOf(s); v != nil {
			tpot = append(tpot, *v)
		}
	}
	for _, gap := range l.Gaps {
		icl = append(icl, ms(gap))
	}
	out := latency{
		ttft: spreadOf(ttft), tpot: spreadOf(tpot), icl: spreadOf(icl), e2e: spreadOf(e2e),
		lateP99: stat.Quantile(late, 0.99), rates: ratesOf(l), gapsSampled: l.GapsSampled,
	}
	if slo.Any() {
		out.good = goodOf(l, slo)
	}
	return out
}

// tpotOf is (e2e - ttft) / (tokens - 1) in ms: the time per token after the first
// one. nil for an answer that was not streamed, has no second token or does not tell
// how many there are.
func tpotOf(s *load.Sample) *float64 {
	if s.FirstToken <= 0 || s.Tokens == nil || *s.Tokens < 2 {
		return nil
	}
	return ptr(ms(s.Done-s.FirstToken) / float64(*s.Tokens-1))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// oneChunk tells whether all tokens of an answer, two or more, came at once: the time
// to its first token is then that to its last.
func oneChunk(c *openai.Completion) bool {
	return c.Err == nil && c.FirstToken > 0 && len(c.Gaps) == 0 && c.CompletionTokens != nil && *c.CompletionTokens > 1
}

// fillLatency puts in the latencies of the server's pass, or why there are none.
// Without streaming ttft, tpot and icl were not asked for and need no reason.
func (s *sweep) fillLatency(row *result.Row, p *pass) {
	l := &p.latency
	l.ttft.put(&row.TTFTMeanMs, &row.TTFTP50Ms, &row.TTFTP90Ms, &row.TTFTP99Ms)
	l.tpot.put(&row.TPOTMeanMs, &row.TPOTP50Ms, &row.TPOTP90Ms, &row.TPOTP99Ms)
	l.icl.put(&row.ICLMeanMs, &row.ICLP50Ms, &row.ICLP90Ms, &row.ICLP99Ms)
	l.e2e.put(&row.E2ELatencyMeanMs, &row.E2ELatencyP50Ms, &row.E2ELatencyP90Ms, &row.E2ELatencyP99Ms)
	s.warnLatency(row, p, "", "")
	if l.good != nil {
		row.Goodput, row.GoodputReqS = l.good.share, l.good.perSecond
		warnGoodput(row, l.good, "", "goodput", "goodput_req_s")
	}
	if row.RequestRate != nil {
		row.LatenessP99Ms = l.lateP99
	}
}

// fillBaselineLatency puts those of the baseline's pass beside them, and the ratio.
// noRatio says why there is none to be had, when that is known already.
func (s *sweep) fillBaselineLatency(row *result.Row, base *pass, noRatio string) {
	l := &base.latency
	l.ttft.put(&row.BaselineTTFTMeanMs, &row.BaselineTTFTP50Ms, &row.BaselineTTFTP90Ms, &row.BaselineTTFTP99Ms)
	l.tpot.put(&row.BaselineTPOTMeanMs, &row.BaselineTPOTP50Ms, &row.BaselineTPOTP90Ms, &row.BaselineTPOTP99Ms)
	l.icl.put(&row.BaselineICLMeanMs, &row.BaselineICLP50Ms, &row.BaselineICLP90Ms, &row.BaselineICLP99Ms)
	l.e2e.put(&row.BaselineE2ELatencyMeanMs, &row.BaselineE2ELatencyP50Ms, &row.BaselineE2ELatencyP90Ms, &row.BaselineE2ELatencyP99Ms)
	s.warnLatency(row, base, "baseline: ", "baseline_")
	if l.good != nil {
		row.BaselineGoodput, row.BaselineGoodputReqS = l.good.share, l.good.perSecond
		warnGoodput(row, l.good, "baseline: ", "baseline_goodput", "baseline_goodput_req_s")
	}
	s.fillTPOTSpeedup(row, noRatio)
}

// fillTPOTSpeedup compares the row's two mean tpots, unless noRatio says why it should not.
func (s *sweep) fillTPOTSpeedup(row *result.Row, noRatio string) {
	if noRatio == "" {
		row.TPOTSpeedup = ratio(row.BaselineTPOTMeanMs, row.TPOTMeanMs)
		noRatio = "a tpot is missing, or zero, on one side"
	}
	if row.TPOTSpeedup == nil && s.Plan.Stream {
		warn(row, CodeNoLatency, noRatio, "tpot_speedup")
	}
}

// warnLatency says why a side's latencies are missing, or what they are instead.
func (s *sweep) warnLatency(row *result.Row, p *pass, who, prefix string) {
	if !s.Plan.Stream {
		return
	}
	for _, m := range []struct {
		of     spread
		metric string
		reason string
	}{
		{p.latency.ttft, "ttft", "no answer came as a stream with text in it"},
		{p.latency.tpot, "tpot", "no streamed answer had a token count of two or more"},
		{p.latency.icl, "icl", "no answer came in more than one chunk"},
	} {
		if m.of.mean == nil {
			warn(row, CodeNoLatency, who+m.reason, columnsOf(prefix, m.metric)...)
		}
	}
	if p.latency.gapsSampled {
		warn(row, CodeGapsSampled, who+"icl: a uniform sample of the gaps between chunks, of which there were too many to keep", columnsOf(prefix, "icl")...)
	}
	if float64(p.oneChunk) > singleChunkShare*float64(p.load.Completed) {
		columns := append(columnsOf(prefix, "ttft"), columnsOf(prefix, "tpot")...)
		warn(row, CodeSingleChunk, fmt.Sprintf("%s%d of %d answers came in one chunk, so their first token came with the last: is something between that collects the stream?",
			who, p.oneChunk, p.load.Completed), append(columns, "tpot_speedup")...)
	}
}

// columnsOf is the columns of a latency.
func columnsOf(prefix, metric string) []string {
	var out []string
	for _, q := range []string{"mean", "p50", "p90", "p99"} {
		out = append(out, prefix+metric+"_"+q+"_ms")
	}
	return out
}

// latencyColumns is the columns of a side that a plan's passes fill.
func (s *sweep) latencyColumns(prefix string) []string {
	metrics := []string{"e2e_latency"}
	if s.Plan.Stream {
		metrics = []string{"ttft", "tpot", "icl", "e2e_latency"}
	}
	var out []string
	for _, m := range metrics {
		out = append(out, columnsOf(prefix, m)...)
	}
	if s.Plan.SLO.Any() {
		out = append(out, prefix+"goodput", prefix+"goodput_req_s")
	}
	return out
}

// missingBaseline is the columns that stay empty when there is no baseline's pass.
func (s *sweep) missingBaseline() []string {
	out := s.latencyColumns("baseline_")
	if s.Plan.Stream {
		out = append(out, "tpot_speedup")
	}
	return out
}
