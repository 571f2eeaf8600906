package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/engine"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	r := engine.NewRegistry(fake{name: "vllm"}, fake{name: "llamacpp"}, fake{name: "sglang"})
	if diff := cmp.Diff([]string{"llamacpp", "sglang", "vllm"}, r.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if e, err := r.Get("sglang"); err != nil || e.Name() != "sglang" {
		t.Errorf("Get(sglang) = %v, %v", e, err)
	}
	_, err := r.Get("vLLM")
	if want := `unknown engine "vLLM" (have llamacpp, sglang, vllm)`; err == nil || err.Error() != want {
		t.Errorf("Get(vLLM): %v, want %s", err, want)
	}
}

func TestRegistryPanicsOnTwoOfOneName(t *testing.T) {
	t.Parallel()
	defer func() {
		if got, want := recover(), `engine "vllm" is listed twice`; got != want {
			t.Errorf("panic %v, want %s", got, want)
		}
	}()
	engine.NewRegistry(fake{name: "vllm"}, fake{name: "vllm"})
}
