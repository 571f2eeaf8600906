package runner_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/specdec"
)

// streamer answers with chunks of two tokens each, where a stream is asked for, and
// whole otherwise.
type streamer struct {
	chunks int
	fail   bool // every request gets a 400
	thinks bool // a stream begins with a thought

	mu     sync.Mutex
	bodies []string
}

func (s *streamer) chat(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	var body struct{ Stream bool }
	err := json.NewDecoder(r.Body).Decode(&raw)
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil || s.fail {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, string(raw))
	s.mu.Unlock()
	usage := fmt.Sprintf(`"usage":{"prompt_tokens":3,"completion_tokens":%d}`, 2*s.chunks)
	if !body.Stream {
		fmt.Fprintf(w, `{"model":"m","choices":[{"message":{"content":%q},"finish_reason":"stop"}],%s}`, strings.Repeat("a b ", s.chunks), usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	fmt.Fprint(w, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n")
	if s.thinks {
		fmt.Fprint(w, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm \"}}]}\n\n")
	}
	for range s.chunks {
		fmt.Fprint(w, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a b \"}}]}\n\n")
		_ = out.Flush()
	}
	fmt.Fprintf(w, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"model\":\"m\",\"choices\":[],%s}\n\ndata: [DONE]\n\n", usage)
}

func (s *streamer) start(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", s.chat)
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`)) })
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// streamSweep carries out a plan of the bare engine after a change.
func streamSweep(t *testing.T, e bare, text string, change func(*plan.Plan, []plan.Run)) *sink {
	t.Helper()
	s := &sink{}
	if err := sweepChanged(t.Context(), t, engine.NewRegistry(e), "engine: bare\n"+text, s, change); err != nil {
		t.Fatal(err)
	}
	return s
}

// A streamed run has every latency of both sides, and its answers are compared as
// whole ones are.
func TestStreamedRun(t *testing.T) {
	a, b := &streamer{chunks: 4}, &streamer{chunks: 4}
	s := streamSweep(t, bare{}, pairOf(t, a.start(t), b.start(t), "warmup_prompts: 0"), func(p *plan.Plan, _ []plan.Run) {
		p.Stream, p.SLO = true, plan.SLO{E2EMs: new(60000.0), TTFTMs: new(60000.0)}
	})
	r := s.rows[0]
	if !r.OK() {
		t.Fatal(r.Error)
	}
	for name, v := range map[string]*float64{
		"ttft_p50_ms": r.TTFTP50Ms, "tpot_mean_ms": r.TPOTMeanMs, "icl_p99_ms": r.ICLP99Ms, "e2e_latency_p90_ms": r.E2ELatencyP90Ms,
		"baseline_ttft_p50_ms": r.BaselineTTFTP50Ms, "baseline_tpot_mean_ms": r.BaselineTPOTMeanMs, "baseline_icl_p99_ms": r.BaselineICLP99Ms,
		"baseline_e2e_latency_p90_ms": r.BaselineE2ELatencyP90Ms, "tpot_speedup": r.TPOTSpeedup,
		"client_cpu_share": r.ClientCPUShare, "client_gc_pause_ms": r.ClientGCPauseMs,
	} {
		if v == nil && !r.Warnings.On(name) {
			t.Errorf("%s is missing: %s", name, r.Warnings)
		}
	}
	if r.TTFTMeanMs == nil || r.E2ELatencyMeanMs == nil || *r.TTFTMeanMs > *r.E2ELatencyMeanMs {
		t.Errorf("ttft %v, e2e %v", r.TTFTMeanMs, r.E2ELatencyMeanMs)
	}
	for name, v := range map[string]*float64{"goodput": r.Goodput, "baseline_goodput": r.BaselineGoodput, "output_match": r.OutputMatch} {
		if v == nil || *v != 1 {
			t.Errorf("%s = %v, want 1", name, v)
		}
	}
	if r.RequestRate != nil || r.LatenessP99Ms != nil {
		t.Errorf("a closed loop has request_rate %v, lateness %v", r.RequestRate, r.LatenessP99Ms)
	}
	if len(s.saved) > 0 {
		t.Errorf("%d requests saved although nobody asked", len(s.saved))
	}
}

// A run that is not streamed has e2e latencies only, and no noise about the others.
func TestLatencyWithoutStreaming(t *testing.T) {
	a, b := &streamer{chunks: 4}, &streamer{chunks: 4}
	s := streamSweep(t, bare{}, pairOf(t, a.start(t), b.start(t), "warmup_prompts: 0"), func(*plan.Plan, []plan.Run) {})
	r := s.rows[0]
	if r.E2ELatencyP50Ms == nil || r.BaselineE2ELatencyP50Ms == nil || r.TTFTMeanMs != nil || r.TPOTSpeedup != nil || r.Goodput != nil {
		t.Errorf("e2e %v and %v, ttft %v, tpot_speedup %v, goodput %v", r.E2ELatencyP50Ms, r.BaselineE2ELatencyP50Ms, r.TTFTMeanMs, r.TPOTSpeedup, r.Goodput)
	}
	for _, column := range []string{"ttft_p50_ms", "tpot_speedup", "goodput"} {
		if r.Warnings.On(column) {
			t.Errorf("a warning on %s: %s", column, r.Warnings)
		}
	}
	if strings.Contains(a.bodies[0], "stream") {
		t.Errorf("body %s", a.bodies[0])
	}
}

// Every request is saved before its run's other lines, a shared baseline's once.
func TestSavedRequests(t *testing.T) {
	e := bare{specdec.Stats{Source: specdec.SourceRequest, Requests: []specdec.Request{{Index: 1, Drafts: 4, DraftTokens: 12, Accepted: 7}, {Index: 0}, {Index: 2, Drafts: 1}}}}
	base, a, b := &streamer{chunks: 2}, &streamer{chunks: 3}, &streamer{chunks: 3}
	text := fmt.Sprintf("baseline_server: %s\nservers: [{name: a, server: %s}, {name: b, server: %s}]\nnum_prompts: 3\nwarmup_prompts: 0\n"+
		"datasets: [{name: d, input_data: %s, prompt_column: prompt}]\n", base.start(t), a.start(t), b.start(t), promptsFile(t, 3))
	for _, texts := range []bool{false, true} {
		s := streamSweep(t, e, text, func(p *plan.Plan, _ []plan.Run) { p.SaveRequests, p.SaveOutputs = !texts, texts })
		var order []string
		for _, r := range s.rows {
			order = append(order, "saved "+r.RunID, "requests "+r.RunID, "row "+r.RunID)
		}
		if diff := cmp.Diff(order, s.order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		count := map[string]int{}
		for _, q := range s.saved {
			count[q.Side]++
			if q.Status != result.StatusOK || q.PromptHash == "" || q.Tokens == nil || q.FinishReason != "stop" || q.E2ELatencyMs <= 0 || q.TTFTMs != nil || q.StartedAt.IsZero() {
				t.Errorf("saved %+v", q)
			}
			if (q.Text != nil) != texts || texts && !strings.HasPrefix(*q.Text, "a b a b") {
				t.Errorf("text %v, asked for: %v", q.Text, texts)
			}
			if q.Side == result.SideServer && q.Prompt == 1 && (q.Drafts == nil || *q.Drafts != 4 || *q.DraftTokens != 12 || *q.Accepted != 7) {
				t.Errorf("drafts of prompt 1: %+v", q)
			}
		}
		if count[result.SideServer] != 6 || count[result.SideBaseline] != 3 {
			t.Errorf("saved %v, want 3 of each server and 3 of the baseline that they share", count)
		}
	}
}

// The turns of a streamed conversation hold the answers before them, and their lines
// the number of the turn.
func TestStreamedTurns(t *testing.T) {
	data := filepath.Join(t.TempDir(), "turns.jsonl")
	if err := os.WriteFile(data, []byte(`{"prompt": ["one", "two"]}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e := bare{specdec.Stats{Source: specdec.SourceRequest, Requests: []specdec.Request{{Index: 0, Drafts: 1}, {Index: 0, Drafts: 2}}}}
	a := &streamer{chunks: 2}
	s := streamSweep(t, e, fmt.Sprintf("servers: [{name: a, server: %s}]\nnum_prompts: 1\nconcurrency: 1\nwarmup_prompts: 0\n"+
		"datasets: [{name: d, input_data: %s, prompt_column: prompt, turns: all}]\n", a.start(t), data),
		func(p *plan.Plan, _ []plan.Run) { p.Stream, p.SaveRequests = true, true })
	if len(a.bodies) != 2 || !strings.Contains(a.bodies[1], `{"role":"assistant","content":"a b a b "}`) {
		t.Errorf("bodies %q", a.bodies)
	}
	if len(s.requests) != 2 || s.requests[0].Turn != 0 || s.requests[1].Turn != 1 {
		t.Errorf("requests %+v", s.requests)
	}
	if len(s.saved) != 2 || s.saved[1].Turn != 1 || s.saved[1].TTFTMs == nil || s.saved[1].Drafts == nil || *s.saved[1].Drafts != 2 {
		t.Errorf("saved %+v", s.saved)
	}
}

// What a model thinks is no part of the conversation, and nothing needs to be saved for
// it to go on.
func TestStreamedTurnsWithThoughts(t *testing.T) {
	data := filepath.Join(t.TempDir(), "turns.jsonl")
	if err := os.WriteFile(data, []byte(`{"prompt": ["one", "two", "three"]}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a := &streamer{chunks: 1, thinks: true}
	s := streamSweep(t, bare{}, fmt.Sprintf("servers: [{name: a, server: %s}]\nnum_prompts: 1\nconcurrency: 1\nwarmup_prompts: 0\ntemperature: 1.0\n"+
		"datasets: [{name: d, input_data: %s, prompt_column: prompt, turns: all}]\n", a.start(t), data),
		func(p *plan.Plan, _ []plan.Run) { p.Stream = true })
	if r := s.rows[0]; !r.OK() || len(a.bodies) != 3 {
		t.Fatalf("error %q, %d requests, want 3", r.Error, len(a.bodies))
	}
	said := `{"role":"assistant","content":"a b "}`
	if last := a.bodies[2]; strings.Count(last, said) != 2 || strings.Contains(last, "hm") {
		t.Errorf("last request %s, want twice %s", last, said)
	}
}

// At a rate the row says so, and speedup gives way to latencies.
func TestRunAtARate(t *testing.T) {
	a, b := &streamer{chunks: 2}, &streamer{chunks: 2}
	s := streamSweep(t, bare{}, pairOf(t, a.start(t), b.start(t), "warmup_prompts: 0"), func(p *plan.Plan, runs []plan.Run) {
		p.Arrivals, p.SaveRequests = plan.ArrivalsConstant, true
		runs[0].RequestRate = 20
	})
	r := s.rows[0]
	if r.RequestRate == nil || *r.RequestRate != 20 || r.LatenessP99Ms == nil || r.Error != "" {
		t.Fatalf("request_rate %v, lateness_p99_ms %v, error %q", r.RequestRate, r.LatenessP99Ms, r.Error)
	}
	if r.Speedup == nil && !r.Warnings.On("speedup") {
		t.Errorf("speedup is missing without a reason: %s", r.Warnings)
	}
	due := map[string][]float64{}
	for _, q := range s.saved {
		due[q.Side] = append(due[q.Side], q.DueS)
	}
	if !slices.Equal(due[result.SideServer], due[result.SideBaseline]) || len(due[result.SideServer]) != 3 {
		t.Fatalf("due %v, want the same on both sides", due)
	}
	for i, at := range due[result.SideServer][1:] {
		if gap := at - due[result.SideServer][i]; math.Abs(gap-0.05) > 1e-6 {
			t.Errorf("due %v, want 50 ms between", due[result.SideServer])
		}
	}
}

// A pass that is given up is an error row that keeps its counts.
func TestAbortedRun(t *testing.T) {
	a := &streamer{fail: true}
	text := fmt.Sprintf("servers: [{name: a, server: %s}]\nnum_prompts: 20\nconcurrency: 1\nwarmup_prompts: 0\n"+
		"datasets: [{name: d, input_data: %s, prompt_column: prompt}]\n", a.start(t), promptsFile(t, 20))
	s := streamSweep(t, bare{}, text, func(p *plan.Plan, _ []plan.Run) { p.AbortAfterFailures = 3 })
	r := s.rows[0]
	if !strings.Contains(r.Error, "abort_after_failures") || r.Failed == nil || *r.Failed < 3 || *r.Failed > 4 {
		t.Errorf("error %q, failed %v; want 3 failures and the limit named", r.Error, r.Failed)
	}
}

// A pass that takes longer than the plan allows is one as well.
func TestRunTooLong(t *testing.T) {
	hang := make(chan struct{})
	a := &streamer{chunks: 1}
	mux := http.NewServeMux()
	answered := 0
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			_, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`))
			return
		}
		if answered++; answered > 2 { // one request at a time
			select {
			case <-hang:
			case <-r.Context().Done():
			}
			return
		}
		a.chat(w, r)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(hang) })
	text := fmt.Sprintf("servers: [{name: a, server: %s}]\nnum_prompts: 5\nconcurrency: 1\nwarmup_prompts: 0\n"+
		"datasets: [{name: d, input_data: %s, prompt_column: prompt}]\n", srv.URL, promptsFile(t, 5))
	s := streamSweep(t, bare{}, text, func(p *plan.Plan, _ []plan.Run) { p.MaxRunDuration = 300 * time.Millisecond })
	r := s.rows[0]
	if !strings.Contains(r.Error, "max_duration_s") || r.Completed == nil || *r.Completed != 2 {
		t.Errorf("error %q, completed %v; want 2 answers and the limit named", r.Error, r.Completed)
	}
}
