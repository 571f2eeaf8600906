package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func llama(c Config) Config {
	c.Engine = "llamacpp"
	return c
}

func TestLlamaMetricsAsCaptured(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, file string
		c          Config
		chats      int
	}{
		{"before any traffic", "llamacpp_metrics_before.txt", Config{Accept: []float64{1, 1, 1, 1}}, 0},
		{"after it", "llamacpp_metrics_after.txt", Config{Accept: []float64{1, 1, 1, 1}}, 1},
		{"not speculating", "llamacpp_metrics_before.txt", Config{NoSpec: true}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.c.Metrics = true
			r := start(t, llama(tc.c))
			for range tc.chats {
				chatWith(t, r.URL(), `{"model":"sim","messages":[{"role":"user","content":"x"}]}`)
			}
			if d := cmp.Diff(series(fixture(t, tc.file)), series(get(t, r.URL()+"/metrics").body)); d != "" {
				t.Errorf("series (-captured +simulated):\n%s", d)
			}
		})
	}
}

// A server without --metrics refuses with a 501, an unknown route with a 404 of
// its own shape, and a wrong model name is ignored.
func TestLlamaManners(t *testing.T) {
	t.Parallel()
	r := start(t, llama(Config{Accept: []float64{0.8}}))
	if a := get(t, r.URL()+"/metrics"); a.status != http.StatusNotImplemented || !strings.Contains(string(a.body), "--metrics") {
		t.Errorf("/metrics: %d %s", a.status, a.body)
	}
	if a := get(t, r.URL()+"/nowhere"); a.status != http.StatusNotFound || !strings.Contains(string(a.body), `"not_found_error"`) {
		t.Errorf("an unknown route: %d %s", a.status, a.body)
	}
	if a := get(t, r.URL()+"/v1/chat/completions"); a.status != http.StatusNotFound {
		t.Errorf("a wrong method: %d %s", a.status, a.body)
	}
	if a := chatWith(t, r.URL(), `{"model":"another","messages":[{"role":"user","content":"x"}]}`); a.status != http.StatusOK {
		t.Errorf("a wrong model: %d %s", a.status, a.body)
	}
}

// timings tells predicted = prefill + drafts + accepted, which is how a real
// server counts: it drafts no further than the answer may go.
func TestLlamaTimingsAddUp(t *testing.T) {
	t.Parallel()
	r := start(t, llama(Config{Accept: []float64{0.9, 0.8, 0.7}}))
	a := chatWith(t, r.URL(), `{"model":"sim","max_tokens":50,"ignore_eos":true,"messages":[{"role":"user","content":"x"}]}`)
	var got struct {
		Timings struct {
			Predicted int64 `json:"predicted_n"`
			Drafted   int64 `json:"draft_n"`
			Accepted  int64 `json:"draft_n_accepted"`
		} `json:"timings"`
	}
	if err := json.Unmarshal(a.body, &got); err != nil {
		t.Fatal(err)
	}
	s := r.Stats()
	if g := got.Timings; g.Predicted != 50 || g.Drafted != s.DraftTokens || g.Accepted != s.AcceptedTokens || g.Predicted != 1+s.Drafts+g.Accepted {
		t.Errorf("timings %+v, truth %+v", g, s)
	}
}

// chatWith sends a body of the test's own.
func chatWith(t *testing.T, url, body string) answer {
	t.Helper()
	return post(t, url+"/v1/chat/completions", body)
}
