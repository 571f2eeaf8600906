package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPausesGrowToTwoSeconds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		first time.Duration
		want  []time.Duration // in ms
	}{
		{"default", 0, []time.Duration{500, 750, 1125, 1687, 2000, 2000}},
		{"given", 100 * time.Millisecond, []time.Duration{100, 150, 225, 337, 506, 759}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := pauses(tt.first)
			p.Reset()
			var got []time.Duration
			for range tt.want {
				got = append(got, p.NextBackOff()/time.Millisecond)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("pauses in ms (-want +got):\n%s", diff)
			}
		})
	}
}
