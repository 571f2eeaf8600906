package runner

import (
	"fmt"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/specdec"
)

// fillBaseline puts in the baseline's numbers and the speedup, or why there is
// none.
func (s *sweep) fillBaseline(row *result.Row, p, base *pass, missing string) {
	switch {
	case row.BaselineEngine == "":
		warn(row, CodeNoBaseline, "the plan names no baseline_server",
			append([]string{"baseline_throughput_tok_s", "speedup", "baseline_completed", "baseline_failed", "baseline_output_tokens", "output_match"}, s.missingBaseline()...)...)
		return
	case base == nil:
		warn(row, CodeNoBaseline, missing,
			append([]string{"baseline_throughput_tok_s", "speedup", "baseline_completed", "baseline_failed", "baseline_output_tokens"}, s.missingBaseline()...)...)
		return
	case base.restored != nil:
		s.restoreBaseline(row, p, base.restored)
		return
	}
	l := &base.load
	if l.Completed+l.Failed > 0 {
		row.BaselineCompleted, row.BaselineFailed = ptr(l.Completed), ptr(l.Failed)
		row.BaselineOutputTokens = ptr(l.OutputTokens)
	}
	if base.err != nil {
		columns := append([]string{"baseline_throughput_tok_s", "speedup"}, s.missingBaseline()...)
		if row.BaselineCompleted == nil {
			columns = append(columns, "baseline_completed", "baseline_failed", "baseline_output_tokens")
		}
		warn(row, CodeBaselineFailed, "baseline: "+base.err.Error(), columns...)
		return
	}
	row.BaselineThroughputTokS = l.Throughput()
	noRatio := ""
	if why := speculates(base); why != "" {
		// Whatever the ratio is, it is not over a server without speculation.
		warn(row, CodeBaselineSpeculates, "the baseline server speculates itself ("+why+"): name one without speculation",
			"speedup", "baseline_throughput_tok_s")
		noRatio = "the baseline server speculates itself"
	} else {
		fillSpeedup(row, p.latency.rates.saturated() || base.latency.rates.saturated())
	}
	s.fillBaselineLatency(row, base, noRatio)
	s.warnBaseline(row, base)
}

// fillSpeedup compares the row's two throughputs, unless both are what was offered.
func fillSpeedup(row *result.Row, saturated bool) {
	if row.RequestRate != nil && !saturated {
		warn(row, CodeOfferedLoad, fmt.Sprintf("offered load: both deliver what arrives at %v requests/s; compare latencies and goodput", *row.RequestRate), "speedup")
		return
	}
	row.Speedup = ratio(row.OutputThroughputTokS, row.BaselineThroughputTokS)
	if row.Speedup == nil {
		warn(row, CodeNoThroughput, "a throughput is missing on one side", "speedup")
	}
}

func (s *sweep) warnBaseline(row *result.Row, base *pass) {
	l := &base.load
	if l.Failed > 0 {
		warn(row, CodeFailedRequests, fmt.Sprintf("baseline: %d of %d requests failed%s", l.Failed, l.Completed+l.Failed, because(l)),
			"baseline_failed", "baseline_throughput_tok_s", "speedup")
	}
	if l.UsageMissing > 0 {
		warn(row, CodeUsageMissing, "baseline throughput understated: "+withoutTokens(l), "baseline_throughput_tok_s", "speedup", "baseline_output_tokens")
	}
	if l.Retries > 0 {
		warn(row, CodeRetries, fmt.Sprintf("baseline: %d retries, %.1f s of waiting between attempts, inside the clock",
			l.Retries, l.RetryWait.Seconds()), "baseline_throughput_tok_s", "speedup")
	}
	if base.unwarmed != "" {
		warn(row, CodeWarmupFailed, "baseline: "+base.unwarmed+": the pass may have been measured cold", "baseline_throughput_tok_s", "speedup")
	}
	warnBeyond(row, base, "baseline: ", "baseline_throughput_tok_s", "speedup", "baseline_output_tokens")
	if row.BaselineThroughputTokS == nil {
		warn(row, CodeNoThroughput, "baseline: "+noTokens(l), "baseline_throughput_tok_s")
	}
	if reason := unknown(base); reason != "" {
		warn(row, CodeBaselineUnknown, "whether the baseline speculates is not known: "+reason, "speedup")
	}
	if row.BaselineEngine != row.Engine {
		warn(row, CodeBaselineEngine, fmt.Sprintf("the baseline runs on another engine (%s against %s)", row.BaselineEngine, row.Engine),
			"speedup")
	}
	if s.Plan.Order == plan.OrderByServer {
		warn(row, CodeNotInterleaved, "not interleaved: server and baseline were measured one after the other (order: by_server)",
			"speedup")
	}
}

// speculates says how a baseline's statistics show that drafts are made there;
// empty when they do not.
func speculates(p *pass) string {
	st := &p.stats
	switch {
	case st.NumDrafts != nil && *st.NumDrafts > 0:
		return fmt.Sprintf("%d drafts in its pass", *st.NumDrafts)
	case st.AcceptLength != nil:
		return fmt.Sprintf("accept_length %.2f", *st.AcceptLength)
	}
	for _, n := range st.Notes {
		switch n.Code {
		case specdec.CodeRunTooShort, specdec.CodeRanks, specdec.CodeCountersFell, specdec.CodeInconsistent, specdec.CodeNoDraftTokens:
			return n.Text // there is something to be said of drafts
		}
	}
	return ""
}

// unknown says why it cannot be told whether a baseline speculates; empty when
// it can.
func unknown(p *pass) string {
	for _, n := range p.stats.Notes {
		switch n.Code {
		case specdec.CodeUnreachable, specdec.CodeStatisticsOff, specdec.CodeModelNotFound:
			return n.Text
		}
	}
	return ""
}

// ratio is a/b, nil when either is missing or b is not positive.
func ratio(a, b *float64) *float64 {
	if a == nil || b == nil || *b <= 0 {
		return nil
	}
	return ptr(*a / *b)
}
