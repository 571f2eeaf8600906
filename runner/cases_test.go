package runner_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/sim"
	"github.com/specsweep/specsweep/runner/specdec"
)

const completion = `{"model":"toy-target","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":40}}`

// scripted is a server that is made of answers: to chat by number, to /metrics by
// number of the scrape, to /v1/models by number of the look.
type scripted struct {
	chat, metrics, models func(n int64, w http.ResponseWriter)
	chats, scrapes, looks atomic.Int64
}

func (s *scripted) start(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	handle := func(path string, n *atomic.Int64, f func(int64, http.ResponseWriter), otherwise string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			if f == nil {
				_, _ = w.Write([]byte(otherwise))
				return
			}
			f(n.Add(1), w)
		})
	}
	handle("/v1/chat/completions", &s.chats, s.chat, completion)
	handle("/metrics", &s.scrapes, s.metrics, "vllm:generation_tokens_total{model_name=\"toy-target\"} 1.0\n")
	handle("/v1/models", &s.looks, s.models, `{"data":[{"id":"toy-target"}]}`)
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/version", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"version":"0.32.0"}`)) })
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// oneServer is a plan with one server and n prompts, one in flight, without a warm-up.
func oneServer(t *testing.T, url string, n int, more string) string {
	return fmt.Sprintf("engine: vllm\nservers: [{name: a, server: %s}]\ndatasets: [{name: d, input_data: %s, prompt_column: prompt}]\n"+
		"num_prompts: %d\nconcurrency: 1\nwarmup_prompts: 0\n%s\n", url, promptsFile(t, n), n, more)
}

// H01: an answer without a token count is completed, adds nothing, and marks the
// throughput that it makes too low.
func TestCaseH01UsageMissing(t *testing.T) {
	srv := &scripted{chat: func(n int64, w http.ResponseWriter) {
		if n == 2 {
			_, _ = w.Write([]byte(`{"model":"toy-target","choices":[{"message":{"content":"ok"}}]}`))
			return
		}
		_, _ = w.Write([]byte(completion))
	}}
	s := &sink{}
	if err := sweep(t.Context(), t, oneServer(t, srv.start(t), 4, ""), s); err != nil {
		t.Fatal(err)
	}
	r := s.rows[0]
	if *r.OutputTokens != 120 || *r.UsageMissing != 1 || *r.Completed != 4 {
		t.Errorf("output_tokens %d, usage_missing %d, completed %d; want 120, 1, 4", *r.OutputTokens, *r.UsageMissing, *r.Completed)
	}
	if !r.Warnings.On("output_throughput_tok_s") || !strings.Contains(r.Warnings.String(), "throughput understated: 1 of 4 answers had no token count") {
		t.Errorf("warnings %s, want a mark on the throughput", r.Warnings)
	}
	if *r.MeanOutputTokens != 40 {
		t.Errorf("mean_output_tokens = %v, want 40: of the answers that tell", *r.MeanOutputTokens)
	}
}

