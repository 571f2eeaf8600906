package vllm_test

import (
	"fmt"
	"testing"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/vllm"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/sim"
	"github.com/specsweep/specsweep/runner/specdec"
)

// With per-request details the headline is still the counters', and both agree on
// a server that nobody else uses.
func TestRequestDetailsBesideCounters(t *testing.T) {
	t.Parallel()
	const prompts = 8
	s, err := sim.Listen(sim.Config{Accept: []float64{0.8, 0.5}, RequestDetails: true, Seed: 3}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := client(t, s.URL())
	p := vllm.Engine{}.Begin(t.Context(), c, engine.Target{Model: "sim"})
	for i := range prompts {
		body, err := openai.Body{Model: "sim", MaxTokens: 64, TopP: 1}.Encode(fmt.Appendf(nil, `[{"role":"user","content":"prompt %d"}]`, i))
		if err != nil {
			t.Fatal(err)
		}
		a := c.Chat(t.Context(), body)
		a.Index = i
		p.Observe(&a)
	}
	got := p.End(t.Context())
	if got.Source != specdec.SourceCounters || got.AcceptLength == nil || len(got.Requests) != prompts {
		t.Fatalf("source %q, accept_length %v, %d requests", got.Source, got.AcceptLength, len(got.Requests))
	}
	var sum specdec.Request
	seen := map[int]bool{}
	for _, r := range got.Requests {
		seen[r.Index] = true
		sum.Drafts += r.Drafts
		sum.DraftTokens += r.DraftTokens
		sum.Accepted += r.Accepted
	}
	if len(seen) != prompts || sum.Drafts != *got.NumDrafts || sum.DraftTokens != *got.NumDraftTokens || sum.Accepted != *got.NumAcceptedTokens {
		t.Errorf("the requests add up to %+v, the counters to %d drafts, %d tokens, %d accepted", sum, *got.NumDrafts, *got.NumDraftTokens, *got.NumAcceptedTokens)
	}
	truth := s.Stats()
	if want := float64(truth.GeneratedTokens-prompts) / float64(truth.DecodeSteps); got.TokensPerStep == nil || *got.TokensPerStep != want {
		t.Errorf("tokens_per_step = %v, want %v", got.TokensPerStep, want)
	}
}
