// Package stat is arithmetic on samples: quantiles and means. It knows no rows
// and no units. What cannot be computed is nil, never 0 or NaN, and no function
// changes its arguments.
package stat

import (
	"math"
	"slices"
)

// Quantile is the p-quantile, 0 <= p <= 1, of the sample by linear interpolation
// between the order statistics: type 7 of Hyndman and Fan (1996), which is the
// default of numpy and R. It is nil for an empty sample, a NaN in it, and p
// outside of [0, 1].
func Quantile(xs []float64, p float64) *float64 {
	if len(xs) == 0 || !(p >= 0 && p <= 1) || slices.ContainsFunc(xs, math.IsNaN) {
		return nil
	}
	sorted := slices.Sorted(slices.Values(xs))
	at := p * float64(len(sorted)-1)
	low := int(math.Floor(at))
	v := sorted[low]
	if frac := at - float64(low); frac > 0 {
		v += frac * (sorted[low+1] - sorted[low])
	}
	return finite(v)
}

// Mean is the arithmetic mean, nil for an empty sample.
func Mean(xs []float64) *float64 {
	if len(xs) == 0 {
		return nil
	}
	return finite(Sum(xs) / float64(len(xs)))
}

// GeoMean is the geometric mean: exp of the mean of the logarithms. It is the
// mean for ratios, since that of the inverse ratios is its inverse. It is 0 when
// any value is 0, and nil for an empty sample or a negative value.
func GeoMean(xs []float64) *float64 {
	if len(xs) == 0 {
		return nil
	}
	logs := 0.0
	for _, x := range xs {
		if !(x >= 0) {
			return nil
		}
		logs += math.Log(x) // -Inf for 0, and exp gives 0 again
	}
	return finite(math.Exp(logs / float64(len(xs))))
}

// WeightedMean is Σ w·x / Σ w over the values that are there. It is nil when
// there is none, or when their weights do not add up to more than 0. A negative
// weight counts as 0. The slices have the same length.
func WeightedMean(xs []*float64, ws []float64) *float64 {
	sum, weight := 0.0, 0.0
	for i, x := range xs {
		if x != nil && ws[i] > 0 {
			sum += *x * ws[i]
			weight += ws[i]
		}
	}
	return Ratio(sum, weight)
}

// Ratio is a / b, nil unless b is positive.
func Ratio(a, b float64) *float64 {
	if !(b > 0) {
		return nil
	}
	return finite(a / b)
}

// Sum adds the values up; 0 for none.
func Sum(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum
}

// Range is the least and the greatest value; ok is false for an empty sample.
func Range(xs []float64) (least, greatest float64, ok bool) {
	if len(xs) == 0 {
		return 0, 0, false
	}
	return slices.Min(xs), slices.Max(xs), true
}

// Values is the values that are there, in order.
func Values(xs []*float64) []float64 {
	var vs []float64
	for _, x := range xs {
		if x != nil {
			vs = append(vs, *x)
		}
	}
	return vs
}

// finite is v, or nil where a computation ran out of the numbers.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
