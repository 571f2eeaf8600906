package all_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/engine/all"
)

func TestEngines(t *testing.T) {
	t.Parallel()
	r := all.Engines()
	if diff := cmp.Diff([]string{"llamacpp", "sglang", "vllm"}, r.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for _, name := range r.Names() {
		if e, err := r.Get(name); err != nil || e.Name() != name {
			t.Errorf("Get(%q) = %v, %v", name, e, err)
		}
	}
}
