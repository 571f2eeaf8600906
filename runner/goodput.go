package runner

import (
	"fmt"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/result"
)

// good is how many of a pass's requests kept what the plan's slo asks. Its two values
// are nil when nothing was judged.
type good struct {
	share     *float64 // of completed and failed requests, 0 to 1
	perSecond *float64
	unknown   int    // completed answers that could not be judged and count as misses
	reason    string // why nothing was judged
}

// goodOf judges every request. A failed one keeps nothing, and neither does one whose
// tpot cannot be told; an answer of one token has no tpot to miss.
func goodOf(l *load.Pass, slo plan.SLO) *good {
	g := &good{}
	all := l.Completed + l.Failed
	if (slo.TTFTMs != nil || slo.TPOTMs != nil) && !streamed(l) {
		g.reason = "slo has ttft_ms or tpot_ms, and no answer came as a stream with text in it: set stream: true"
		return g
	}
	kept := 0
	for i := range l.Samples {
		s := &l.Samples[i]
		if s.Failed != "" {
			continue
		}
		if slo.TPOTMs != nil && s.Tokens == nil {
			g.unknown++
			continue
		}
		if keeps(s, slo) {
			kept++
		}
	}
	g.share = stat.Ratio(float64(kept), float64(all))
	g.perSecond = stat.Ratio(float64(kept), l.Wall.Seconds())
	if g.share == nil || g.perSecond == nil {
		g.reason = "the pass took no time"
	}
	return g
}

func streamed(l *load.Pass) bool {
	for i := range l.Samples {
		if l.Samples[i].FirstToken > 0 {
			return true
		}
	}
	return false
}

// keeps tells whether a completed request kept every limit.
func keeps(s *load.Sample, slo plan.SLO) bool {
	switch {
	case slo.E2EMs != nil && ms(s.Done) > *slo.E2EMs:
		return false
	case slo.TTFTMs != nil && (s.FirstToken <= 0 || ms(s.FirstToken) > *slo.TTFTMs):
		return false
	case slo.TPOTMs != nil:
		v := tpotOf(s)
		return v == nil || *v <= *slo.TPOTMs
	}
	return true
}

func warnGoodput(row *result.Row, g *good, who string, columns ...string) {
	if g.reason != "" {
		warn(row, CodeNoGoodput, who+g.reason, columns...)
	}
	if g.unknown > 0 {
		warn(row, CodeUsageMissing, fmt.Sprintf("%sgoodput understated: %d answers without a token count have no tpot and count as misses", who, g.unknown), columns...)
	}
}

// seconds are the durations' values.
func seconds(ds []time.Duration) []float64 {
	out := make([]float64, len(ds))
	for i, d := range ds {
		out[i] = d.Seconds()
	}
	return out
}
