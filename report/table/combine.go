package table

import (
	"strings"
	"time"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// values is the column's values that are there.
func (c Column) values(rows []*result.Row) []float64 {
	all := make([]*float64, len(rows))
	for i, r := range rows {
		all[i] = c.Value(r)
	}
	return stat.Values(all)
}

// total adds up.
func total(c Column, rows []*result.Row) *float64 {
	vs := c.values(rows)
	if len(vs) == 0 {
		return nil
	}
	sum := stat.Sum(vs)
	return &sum
}

// mean is the arithmetic mean.
func mean(c Column, rows []*result.Row) *float64 { return stat.Mean(c.values(rows)) }

// geoMean is the mean for ratios.
func geoMean(c Column, rows []*result.Row) *float64 { return stat.GeoMean(c.values(rows)) }

// throughput is Σ tokens / Σ seconds of the repeats that have one.
func throughput(c Column, rows []*result.Row) *float64 {
	return sumRatio(c, rows, func(r *result.Row) (float64, float64, bool) {
		if r.OutputTokens == nil || r.WallClockS == nil {
			return 0, 0, false
		}
		return float64(*r.OutputTokens), *r.WallClockS, true
	})
}

// baselineThroughput is the same of the baseline. The row does not hold its
// seconds; they are its tokens / its throughput.
func baselineThroughput(c Column, rows []*result.Row) *float64 {
	return sumRatio(c, rows, func(r *result.Row) (float64, float64, bool) {
		if r.BaselineOutputTokens == nil || *r.BaselineThroughputTokS <= 0 {
			return 0, 0, false
		}
		tokens := float64(*r.BaselineOutputTokens)
		return tokens, tokens / *r.BaselineThroughputTokS, true
	})
}

// goodputRate is Σ good requests / Σ seconds of the repeats that have one.
func goodputRate(c Column, rows []*result.Row) *float64 {
	return sumRatio(c, rows, func(r *result.Row) (float64, float64, bool) {
		if r.Goodput == nil || r.NumPrompts == nil || r.WallClockS == nil {
			return 0, 0, false
		}
		return *r.Goodput * float64(*r.NumPrompts), *r.WallClockS, true
	})
}

// baselineGoodputRate is the same of the baseline, whose seconds are its tokens / its
// throughput.
func baselineGoodputRate(c Column, rows []*result.Row) *float64 {
	return sumRatio(c, rows, func(r *result.Row) (float64, float64, bool) {
		if r.BaselineGoodput == nil || r.BaselineCompleted == nil || r.BaselineFailed == nil ||
			r.BaselineOutputTokens == nil || r.BaselineThroughputTokS == nil || *r.BaselineThroughputTokS <= 0 {
			return 0, 0, false
		}
		sent := float64(*r.BaselineCompleted + *r.BaselineFailed)
		return *r.BaselineGoodput * sent, float64(*r.BaselineOutputTokens) / *r.BaselineThroughputTokS, true
	})
}

// acceptLength is 1 + Σ accepted / Σ drafts.
func acceptLength(c Column, rows []*result.Row) *float64 {
	return sumRatio(c, rows, func(r *result.Row) (float64, float64, bool) {
		if r.NumAcceptedTokens == nil || r.NumDrafts == nil || !ownCounts(r) {
			return 0, 0, false
		}
		return float64(*r.NumDrafts + *r.NumAcceptedTokens), float64(*r.NumDrafts), true
	})
}

// acceptanceRate is Σ accepted / Σ draft tokens.
func acceptanceRate(c Column, rows []*result.Row) *float64 {
	return sumRatio(c, rows, func(r *result.Row) (float64, float64, bool) {
		if r.NumAcceptedTokens == nil || r.NumDraftTokens == nil || !ownCounts(r) {
			return 0, 0, false
		}
		return float64(*r.NumAcceptedTokens), float64(*r.NumDraftTokens), true
	})
}

// sumRatio is Σ numerators / Σ denominators over the rows that have a value, or
// its arithmetic mean when one of them does not have both parts. Of a single row
// it is that row's own value.
func sumRatio(c Column, rows []*result.Row, parts func(*result.Row) (float64, float64, bool)) *float64 {
	var over, under float64
	n := 0
	for _, r := range rows {
		if c.Value(r) == nil {
			continue
		}
		a, b, ok := parts(r)
		if !ok {
			return mean(c, rows)
		}
		over, under, n = over+a, under+b, n+1
	}
	if n < 2 {
		return mean(c, rows)
	}
	return stat.Ratio(over, under)
}

func perPosition(r *result.Row) string {
	if len(r.PerPosition) == 0 {
		return ""
	}
	parts := make([]string, len(r.PerPosition))
	for i, p := range r.PerPosition {
		parts[i] = formatNumber(p, 3)
	}
	return strings.Join(parts, " ")
}

func startedAt(r *result.Row) string {
	if r.StartedAt.IsZero() {
		return ""
	}
	return r.StartedAt.UTC().Format(time.RFC3339)
}

// ownCounts tells whether the row's counters are those of its pass alone. What a
// server has counted since its start holds earlier repeats again.
func ownCounts(r *result.Row) bool { return r.AcceptSource != "cumulative" }
