package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/plan"
)

// neverMet refuses thresholds on a value that a cell of theirs can never have, whatever
// is measured: such a limit would be missed after hours, every time. The whole matrix
// counts, as for everything else that a plan must keep.
func neverMet(p *plan.Plan) error {
	runs := p.Expand()
	var errs []error
	for i, t := range p.Thresholds {
		for j := range runs {
			r := &runs[j]
			if r.Repeat > 0 || !t.Where.Matches(r) {
				continue
			}
			if lacks := lacking(p, r, t.Metric); lacks != "" {
				errs = append(errs, fmt.Errorf("%s:%d: thresholds[%d].metric: %s", p.Path, t.Line, i, lacks))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// lacking is what a run would need to have a value of the metric, and what to add;
// empty where it may have one.
func lacking(p *plan.Plan, r *plan.Run, metric string) string {
	base, ofBaseline := strings.CutPrefix(metric, "baseline_")
	ofPair := slices.Contains([]string{"speedup", "tpot_speedup", "output_match"}, metric)
	if (ofBaseline || ofPair) && r.Server.Baseline == nil {
		return fmt.Sprintf("%s needs a baseline, and server %s has none: add baseline_server, or a where that leaves the server out", metric, r.Server.Name)
	}
	if strings.HasPrefix(base, "goodput") && !p.SLO.Any() {
		return metric + " needs an slo: add slo, as in slo: {ttft_ms: 500}"
	}
	for _, timed := range []string{"ttft_", "tpot_", "icl_"} {
		if strings.HasPrefix(base, timed) && !p.Stream {
			return metric + " needs streamed answers: add stream: true"
		}
	}
	if strings.HasPrefix(metric, "lateness_") && r.RequestRate == 0 {
		return metric + " needs a request_rate: a closed loop has no planned starts; add request_rate, or a where that leaves request_rate inf out"
	}
	return ""
}
