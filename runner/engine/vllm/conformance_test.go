package vllm_test

import (
	"testing"

	"github.com/specsweep/specsweep/runner/engine/enginetest"
	"github.com/specsweep/specsweep/runner/engine/vllm"
	"github.com/specsweep/specsweep/runner/sim"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, vllm.Engine{}, sim.Config{Engine: "vllm", Accept: []float64{0.8, 0.6, 0.4}, Seed: 1})
}
