package vllm_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/vllm"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// The drafts of another model on the same server are not this model's, even when
// that is the only one that drafts.
func TestDraftsOfAnotherModel(t *testing.T) {
	t.Parallel()
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n++
		for _, name := range []string{"num_drafts", "num_draft_tokens", "num_accepted_tokens"} {
			_, _ = fmt.Fprintf(w, "vllm:spec_decode_%s_total{engine=\"0\",model_name=\"other\"} %d.0\n", name, 10*n)
		}
		for _, model := range []string{"m", "other"} {
			_, _ = fmt.Fprintf(w, "vllm:generation_tokens_total{engine=\"0\",model_name=%q} %d.0\n", model, 100*n)
		}
	}))
	defer s.Close()
	p := vllm.Engine{}.Begin(t.Context(), client(t, s.URL), engine.Target{Model: "m"})
	p.Observe(&openai.Completion{Model: "m"})
	st := p.End(t.Context())
	note, _ := st.Reason(specdec.ColumnAcceptLength)
	if st.AcceptLength != nil || note.Code != specdec.CodeModelNotFound || !strings.Contains(note.Text, "of the models other; the answers came from m") {
		t.Errorf("accept_length %v, reason %+v; want n/a: the counters are another model's", st.AcceptLength, note)
	}
}
