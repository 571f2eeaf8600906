package stat

import (
	"encoding/json"

	"golang.org/x/perf/benchmath"
)

// Confidence is the level of every interval.
const Confidence = 0.95

// leastForT is the smallest sample with an interval of its own; below it there is
// only a range.
const leastForT = 3

// Interval is an estimate and what is known of its error.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	N        int     `json:"n"`
	// Range says that Low and High are the least and the greatest value, since so few
	// have no interval. With N = 1 all three are equal.
	Range bool `json:"range,omitempty"`
}

// MarshalJSON writes an end that is not finite, as that of a ratio is whose logarithm
// is all but unknown, as null: JSON has no infinity.
func (i Interval) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Estimate *float64 `json:"estimate"`
		Low      *float64 `json:"low"`
		High     *float64 `json:"high"`
		N        int      `json:"n"`
		Range    bool     `json:"range,omitempty"`
	}{finite(i.Estimate), finite(i.Low), finite(i.High), i.N, i.Range})
}

// Finite tells whether both ends are numbers.
func (i Interval) Finite() bool { return finite(i.Low) != nil && finite(i.High) != nil }

// Excludes tells whether the interval shows that the quantity is not v. A Range
// shows nothing.
func (i Interval) Excludes(v float64) bool { return !i.Range && !i.Holds(v) }

// Holds tells whether v lies in the interval, its ends included.
func (i Interval) Holds(v float64) bool { return i.Low <= v && v <= i.High }

// GeoMeanInterval is the geometric mean of ratios with the t interval of their
// logarithms, or their range when they are fewer than three. It is nil for none, and
// for a ratio that is not positive.
func GeoMeanInterval(ratios []float64) *Interval {
	ls := logs(ratios)
	if ls == nil {
		return nil
	}
	return MeanInterval(ls).exp()
}

// MeanInterval is the mean of a sample with its t interval, or the sample's range
// when it has fewer than three values. It is nil for none.
func MeanInterval(xs []float64) *Interval {
	if len(xs) == 0 {
		return nil
	}
	if len(xs) < leastForT {
		low, high, _ := Range(xs)
		return &Interval{Estimate: *Mean(xs), Low: low, High: high, N: len(xs), Range: true}
	}
	s := benchmath.AssumeNormal.Summary(benchmath.NewSample(append([]float64{}, xs...), &benchmath.DefaultThresholds), Confidence)
	return &Interval{Estimate: s.Center, Low: s.Lo, High: s.Hi, N: len(xs)}
}
