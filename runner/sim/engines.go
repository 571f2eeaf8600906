package sim

import (
	"fmt"
	"net/http"
	"strings"
)

func (s *Server) vllmRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"version": s.c.Version})
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=1.0.0; charset=utf-8")
		_, _ = w.Write([]byte(s.metrics()))
	})
}

// metrics is the exposition of vLLM's own counters, names and labels as vLLM
// 0.32 has them.
func (s *Server) metrics() string {
	k := s.counters
	k.mu.Lock()
	defer k.mu.Unlock()
	var b strings.Builder
	labels := fmt.Sprintf(`engine="0",model_name=%q`, s.c.Model)
	sample := func(name, extra string, v int64) { fmt.Fprintf(&b, "%s{%s%s} %d.0\n", name, labels, extra, v) }
	head := func(name, kind string) { fmt.Fprintf(&b, "# HELP %s simulated\n# TYPE %s %s\n", name, name, kind) }
	counter := func(name string, v int64) {
		head(name+"_total", "counter")
		sample(name+"_total", "", v)
		head(name+"_created", "gauge")
		fmt.Fprintf(&b, "%s_created{%s} %.9e\n", name, labels, float64(k.created.UnixNano())/1e9)
	}
	counter("vllm:generation_tokens", k.generated)
	counter("vllm:prompt_tokens", k.promptTokens)
	counter("vllm:prefix_cache_queries", k.promptTokens)
	counter("vllm:prefix_cache_hits", 0)
	head("vllm:request_success_total", "counter")
	for _, r := range []struct {
		reason string
		n      int64
	}{{"stop", k.stops}, {"length", k.lengths}, {"abort", k.aborted}} {
		sample("vllm:request_success_total", fmt.Sprintf(`,finished_reason=%q`, r.reason), r.n)
	}
	head("vllm:inter_token_latency_seconds", "histogram")
	sample("vllm:inter_token_latency_seconds_bucket", `,le="+Inf"`, k.decodeSteps)
	sample("vllm:inter_token_latency_seconds_sum", "", 0)
	sample("vllm:inter_token_latency_seconds_count", "", k.decodeSteps)
	if s.c.NoSpec {
		return b.String() // without speculation there are no such series at all
	}
	counter("vllm:spec_decode_num_drafts", k.drafts)
	counter("vllm:spec_decode_num_draft_tokens", k.draftTokens)
	counter("vllm:spec_decode_num_accepted_tokens", k.accepted)
	head("vllm:spec_decode_num_accepted_tokens_per_pos_total", "counter")
	for i, n := range k.perPos {
		sample("vllm:spec_decode_num_accepted_tokens_per_pos_total", fmt.Sprintf(`,position="%d"`, i), n)
	}
	return b.String()
}

func (s *Server) sglangRoutes(mux *http.ServeMux) {
	info := func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.serverInfo()) }
	mux.HandleFunc("GET /get_server_info", info)
	if s.newInfo() {
		mux.HandleFunc("GET /server_info", info)
	}
	mux.HandleFunc("POST /flush_cache", func(w http.ResponseWriter, _ *http.Request) {
		k := s.counters
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.inFlight > 0 {
			http.Error(w, "Flush cache failed: there are pending requests.", http.StatusBadRequest)
			return
		}
		k.flush()
		_, _ = w.Write([]byte("Cache flushed.\nPlease check backend logs for more details. (When there are running or waiting requests, the operation will not be performed.)\n"))
	})
}

// newInfo tells whether this version has /server_info, which came with 0.5.6.
func (s *Server) newInfo() bool {
	var major, minor, patch int
	if n, _ := fmt.Sscanf(s.c.Version, "%d.%d.%d", &major, &minor, &patch); n < 3 {
		return true
	}
	return major > 0 || minor > 5 || minor == 5 && patch >= 6
}

// serverInfo has the keys of SGLang's answer that a client can learn something
// of.
func (s *Server) serverInfo() map[string]any {
	k := s.counters
	k.mu.Lock()
	defer k.mu.Unlock()
	state := map[string]any{"last_gen_throughput": 0.0}
	info := map[string]any{
		"served_model_name": s.c.Model, "version": s.c.Version, "tp_size": 1, "dp_size": 1,
		"speculative_algorithm": nil, "speculative_num_steps": nil, "speculative_eagle_topk": nil, "speculative_num_draft_tokens": nil,
		"internal_states": []any{state},
	}
	if s.c.NoSpec {
		return info
	}
	for key, v := range map[string]any{
		"speculative_algorithm": "EAGLE3", "speculative_num_steps": len(s.c.Accept),
		"speculative_eagle_topk": 1, "speculative_num_draft_tokens": len(s.c.Accept) + 1,
		"speculative_draft_model_path": "simulated",
	} {
		info[key] = v
		state[key] = v
	}
	// Absent until the first fold, as after a start or a flush.
	if k.averageVerified > 0 {
		state["avg_spec_accept_length"] = float64(k.averageTokens) / float64(k.averageVerified)
	}
	return info
}
