// Package all is the one list of engines. Only programs and tests import it:
// everything else is handed a Registry.
package all

import (
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/llamacpp"
	"github.com/specsweep/specsweep/runner/engine/sglang"
	"github.com/specsweep/specsweep/runner/engine/vllm"
)

// Engines is every engine that there is.
func Engines() *engine.Registry {
	return engine.NewRegistry(
		llamacpp.Engine{},
		sglang.Engine{},
		vllm.Engine{},
	)
}
