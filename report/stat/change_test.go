package stat

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestPairedDifference(t *testing.T) {
	even := func(over ...float64) []Counts {
		out := make([]Counts, len(over))
		for i, o := range over {
			out[i] = Counts{Over: o, Under: 10}
		}
		return out
	}
	for _, tt := range []struct {
		name string
		a, b []Counts
		want *Interval
	}{
		// With equal Under a ratio of sums is a mean of ratios, and the jackknife is the
		// paired t interval of R's t.test(c(2.5, 2.1, 2.3) - c(2, 2, 2)).
		{"equal weights: the paired t interval", even(20, 20, 20), even(25, 21, 23), &Interval{Estimate: 0.3, Low: -0.1968, High: 0.7968, N: 3}},
		{"the same counts", even(7, 9, 11), even(7, 9, 11), &Interval{N: 3}},
		// Pseudo-values -2.5, 1.5, 0.5: s = 2.0817, t(2) = 4.3027, half-width 5.1711.
		{"the units weigh by Under", []Counts{{0, 30}, {10, 10}, {0, 0}}, []Counts{{0, 30}, {30, 10}, {0, 0}}, &Interval{Estimate: 0.5, Low: -4.6711, High: 5.6711, N: 3}},
		{"two units have no interval", even(1, 2), even(2, 3), &Interval{Estimate: 0.1, Low: 0.1, High: 0.1, N: 2, Range: true}},
		{"one unit holds all", []Counts{{5, 10}, {0, 0}, {0, 0}}, []Counts{{6, 10}, {0, 0}, {0, 0}}, &Interval{Estimate: 0.1, Low: 0.1, High: 0.1, N: 3, Range: true}},
		{"nothing under", []Counts{{0, 0}}, even(1), nil},
		{"no units", nil, nil, nil},
		{"unequal lengths", even(1), even(1, 2), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, PairedDifference(tt.a, tt.b), cmpopts.EquateApprox(0, 1e-3)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestPairedRatio(t *testing.T) {
	a := []Counts{{10, 10}, {20, 10}, {30, 10}}
	b := []Counts{{15, 10}, {30, 10}, {45, 10}}
	if got := PairedRatio(a, b, 0); got == nil || got.Range || math.Abs(got.Estimate-1.5) > 1e-9 || math.Abs(got.Low-1.5) > 1e-6 || math.Abs(got.High-1.5) > 1e-6 {
		t.Errorf("PairedRatio = %+v, want 1.5 without an error: each unit is half as much again", got)
	}
	if got := PairedRatio(a, b, 1); got == nil || math.Abs(got.Estimate-4.0/3) > 1e-9 || !(got.Low < got.Estimate && got.Estimate < got.High) {
		t.Errorf("PairedRatio with 1 added = %+v, want 4/3 inside of an interval", got)
	}
	if got := PairedRatio([]Counts{{0, 5}}, []Counts{{1, 5}}, 0); got != nil {
		t.Errorf("PairedRatio over 0 = %+v, want nil", got)
	}
}

func TestUnpairedRatio(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b []float64
		want *Interval
	}{
		// By hand on the logarithms: difference ln 2; the variances of both are
		// ln(2)²; 4 degrees of freedom, t = 2.7764, half-width 2.7764·ln 2·√(2/3).
		{"equal spread", []float64{1, 2, 4}, []float64{2, 4, 8}, &Interval{Estimate: 2, Low: 2 * math.Pow(2, -2.26696), High: 2 * math.Pow(2, 2.26696), N: 3}},
		// One side without a spread: as many degrees of freedom as the other has, 2.
		{"one side constant", []float64{1, 1, 1, 1}, []float64{1, 2, 4}, &Interval{Estimate: 2, Low: 2 * math.Pow(2, -2.48414), High: 2 * math.Pow(2, 2.48414), N: 3}},
		{"no spread at all", []float64{3, 3, 3}, []float64{6, 6, 6}, &Interval{Estimate: 2, Low: 2, High: 2, N: 3}},
		{"two values have a range", []float64{1, 2}, []float64{2, 8, 4}, &Interval{Estimate: 4 / math.Sqrt2, Low: 1, High: 8, N: 2, Range: true}},
		{"none", nil, []float64{1}, nil},
		{"a zero has no logarithm", []float64{1, 0, 1}, []float64{1, 1, 1}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, UnpairedRatio(tt.a, tt.b), cmpopts.EquateApprox(1e-4, 1e-9)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestCombineRatios(t *testing.T) {
	part := &Interval{Estimate: 2, Low: 1, High: 4, N: 5}
	for _, tt := range []struct {
		name  string
		parts []*Interval
		want  *Interval
	}{
		{"one is itself", []*Interval{part}, part},
		{"four alike are half as wide on the log scale", []*Interval{part, part, part, part}, &Interval{Estimate: 2, Low: math.Sqrt2, High: 2 * math.Sqrt2, N: 5}},
		{"a ratio and its inverse cancel", []*Interval{{Estimate: 2, Low: 2, High: 2, N: 9}, {Estimate: 0.5, Low: 0.5, High: 0.5, N: 4}}, &Interval{Estimate: 1, Low: 1, High: 1, N: 4}},
		{"a range makes a range", []*Interval{part, {Estimate: 2, Low: 2, High: 2, N: 1, Range: true}}, &Interval{Estimate: 2, Low: math.Sqrt2, High: 2 * math.Sqrt2, N: 1, Range: true}},
		{"none", nil, nil},
		{"not positive", []*Interval{{Low: 0, Estimate: 1, High: 2}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, CombineRatios(tt.parts), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestExcludes(t *testing.T) {
	i := Interval{Low: 1.1, High: 1.3}
	if !i.Excludes(1) || i.Excludes(1.1) {
		t.Errorf("%+v excludes 1: %v and 1.1: %v, want true and false", i, i.Excludes(1), i.Excludes(1.1))
	}
	if i.Range = true; i.Excludes(1) {
		t.Error("a range excludes something")
	}
}
