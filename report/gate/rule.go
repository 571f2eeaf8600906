package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/specsweep/specsweep/report/compare"
)

// Op says on which side of its limit a change is a miss.
type Op string

// The values of Op.
const (
	Below Op = "<"
	Above Op = ">"
)

// Rule is one --fail-on: the change of a metric that is too much.
type Rule struct {
	Metric string `json:"metric"` // one of compare.Metrics
	Op     Op     `json:"op"`
	// Limit of new / old - 1 when Relative (-0.05 is -5 %), else of new - old in the
	// metric's unit.
	Limit    float64 `json:"limit"`
	Relative bool    `json:"relative,omitempty"`
}

// String is the rule as ParseRule reads it.
func (r Rule) String() string {
	limit, unit := r.Limit, ""
	if r.Relative {
		limit, unit = r.Limit*100, "%"
	}
	// The tenth digit of a percentage is the arithmetic's, not the user's.
	return r.Metric + string(r.Op) + strconv.FormatFloat(limit, 'g', 10, 64) + unit
}

// ParseRule reads METRIC, < or >, and the limit of the metric's change: a relative one
// with %, an absolute one in the metric's unit without. Blanks are allowed between
// them. A limit that nearly every change is past, such as speedup<0.9, which takes
// the limit for one of the value, is refused.
func ParseRule(text string) (Rule, error) {
	fail := func(format string, args ...any) (Rule, error) {
		return Rule{}, fmt.Errorf("reading the rule %q: "+format, append([]any{text}, args...)...)
	}
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return fail("it has neither < nor >; write it as speedup<-5%% or accept_length<-0.1")
	}
	r := Rule{Metric: strings.TrimSpace(text[:at]), Op: Op(text[at : at+1])}
	if !slices.Contains(compare.Metrics(), r.Metric) {
		return fail("no such metric: %q; there are %s", r.Metric, strings.Join(compare.Metrics(), ", "))
	}
	number := strings.TrimSpace(text[at+1:])
	if bare, ok := strings.CutSuffix(number, "%"); ok {
		r.Relative, number = true, strings.TrimSpace(bare)
	}
	limit, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsInf(limit, 0) || math.IsNaN(limit):
		return fail("%q is no number; write it as speedup<-5%% or accept_length<-0.1", number)
	case r.Op == Below && limit > 0, r.Op == Above && limit < 0:
		return fail("the limit is one of the change from old to new, and %s%s holds for no change at all; "+
			"a limit of the value itself belongs in the plan's thresholds", r.Op, strings.TrimSpace(text[at+1:]))
	}
	r.Limit = limit
	if r.Relative {
		r.Limit = limit / 100
	}
	return r, nil
}

// past tells whether a change is beyond the limit.
func (r Rule) past(change float64) bool {
	if r.Op == Below {
		return change < r.Limit
	}
	return change > r.Limit
}
