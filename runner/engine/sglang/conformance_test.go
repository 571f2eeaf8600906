package sglang_test

import (
	"testing"

	"github.com/specsweep/specsweep/runner/engine/enginetest"
	"github.com/specsweep/specsweep/runner/engine/sglang"
	"github.com/specsweep/specsweep/runner/sim"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, sglang.Engine{}, sim.Config{Engine: "sglang", Accept: []float64{0.8, 0.6, 0.4}, Seed: 1})
}
