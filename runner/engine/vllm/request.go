package vllm

import (
	"bytes"
	"encoding/json"

	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// details is what an answer says about its own drafts: the object at
// metrics.speculative_decoding, which vLLM adds from 0.28 on when it was started
// with --per-request-spec-decode-metrics summary or detailed
// (https://github.com/vllm-project/vllm/pull/48915). The detailed form has more
// fields beside these.
type details struct {
	Metrics struct {
		Speculative *struct {
			Steps       *int64 `json:"num_spec_steps"`
			DraftTokens *int64 `json:"num_draft_tokens"`
			Accepted    *int64 `json:"num_accepted_draft_tokens"`
		} `json:"speculative_decoding"`
	} `json:"metrics"`
}

// requestOf is the counts of one answer. An answer that has none, or some that
// contradict each other, is false.
func requestOf(c *openai.Completion) (specdec.Request, bool) {
	// Most servers do not tell: their answers are not decoded a second time.
	if !bytes.Contains(c.Body, []byte(`"speculative_decoding"`)) {
		return specdec.Request{}, false
	}
	var d details
	if err := json.Unmarshal(c.Body, &d); err != nil || d.Metrics.Speculative == nil {
		return specdec.Request{}, false
	}
	s := d.Metrics.Speculative
	if s.Steps == nil || s.DraftTokens == nil || s.Accepted == nil {
		return specdec.Request{}, false
	}
	r := specdec.Request{Index: c.Index, Drafts: *s.Steps, DraftTokens: *s.DraftTokens, Accepted: *s.Accepted}
	if r.Drafts < 0 || r.Accepted < 0 || r.Accepted > r.DraftTokens || r.Drafts == 0 && r.DraftTokens > 0 {
		return specdec.Request{}, false
	}
	return r, true
}
