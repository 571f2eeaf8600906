package stat

import (
	"math"
	"testing"
)

func TestMeanInterval(t *testing.T) {
	// By hand: mean 3, s = 1.5811, t(4, 0.975) = 2.7764, half-width 1.9632.
	got := MeanInterval([]float64{1, 2, 3, 4, 5})
	if got == nil || got.Range || got.N != 5 || math.Abs(got.Estimate-3) > 1e-12 ||
		math.Abs(got.Low-1.0368) > 1e-4 || math.Abs(got.High-4.9632) > 1e-4 {
		t.Errorf("MeanInterval(1..5) = %+v, want 3 (1.0368 to 4.9632)", got)
	}
	if got := MeanInterval([]float64{4, 2}); got == nil || !got.Range || got.Low != 2 || got.High != 4 || got.Estimate != 3 {
		t.Errorf("MeanInterval of two = %+v, want their range", got)
	}
	if got := MeanInterval(nil); got != nil {
		t.Errorf("MeanInterval of none = %+v, want nil", got)
	}
}

func TestGeoMeanInterval(t *testing.T) {
	got := GeoMeanInterval([]float64{0.5, 2, 1, 1})
	if got == nil || math.Abs(got.Estimate-1) > 1e-12 || math.Abs(got.Low*got.High-1) > 1e-12 || !got.Holds(1) {
		t.Errorf("GeoMeanInterval = %+v, want one symmetric around 1 on the log scale", got)
	}
	for _, bad := range [][]float64{nil, {1, 0}, {1, -1}, {1, math.Inf(1)}, {math.NaN()}} {
		if got := GeoMeanInterval(bad); got != nil {
			t.Errorf("GeoMeanInterval(%v) = %+v, want nil", bad, got)
		}
	}
}
