package sim

import (
	"fmt"
	"math"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	draftsTotal   = "vllm:spec_decode_num_drafts_total"
	proposedTotal = "vllm:spec_decode_num_draft_tokens_total"
	acceptedTotal = "vllm:spec_decode_num_accepted_tokens_total"
)

func TestAcceptLengthFromMetrics(t *testing.T) {
	t.Parallel()
	for _, rates := range [][]float64{{0.8, 0.6, 0.4}, {0.3}, {1, 1}, {0.9, 0.9, 0.2, 0.1, 0}} {
		t.Run(fmt.Sprint(rates), func(t *testing.T) {
			t.Parallel()
			c := Config{Accept: rates, Seed: 1}
			r := start(t, c)
			load(t, r.URL(), 8, 4, 64) // traffic before the pass
			before := scrape(t, r.URL())
			load(t, r.URL(), 64, 8, 64)
			after := scrape(t, r.URL())
			diff := func(name string) float64 { return after[name] - before[name] }

			if got, want := 1+diff(acceptedTotal)/diff(draftsTotal), c.AcceptLength(); math.Abs(got/want-1) > 0.03 {
				t.Errorf("accept_length %v, want %v within 3 %%", got, want)
			}
			if got, want := diff(proposedTotal), diff(draftsTotal)*float64(len(rates)); got != want {
				t.Errorf("%v draft tokens, want %v", got, want)
			}
			if got := diff("vllm:generation_tokens_total"); got != 64*64 {
				t.Errorf("%v tokens, want %v", got, 64*64)
			}
			// Every step drafts here, so both ways to count steps agree.
			if got := diff("vllm:inter_token_latency_seconds_count"); got != diff(draftsTotal) {
				t.Errorf("%v decode steps beside %v drafts", got, diff(draftsTotal))
			}
			if got := diff("vllm:request_success_total"); got != 64 {
				t.Errorf("%v requests, want 64", got)
			}
		})
	}
}

// truth is what a run must repeat; peak and connections depend on the machine.
func truth(r *Running) Counters {
	c := r.Stats()
	c.PeakInFlight, c.Connections = 0, 0
	return c
}

func TestRunsRepeat(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, seed uint64, concurrency int) Counters {
		r := start(t, Config{Accept: []float64{0.8, 0.6, 0.4}, Seed: seed})
		load(t, r.URL(), 32, concurrency, 50)
		load(t, r.URL(), 32, concurrency, 50) // each prompt's second occurrence
		return truth(r)
	}
	want := run(t, 1, 1)
	for _, concurrency := range []int{1, 3, 16} {
		if d := cmp.Diff(want, run(t, 1, concurrency)); d != "" {
			t.Errorf("same seed at concurrency %d (-want +got):\n%s", concurrency, d)
		}
	}
	if other := run(t, 2, 1); other.AcceptedTokens == want.AcceptedTokens && other.Drafts == want.Drafts {
		t.Errorf("another seed gives the same run: %+v", other)
	}
}

func TestRepeatsDiffer(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Accept: []float64{0.5, 0.4}, Seed: 1})
	load(t, r.URL(), 16, 4, 64)
	first := r.Stats()
	load(t, r.URL(), 16, 4, 64)
	second := r.Stats()
	if second.AcceptedTokens-first.AcceptedTokens == first.AcceptedTokens && second.Drafts-first.Drafts == first.Drafts {
		t.Errorf("the second pass over the same prompts drew the same: %+v, then %+v", first, second)
	}
	if second.GeneratedTokens != 2*first.GeneratedTokens {
		t.Errorf("%d tokens in both passes, want twice %d", second.GeneratedTokens, first.GeneratedTokens)
	}
}

// Accepted tokens that the end cuts off are counted, emitted or not.
func TestCutOffTokensAreCounted(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Accept: []float64{1, 1, 1, 1}})
	load(t, r.URL(), 1, 1, 3) // one from the prefill, one step of up to five
	got := r.Stats()
	want := Counters{
		Requests: 1, Answered: 1, PeakInFlight: 1, Connections: 1,
		Drafts: 1, DraftTokens: 4, AcceptedTokens: 4, AcceptedPerPosition: []int64{1, 1, 1, 1},
		GeneratedTokens: 3, DecodeSteps: 1,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("counters (-want +got):\n%s", d)
	}
}

func TestAnswerLength(t *testing.T) {
	t.Parallel()
	const messages = `[{"role":"user","content":"how long is a piece of string"}]`
	natural := hashPrompt([]byte(messages)).naturalLength()
	for _, tc := range []struct {
		name, fields string
		tokens       int
		reason       string
	}{
		{"no limit", ``, natural, "stop"},
		{"limit above", fmt.Sprintf(`,"max_tokens":%d`, natural+1), natural, "stop"},
		{"limit met", fmt.Sprintf(`,"max_tokens":%d`, natural), natural, "stop"},
		{"limit below", fmt.Sprintf(`,"max_tokens":%d`, natural-1), natural - 1, "length"},
		{"one token", `,"max_tokens":1`, 1, "length"},
		{"ignore_eos", `,"max_tokens":400,"ignore_eos":true`, 400, "length"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			contents := map[string]string{}
			for name, c := range map[string]Config{
				"drafter":  {Accept: []float64{0.9, 0.8}, Seed: 1},
				"baseline": {NoSpec: true, Seed: 2},
				"sglang":   {Engine: "sglang", Accept: []float64{0.5}},
			} {
				a := post(t, start(t, c).URL()+"/v1/chat/completions", `{"model":"sim","messages":`+messages+tc.fields+`}`)
				if a.status != http.StatusOK {
					t.Fatalf("%s: status %d: %s", name, a.status, a.body)
				}
				v := decode(t, a.body)
				choice := v["choices"].([]any)[0].(map[string]any)
				usage := v["usage"].(map[string]any)
				if usage["completion_tokens"] != float64(tc.tokens) || choice["finish_reason"] != tc.reason {
					t.Errorf("%s: %v tokens, %v; want %d, %s", name, usage["completion_tokens"], choice["finish_reason"], tc.tokens, tc.reason)
				}
				if usage["total_tokens"] != usage["prompt_tokens"].(float64)+float64(tc.tokens) {
					t.Errorf("%s: usage does not add up: %v", name, usage)
				}
				contents[name] = choice["message"].(map[string]any)["content"].(string)
			}
			if contents["drafter"] != contents["baseline"] || contents["drafter"] != contents["sglang"] {
				t.Errorf("the same prompt has several answers: %q", contents)
			}
		})
	}
}
