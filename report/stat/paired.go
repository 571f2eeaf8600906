package stat

import (
	"math"
)

// Counts is one sampling unit's share of a ratio of sums Σ Over / Σ Under. For
// accept_length a unit is a prompt, Over its accepted tokens and Under its verify
// steps, both summed over the repeats: repeats of one prompt are no samples of
// their own.
type Counts struct{ Over, Under float64 }

// leastUnits is the fewest units with an interval of their change. A jackknife over
// fewer says nothing of the population that they stand for.
const leastUnits = 3

// PairedDifference is how much Σ Over / Σ Under is greater for b than for a.
// The units are paired by position; a and b have the same length. The interval is
// Student's t over the delete-one jackknife (Tukey 1958) with as many degrees of
// freedom as there are units, less one: what it covers is which units were drawn.
// With fewer than three units it is a Range of no width. It is nil where a sum of
// Under is not positive.
func PairedDifference(a, b []Counts) *Interval {
	return jackknife(a, b, func(ra, rb float64) float64 { return rb - ra })
}

// PairedRatio is the quotient of plus + Σ Over / Σ Under of b and that of a, with an
// interval made as PairedDifference makes it, on the logarithm. It is nil also where
// one of the two is not positive.
func PairedRatio(a, b []Counts, plus float64) *Interval {
	i := jackknife(a, b, func(ra, rb float64) float64 { return math.Log((plus + rb) / (plus + ra)) })
	if i == nil {
		return nil
	}
	return i.exp()
}

// jackknife estimates change(Σ Over / Σ Under of a, the same of b).
func jackknife(a, b []Counts, change func(ra, rb float64) float64) *Interval {
	n := len(a)
	if n == 0 || len(b) != n {
		return nil
	}
	var sa, sb Counts
	for i := range a {
		sa, sb = sa.add(a[i], 1), sb.add(b[i], 1)
	}
	value := func(x, y Counts) *float64 {
		ra, rb := Ratio(x.Over, x.Under), Ratio(y.Over, y.Under)
		if ra == nil || rb == nil {
			return nil
		}
		return finite(change(*ra, *rb))
	}
	whole := value(sa, sb)
	if whole == nil {
		return nil
	}
	out := &Interval{Estimate: *whole, Low: *whole, High: *whole, N: n, Range: true}
	if n < leastUnits {
		return out
	}
	pseudo := make([]float64, n)
	for i := range a {
		without := value(sa.add(a[i], -1), sb.add(b[i], -1))
		if without == nil {
			return out // one unit holds everything that there is
		}
		pseudo[i] = float64(n)**whole - float64(n-1)**without
	}
	// The interval is laid around the plain estimate, which is the number that is
	// shown, and not around the mean of the pseudo-values.
	t := MeanInterval(pseudo)
	half := (t.High - t.Low) / 2
	out.Low, out.High, out.Range = *whole-half, *whole+half, false
	return out
}

func (c Counts) add(d Counts, sign float64) Counts {
	return Counts{Over: c.Over + sign*d.Over, Under: c.Under + sign*d.Under}
}

// exp turns an interval on the log scale into one of ratios.
func (i Interval) exp() *Interval {
	i.Estimate, i.Low, i.High = math.Exp(i.Estimate), math.Exp(i.Low), math.Exp(i.High)
	return &i
}
