package runner

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/result"
)

// Codes of the warnings about a finite request_rate.
const (
	CodeOfferedLoad = "offered_load"
	CodeSaturated   = "saturated"
	CodeArrivals    = "arrivals"
)

// saturatedShare is the part of the offered rate below which a server does not keep
// up with what arrives.
const saturatedShare = 0.95

// arrivalsShare is how far the rate at which requests came may be off the one that was
// asked for without a word. Gaps of a Poisson process add up to n / rate only in the mean.
const arrivalsShare = 0.05

// warnArrivals says when so few requests came by chance faster or slower than asked.
func warnArrivals(row *result.Row, run *plan.Run, r rates) {
	if r.came != nil && math.Abs(*r.came/run.RequestRate-1) > arrivalsShare {
		warn(row, CodeArrivals, fmt.Sprintf("requests came at %.2f/s: gaps that are drawn are off by chance in so short a pass; more prompts, or arrivals: constant, come closer",
			*r.came), "request_rate", "goodput_req_s", "output_throughput_tok_s")
	}
}

// openLoop tells whether requests arrive at a rate of their own.
func openLoop(run *plan.Run) bool {
	return run.RequestRate > 0 && !math.IsInf(run.RequestRate, 1)
}

// arrive puts the due times of n prompts into a pass's options. The seed is the plan's
// and the repeat, so every server of a block gets the same arrivals and each repeat
// others.
func (s *sweep) arrive(o *load.Options, run *plan.Run, n int) {
	if openLoop(run) {
		o.Arrivals = load.Schedule(n, run.RequestRate, s.Plan.Arrivals != plan.ArrivalsConstant, s.Plan.Seed+uint64(run.Repeat)) //nolint:gosec // never negative
	}
}

// rates are the requests per second of a pass that were due and that were answered;
// nil when there are too few to tell, or too many at one time.
type rates struct {
	offered, delivered *float64
	came               *float64 // due, over all of the pass
	atOnce             bool     // so many were due at one time that no rate can be told
}

// ratesOf compares when requests were due with when they were answered, both from
// their 10 % to their 90 % quantile: a server that keeps up only shifts the times by its
// latency, and the wait for the last answers, which wall_clock_s holds, does not
// look like a lack.
func ratesOf(l *load.Pass) rates {
	var due, done []time.Duration
	for i := range l.Samples {
		s := &l.Samples[i]
		due = append(due, s.Due)
		if s.Failed == "" {
			done = append(done, s.Due+s.Done)
		}
	}
	low, high := middle(due)
	r := rates{offered: rateOf(due), delivered: rateOf(done), atOnce: len(due) > 1 && *low == *high}
	if len(due) > 1 {
		r.came = stat.Ratio(float64(len(due)-1), slices.Max(due).Seconds())
	}
	return r
}

// middle is the 10 % and the 90 % quantile in seconds; nil for none.
func middle(times []time.Duration) (low, high *float64) {
	at := seconds(times)
	return stat.Quantile(at, 0.1), stat.Quantile(at, 0.9)
}

func rateOf(times []time.Duration) *float64 {
	low, high := middle(times)
	if low == nil || high == nil {
		return nil
	}
	return stat.Ratio(0.8*float64(len(times)), *high-*low)
}

// saturated tells whether fewer requests were answered than came. What comes all at
// once, no server answers as it comes.
func (r rates) saturated() bool {
	return r.atOnce || r.offered != nil && (r.delivered == nil || *r.delivered < saturatedShare**r.offered)
}

// warnSaturated says which of the passes did not keep up, and whether any did not.
func warnSaturated(row *result.Row, p, base *pass) bool {
	any := false
	for _, side := range []struct {
		who     string
		p       *pass
		columns []string
	}{
		{"the server", p, []string{"output_throughput_tok_s", "speedup"}},
		{"the baseline", base, []string{"baseline_throughput_tok_s", "speedup"}},
	} {
		if side.p == nil || side.p.err != nil || !side.p.latency.rates.saturated() {
			continue
		}
		any = true
		warn(row, CodeSaturated, fmt.Sprintf("%s does not keep up: %s, so latencies grow with the length of the pass",
			side.who, side.p.latency.rates), side.columns...)
	}
	return any
}

// String is what a saturated pass delivered of what was offered.
func (r rates) String() string {
	delivered := 0.0
	if r.delivered != nil {
		delivered = *r.delivered
	}
	if r.offered == nil {
		return fmt.Sprintf("its requests were due all at once, and it answered %.2f requests/s", delivered)
	}
	return fmt.Sprintf("it answered %.2f of %.2f requests/s", delivered, *r.offered)
}
