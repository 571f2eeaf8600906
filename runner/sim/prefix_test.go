package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

const (
	hitsTotal    = "vllm:prefix_cache_hits_total"
	queriesTotal = "vllm:prefix_cache_queries_total"
)

// The prompt has 8 + 112/4 = 36 tokens: two whole blocks.
func TestPrefixCache(t *testing.T) {
	t.Parallel()
	ask := func(extra string) string {
		return `{"model":"sim","max_tokens":4,"messages":[{"role":"user","content":"` + strings.Repeat("x", 112) + `"}]` + extra + `}`
	}
	r := start(t, Config{DevMode: true})
	for _, step := range []struct {
		name, extra   string
		reset         bool
		queried, hits float64 // in all, after it
	}{
		{name: "first", queried: 36, hits: 0},
		{name: "again", queried: 72, hits: 32},
		{name: "salted", extra: `,"cache_salt":"a"`, queried: 108, hits: 32},
		{name: "the same salt", extra: `,"cache_salt":"a"`, queried: 144, hits: 64},
		{name: "another salt", extra: `,"cache_salt":"b"`, queried: 180, hits: 64},
		{name: "after a reset", reset: true, queried: 216, hits: 64},
		{name: "again after it", queried: 252, hits: 96},
	} {
		if step.reset {
			a := post(t, r.URL()+"/reset_prefix_cache", "")
			if a.status != http.StatusOK || string(a.body) != `{"success":true}` {
				t.Fatalf("reset: %d %s", a.status, a.body)
			}
		}
		if a := chatWith(t, r.URL(), ask(step.extra)); a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", step.name, a.status, a.body)
		}
		got := scrape(t, r.URL())
		if got[queriesTotal] != step.queried || got[hitsTotal] != step.hits {
			t.Errorf("%s: %v of %v tokens hit, want %v of %v", step.name, got[hitsTotal], got[queriesTotal], step.hits, step.queried)
		}
	}
}

func TestResetNeedsDeveloperMode(t *testing.T) {
	t.Parallel()
	if a := post(t, start(t, Config{}).URL()+"/reset_prefix_cache", ""); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestCachePromptFalse(t *testing.T) {
	t.Parallel()
	r := start(t, llama(Config{}))
	for i, want := range []int{0, 32, 0} {
		extra := ""
		if i == 2 {
			extra = `,"cache_prompt":false`
		}
		a := chatWith(t, r.URL(), `{"model":"sim","max_tokens":4,"messages":[{"role":"user","content":"`+strings.Repeat("x", 112)+`"}]`+extra+`}`)
		var got struct {
			Usage struct {
				Details struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			} `json:"usage"`
		}
		if err := json.Unmarshal(a.body, &got); err != nil || got.Usage.Details.Cached != want {
			t.Errorf("request %d: %d cached tokens, want %d (%v)", i, got.Usage.Details.Cached, want, err)
		}
	}
}

func TestRequestDetails(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Accept: []float64{0.8, 0.6}, RequestDetails: true})
	a := chatWith(t, r.URL(), `{"model":"sim","messages":[{"role":"user","content":"x"}]}`)
	var got struct {
		Metrics struct {
			Spec struct {
				Steps    int64 `json:"num_spec_steps"`
				Drafted  int64 `json:"num_draft_tokens"`
				Accepted int64 `json:"num_accepted_draft_tokens"`
			} `json:"speculative_decoding"`
		} `json:"metrics"`
	}
	if err := json.Unmarshal(a.body, &got); err != nil {
		t.Fatal(err)
	}
	s := r.Stats()
	if g := got.Metrics.Spec; g.Steps == 0 || g.Steps != s.Drafts || g.Drafted != s.DraftTokens || g.Accepted != s.AcceptedTokens {
		t.Errorf("details %+v, truth %+v", g, s)
	}
}
