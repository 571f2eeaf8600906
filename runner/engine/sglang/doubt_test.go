package sglang_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/sglang"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// Counts that an answer cannot have are not believed, however well they add up.
func TestImpossibleDetails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                      string
		verify, correct, proposed int
		want                      string // in a note on accept_length; empty: believed
	}{
		{"possible", 10, 15, 30, ""},
		{"more tokens a step than draft steps give", 8, 100, 200, "more than 3 draft steps can give"},
		{"more steps than tokens", 1000, 11, 3000, "none of 1 answers carries counts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/server_info" {
					http.NotFound(w, r)
					return
				}
				_, _ = io.WriteString(w, `{"version":"0.5.23","speculative_algorithm":"EAGLE3","speculative_num_steps":3,"internal_states":[{"speculative_num_steps":3}]}`)
			}))
			p := sglang.Engine{}.Begin(t.Context(), c, engine.Target{Sources: []specdec.Source{specdec.SourceRequest}})
			tokens := 26
			p.Observe(&openai.Completion{CompletionTokens: &tokens, Body: fmt.Appendf(nil,
				`{"choices":[{}],"sglext":{"spec_tokens_details":{"spec_verify_ct":%d,"spec_num_correct_drafts":%d,"spec_num_proposed_drafts":%d}}}`,
				tt.verify, tt.correct, tt.proposed)})
			s := p.End(t.Context())
			if (s.AcceptLength != nil) != (tt.want == "") {
				t.Errorf("accept_length %v", s.AcceptLength)
			}
			if note, _ := s.Reason(specdec.ColumnAcceptLength); tt.want != "" && !strings.Contains(note.Text, tt.want) {
				t.Errorf("reason %q, want %q", note.Text, tt.want)
			}
		})
	}
}

// A flush that is answered with success and leaves the average has not happened.
func TestResetWithoutEffect(t *testing.T) {
	t.Parallel()
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/server_info" {
			_, _ = io.WriteString(w, `{"version":"0.5.23","internal_states":[{"avg_spec_accept_length":2.9}]}`)
		}
	}))
	if err := (sglang.Engine{}).Reset(t.Context(), c); err == nil || !strings.Contains(err.Error(), "is still there") {
		t.Errorf("Reset = %v, want that the average is still there", err)
	}
}
