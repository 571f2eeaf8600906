package stat

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// UnpairedRatio is the geometric mean of b over that of a, two independent samples,
// with Welch's t interval on the logarithms (Welch 1947; the degrees of freedom by
// Satterthwaite). When either has fewer than three values it is a Range: the least
// and the greatest quotient of a value of b and one of a. N is the size of the
// smaller sample. It is nil when one is empty or a value is not positive.
func UnpairedRatio(a, b []float64) *Interval {
	la, lb := logs(a), logs(b)
	if la == nil || lb == nil {
		return nil
	}
	na, nb := float64(len(la)), float64(len(lb))
	out := Interval{Estimate: *Mean(lb) - *Mean(la), N: min(len(la), len(lb))}
	if out.N < leastForT {
		minA, maxA, _ := Range(la)
		minB, maxB, _ := Range(lb)
		out.Low, out.High, out.Range = minB-maxA, maxB-minA, true
		return out.exp()
	}
	va, vb := stats.Variance(la)/na, stats.Variance(lb)/nb
	half := 0.0
	if v := va + vb; v > 0 {
		freedom := v * v / (va*va/(na-1) + vb*vb/(nb-1))
		half = math.Sqrt(v) * stats.InvCDF(stats.TDist{V: freedom})(1-(1-Confidence)/2)
	}
	out.Low, out.High = out.Estimate-half, out.Estimate+half
	return out.exp()
}

// CombineRatios is the geometric mean of independent ratios that have intervals of
// their own: on the log scale the half-widths add up as the errors of independent
// estimates do. Each part keeps its own t quantile, so the result is rather too wide
// than too narrow where the parts have few
// values. A part that is a Range makes it a Range. N is the least of the parts.
// It is nil for none and for a ratio that is not positive.
func CombineRatios(parts []*Interval) *Interval {
	if len(parts) == 0 {
		return nil
	}
	out := Interval{N: parts[0].N}
	squares, k := 0.0, float64(len(parts))
	for _, p := range parts {
		if !(p.Low > 0) || !(p.Estimate > 0) || math.IsInf(p.High, 0) {
			return nil
		}
		half := math.Log(p.High/p.Low) / 2
		squares += half * half
		out.Estimate += math.Log(p.Estimate) / k
		out.N = min(out.N, p.N)
		out.Range = out.Range || p.Range
	}
	half := math.Sqrt(squares) / k
	out.Low, out.High = out.Estimate-half, out.Estimate+half
	return out.exp()
}

// logs is nil for none, and for a value that has no logarithm.
func logs(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		if !(x > 0) || math.IsInf(x, 0) {
			return nil
		}
		out[i] = math.Log(x)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
