package vllm

import (
	"testing"

	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

const (
	summary = `{"choices":[{}],"metrics":{"speculative_decoding":{"mean_acceptance_length":1.23,"draft_acceptance_rate":0.0775,` +
		`"acceptance_histogram":[39,1,0,3],"num_spec_steps":43,"num_accepted_draft_tokens":10,"num_draft_tokens":129,"num_spec_tokens":3}}}`
	idle = `{"metrics":{"speculative_decoding":{"num_spec_steps":0,"num_accepted_draft_tokens":0,"num_draft_tokens":0}}}`
)

func TestRequestOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       specdec.Request
		ok         bool
	}{
		{"summary", summary, specdec.Request{Index: 7, Drafts: 43, DraftTokens: 129, Accepted: 10}, true},
		{"detailed", `{"metrics":{"speculative_decoding":{"num_spec_steps":2,"num_accepted_draft_tokens":1,"num_draft_tokens":6,"per_step_accepted":[1,0],"per_step_drafted":[3,3]}}}`,
			specdec.Request{Index: 7, Drafts: 2, DraftTokens: 6, Accepted: 1}, true},
		{"nothing drafted", idle, specdec.Request{Index: 7}, true},
		{"off", `{"metrics":null}`, specdec.Request{}, false},
		{"only other metrics", `{"metrics":{"speculative_decoding":null,"ttft":1}}`, specdec.Request{}, false},
		{"a part is missing", `{"metrics":{"speculative_decoding":{"num_spec_steps":2,"num_draft_tokens":6}}}`, specdec.Request{}, false},
		{"negative", `{"metrics":{"speculative_decoding":{"num_spec_steps":-2,"num_accepted_draft_tokens":0,"num_draft_tokens":6}}}`, specdec.Request{}, false},
		{"more accepted than drafted", `{"metrics":{"speculative_decoding":{"num_spec_steps":2,"num_accepted_draft_tokens":7,"num_draft_tokens":6}}}`, specdec.Request{}, false},
		{"tokens in no draft", `{"metrics":{"speculative_decoding":{"num_spec_steps":0,"num_accepted_draft_tokens":0,"num_draft_tokens":6}}}`, specdec.Request{}, false},
		{"the words in a text", `{"choices":[{"message":{"content":"\"speculative_decoding\""}}]}`, specdec.Request{}, false},
		{"another type", `{"metrics":{"speculative_decoding":[1]}}`, specdec.Request{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := requestOf(&openai.Completion{Index: 7, Body: []byte(tt.body)})
			if got != tt.want || ok != tt.ok {
				t.Errorf("%+v, %v; want %+v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func FuzzRequestOf(f *testing.F) {
	f.Add([]byte(summary))
	f.Add([]byte(idle))
	f.Add([]byte(`"speculative_decoding"`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, ok := requestOf(&openai.Completion{Body: body})
		if !ok && r != (specdec.Request{}) {
			t.Fatalf("refused, but %+v", r)
		}
		if ok && (r.Drafts < 0 || r.Accepted < 0 || r.Accepted > r.DraftTokens) {
			t.Fatalf("taken: %+v", r)
		}
	})
}
