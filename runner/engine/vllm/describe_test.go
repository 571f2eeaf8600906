package vllm

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/engine"
)

// What a server tells of itself: its version always, the drafter in developer
// mode (shape of vLLM 0.32).
func TestDescribeDrafter(t *testing.T) {
	for _, tc := range []struct {
		name, info string
		want       map[string]string
	}{
		{"developer mode", `{"vllm_config": {"model_config": {"model": "m"}, "speculative_config": {"num_speculative_tokens": 4, "model": "ngram", "method": "ngram"}}}`,
			map[string]string{"method": "ngram", "model": "ngram", "num_speculative_tokens": "4"}},
		{"developer mode without speculation", `{"vllm_config": {"speculative_config": null}}`, map[string]string{"speculative_config": "none"}},
		{"no such page", "", nil},
		{"something else", `{"hello": 1}`, nil},
		{"not JSON", "<html>", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"version":"0.32.0"}`)) })
			if tc.info != "" {
				mux.HandleFunc("GET /server_info", func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Query().Get("config_format") != "json" {
						http.Error(w, "as text", http.StatusOK)
						return
					}
					_, _ = w.Write([]byte(tc.info))
				})
			}
			s := httptest.NewServer(mux)
			defer s.Close()
			got, err := Engine{}.Describe(t.Context(), dial(t, s.URL))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(engine.Description{Version: "0.32.0", Spec: tc.want}, got); d != "" {
				t.Errorf("Describe (-want +got):\n%s", d)
			}
		})
	}
}
