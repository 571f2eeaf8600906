package llamacpp_test

import (
	"testing"

	"github.com/specsweep/specsweep/runner/engine/enginetest"
	"github.com/specsweep/specsweep/runner/engine/llamacpp"
	"github.com/specsweep/specsweep/runner/sim"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, llamacpp.Engine{}, sim.Config{Engine: "llamacpp", Metrics: true, Accept: []float64{0.8, 0.6, 0.4}, Seed: 1})
}