// M07: the first scrape failed, so the server's whole history is only shown as
// what it is.
func TestCaseM07FirstScrapeFailed(t *testing.T) {
	srv := &scripted{metrics: func(n int64, w http.ResponseWriter) {
		if n <= 2 { // the look at the prefix cache, and the one at the drafts
			http.Error(w, "warming up", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("vllm:spec_decode_num_drafts_total{engine=\"0\",model_name=\"toy-target\"} 9000.0\n" +
			"vllm:spec_decode_num_draft_tokens_total{engine=\"0\",model_name=\"toy-target\"} 27000.0\n" +
			"vllm:spec_decode_num_accepted_tokens_total{engine=\"0\",model_name=\"toy-target\"} 21600.0\n"))
	}}
	s := &sink{}
	if err := sweep(t.Context(), t, oneServer(t, srv.start(t), 2, ""), s); err != nil {
		t.Fatal(err)
	}
	r := s.rows[0]
	if r.AcceptSource != "cumulative" || r.AcceptLength == nil || *r.AcceptLength != 3.4 {
		t.Errorf("accept_length %v from %q, want 3.4 from cumulative", r.AcceptLength, r.AcceptSource)
	}
	if !r.Warnings.On("accept_length") || !strings.Contains(r.Warnings.String(), "503") {
		t.Errorf("warnings %s, want a mark that names the failed scrape", r.Warnings)
	}
}

// H12: a server that lists no model yet is waited for, outside the clock.
func TestCaseH12StillLoading(t *testing.T) {
	srv := &scripted{models: func(n int64, w http.ResponseWriter) {
		if n <= 2 {
			_, _ = w.Write([]byte(`{"object":"list","data":[]}`))
			return
		}
		_, _ = w.Write([]byte(`{"data":[{"id":"toy-target"}]}`))
	}}
	s := &sink{}
	if err := sweep(t.Context(), t, oneServer(t, srv.start(t), 4, ""), s); err != nil {
		t.Fatal(err)
	}
	if r := s.rows[0]; !r.OK() || *r.Completed != 4 || *r.Failed != 0 || r.Model != "toy-target" {
		t.Errorf("row %+v, want 4 completed", r)
	}

	never := &scripted{models: func(_ int64, w http.ResponseWriter) { _, _ = w.Write([]byte(`{"data":[]}`)) }}
	s = &sink{}
	if err := sweep(t.Context(), t, oneServer(t, never.start(t), 4, "server_wait_s: 0.05"), s); err != nil {
		t.Fatal(err)
	}
	if r := s.rows[0]; !strings.Contains(r.Error, "not ready after") || never.chats.Load() != 0 {
		t.Errorf("error %q after %d requests, want not ready after … and none", r.Error, never.chats.Load())
	}
}

// A baseline that accepts drafts is none, and a baseline of another engine is
// compared with a mark.
func TestBaselineThatIsNone(t *testing.T) {
	counts := func(n int64, w http.ResponseWriter) {
		_, _ = fmt.Fprintf(w, "vllm:spec_decode_num_drafts_total %d\nvllm:spec_decode_num_draft_tokens_total %d\nvllm:spec_decode_num_accepted_tokens_total %d\n",
			10*n, 30*n, 20*n)
	}
	a, b := &scripted{metrics: counts}, &scripted{metrics: counts}
	s := &sink{}
	if err := sweep(t.Context(), t, oneServer(t, a.start(t), 2, "baseline_server: "+b.start(t)), s); err != nil {
		t.Fatal(err)
	}
	if r := s.rows[0]; r.Speedup != nil || r.BaselineThroughputTokS == nil || !r.Warnings.On("speedup") ||
		!strings.Contains(r.Warnings.String(), "baseline_speculates: the baseline server speculates itself (10 drafts in its pass)") {
		t.Errorf("speedup %v, warnings %s; want n/a: the baseline speculates", r.Speedup, r.Warnings)
	}

	s = &sink{}
	other := fmt.Sprintf("baseline_server: {server: %s, engine: sglang}", b.start(t))
	if err := sweep(t.Context(), t, oneServer(t, a.start(t), 2, other), s); err != nil {
		t.Fatal(err)
	}
	if r := s.rows[0]; r.Speedup == nil || !strings.Contains(r.Warnings.String(), "baseline_engine: the baseline runs on another engine (sglang against vllm)") ||
		!strings.Contains(r.Warnings.String(), "baseline_speculation_unknown: ") {
		t.Errorf("speedup %v, warnings %s; want the other engine named, and that nothing is known of its speculation", r.Speedup, r.Warnings)
	}
}

// Two servers without speculation are no news about a drafter.
func TestServerThatDoesNotSpeculate(t *testing.T) {
	a, b := &scripted{}, &scripted{}
	s := &sink{}
	if err := sweep(t.Context(), t, oneServer(t, a.start(t), 2, "baseline_server: "+b.start(t)), s); err != nil {
		t.Fatal(err)
	}
	if r := s.rows[0]; r.Speedup == nil || !r.Warnings.On("speedup") || !strings.Contains(r.Warnings.String(), "server_does_not_speculate") {
		t.Errorf("speedup %v, warnings %s; want a mark: the server does not speculate", r.Speedup, r.Warnings)
	}
}

// More tokens than were asked for are doubted, not believed.
func TestTokensBeyondTheLimit(t *testing.T) {
	a, b := &scripted{}, &scripted{}
	s := &sink{}
	if err := sweep(t.Context(), t, oneServer(t, a.start(t), 2, "max_new_tokens: 16\nbaseline_server: "+b.start(t)), s); err != nil {
		t.Fatal(err)
	}
	r := s.rows[0]
	if !r.Warnings.On("output_throughput_tok_s") || !r.Warnings.On("baseline_throughput_tok_s") ||
		!strings.Contains(r.Warnings.String(), "2 of 2 answers report more tokens than max_new_tokens 16") {
		t.Errorf("warnings %s, want both throughputs doubted", r.Warnings)
	}
}

// Two servers of a plan at one URL are one server: its average blends them.
func TestSharedURLIsContaminated(t *testing.T) {
	url := simServer(t, sim.Config{Engine: "sglang", Model: "m", Accept: []float64{0.8, 0.6}})
	s := &sink{}
	err := sweep(t.Context(), t, fmt.Sprintf("engine: sglang\nservers: [{name: a, server: %s}, {name: b, server: %s/v1/}]\n"+
		"datasets: [{name: d, input_data: %s, prompt_column: prompt}]\nnum_prompts: 4\nconcurrency: 1\n"+
		"warmup_prompts: 0\nprefix_cache: as_is\naccept_sources: [cumulative]\n", url, url, promptsFile(t, 4)), s)
	if err != nil {
		t.Fatal(err)
	}
	blended := func(r result.Row) bool { return strings.Contains(r.Warnings.String(), specdec.CodeContaminated+": ") }
	if blended(s.rows[0]) || !blended(s.rows[1]) || !s.rows[1].Warnings.On("accept_length") {
		t.Errorf("warnings %s and %s, want only the second row's average marked", s.rows[0].Warnings, s.rows[1].Warnings)
	}
}

// A warm-up that failed leaves its mark on the pass that follows.
func TestFailedWarmUp(t *testing.T) {
	srv := &scripted{chat: func(n int64, w http.ResponseWriter) {
		if n <= 2 { // the warm-up's: 2 for each slot
			http.Error(w, "not yet", http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte(completion))
	}}
	s := &sink{}
	err := sweep(t.Context(), t, fmt.Sprintf("engine: vllm\nservers: [{name: a, server: %s}]\nmax_retries: 0\n"+
		"datasets: [{name: d, input_data: %s, prompt_column: prompt}]\nnum_prompts: 4\nconcurrency: 1\n", srv.start(t), promptsFile(t, 4)), s)
	if err != nil {
		t.Fatal(err)
	}
	r := s.rows[0]
	if !r.OK() || *r.Failed != 0 || !r.Warnings.On("output_throughput_tok_s") ||
		!strings.Contains(r.Warnings.String(), "warmup_failed: 2 of 2 requests of the warm-up failed (HTTP 500: not yet)") {
		t.Errorf("failed %d, warnings %s; want a good pass with the warm-up's failure marked", *r.Failed, r.Warnings)
	}
}

// A server that does not know the field that keeps the cache cold: the error says
// where it came from and what leaves it out.
func TestRefusedSalt(t *testing.T) {
	srv := &scripted{chat: func(_ int64, w http.ResponseWriter) {
		http.Error(w, `{"error": {"message": "unknown field cache_salt"}}`, http.StatusBadRequest)
	}}
	s := &sink{}
	if err := sweep(t.Context(), t, oneServer(t, srv.start(t), 2, ""), s); err != nil {
		t.Fatal(err)
	}
	if r := s.rows[0]; !strings.Contains(r.Error, "unknown field cache_salt") || !strings.Contains(r.Error, "prefix_cache: as_is leaves it out") {
		t.Errorf("error %q, want the server's words and what to do", r.Error)
	}
}
