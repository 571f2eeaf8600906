package runner

import (
	"slices"
	"testing"

	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/specdec"
)

// What answers tell of their drafts goes to the turns that they were of.
func TestTurnsOf(t *testing.T) {
	samples := []load.Sample{
		{Prompt: 0, Turn: 0}, {Prompt: 0, Turn: 1}, // both told
		{Prompt: 1, Turn: 0}, {Prompt: 1, Turn: 1}, // one told
		{Prompt: 2, Turn: 0}, {Prompt: 2, Turn: 1, Failed: "HTTP 500"}, // the one that was answered told
	}
	requests := []specdec.Request{{Index: 2}, {Index: 0}, {Index: 1}, {Index: 0}, {Index: 7}, {Index: -1}}
	if got, want := turnsOf(3, samples, requests), []int{0, 0, -1, 1, -1, -1}; !slices.Equal(got, want) {
		t.Errorf("turnsOf() = %v, want %v", got, want)
	}
}
