package stat

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func ptr(v float64) *float64 { return &v }

func near(t *testing.T, got, want *float64) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestQuantile(t *testing.T) {
	ten := []float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5}
	for _, tt := range []struct {
		name string
		xs   []float64
		p    float64
		want *float64
	}{
		// numpy.quantile(range(1, 11), p)
		{"median of ten is between two values", ten, 0.5, ptr(5.5)},
		{"p90 of ten", ten, 0.9, ptr(9.1)},
		{"p99 of ten", ten, 0.99, ptr(9.91)},
		{"least", ten, 0, ptr(1)},
		{"greatest", ten, 1, ptr(10)},
		{"one value is every quantile", []float64{3}, 0.99, ptr(3)},
		{"no value", nil, 0.5, nil},
		{"p above 1", ten, 1.5, nil},
		{"p not a number", ten, math.NaN(), nil},
		{"not a number in the sample", []float64{1, math.NaN()}, 0.5, nil},
	} {
		t.Run(tt.name, func(t *testing.T) { near(t, Quantile(tt.xs, tt.p), tt.want) })
	}
	if ten[0] != 10 {
		t.Error("Quantile has sorted its argument")
	}
}

func TestMeans(t *testing.T) {
	for _, tt := range []struct {
		name            string
		xs              []float64
		arith, geometry *float64
	}{
		{"2 and 8", []float64{2, 8}, ptr(5), ptr(4)},
		{"a ratio and its inverse", []float64{0.5, 2}, ptr(1.25), ptr(1)},
		{"a zero", []float64{0, 4}, ptr(2), ptr(0)},
		{"a negative value has no geometric mean", []float64{-1, 1}, ptr(0), nil},
		{"none", nil, nil, nil},
		{"larger than numbers go", []float64{math.Inf(1)}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			near(t, Mean(tt.xs), tt.arith)
			near(t, GeoMean(tt.xs), tt.geometry)
		})
	}
}

func TestWeightedMean(t *testing.T) {
	for _, tt := range []struct {
		name string
		xs   []*float64
		ws   []float64
		want *float64
	}{
		{"by hand: (2*10 + 4*30) / 40", []*float64{ptr(2), ptr(4)}, []float64{10, 30}, ptr(3.5)},
		{"a missing value takes its weight along", []*float64{ptr(2), nil}, []float64{10, 30}, ptr(2)},
		{"a zero counts", []*float64{ptr(1.5), ptr(0)}, []float64{10, 10}, ptr(0.75)},
		{"no weight", []*float64{ptr(2)}, []float64{0}, nil},
		{"no value", []*float64{nil}, []float64{5}, nil},
		{"nothing", nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) { near(t, WeightedMean(tt.xs, tt.ws), tt.want) })
	}
}

func TestRatio(t *testing.T) {
	near(t, Ratio(3, 2), ptr(1.5))
	near(t, Ratio(0, 2), ptr(0))
	near(t, Ratio(3, 0), nil)
	near(t, Ratio(math.NaN(), 1), nil)
	near(t, Ratio(math.MaxFloat64, 0.5), nil)
}

func TestRangeAndValues(t *testing.T) {
	low, high, ok := Range(Values([]*float64{ptr(2), nil, ptr(-1)}))
	if low != -1 || high != 2 || !ok {
		t.Errorf("Range = %v, %v, %v, want -1, 2, true", low, high, ok)
	}
	if _, _, ok := Range(nil); ok {
		t.Error("Range of nothing is ok")
	}
}
