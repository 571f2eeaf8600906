package sim

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"
)

// sglang answers as SGLang's HTTP server does.
type sglang struct{}

func (sglang) version() string { return "0.5.23" }

func (sglang) open(path string) bool { return path == "/health" }

// routes: /server_info came with 0.5.6; /get_server_info has stayed beside it.
func (sglang) routes(s *Server) []route {
	info := func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, serverInfo(s.c, s.counters))
	}
	routes := []route{
		{http.MethodGet, "/get_server_info", info},
		{http.MethodPost, "/flush_cache", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			if !s.counters.flush() {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, "Cache not flushed: there are pending requests.\n")
				return
			}
			s.forget()
			_, _ = io.WriteString(w, "Cache flushed.\n")
		}},
	}
	if s.c.Metrics {
		routes = append(routes, route{http.MethodGet, "/metrics", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			_, _ = io.WriteString(w, sglangMetrics(s.c, s.counters))
		}})
	}
	if since(s.c.Version, 6) {
		routes = append(routes, route{http.MethodGet, "/server_info", info})
	}
	return routes
}

// since tells whether a version is 0.5.patch or newer. One that is no number, such
// as a development build's, counts as new.
func since(version string, patch int) bool {
	var a, b, c int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &a, &b, &c); n < 3 {
		return true
	}
	return a > 0 || b > 5 || b == 5 && c >= patch
}

// flush is what /flush_cache does to the average; the prefix cache is emptied too. It is refused, false, while
// there are requests.
func (k *counters) flush() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.inFlight > 0 {
		return false
	}
	k.average = average{}
	return true
}

// serverInfo is the body of /server_info, cut down to the keys that say something
// about the model and its speculation.
func serverInfo(c Config, k *counters) map[string]any {
	k.mu.Lock()
	length, folded := k.average.value()
	k.mu.Unlock()

	settings := map[string]any{
		"model_path": c.Model, "served_model_name": c.Model, "tp_size": 1, "dp_size": 1,
		"decode_log_interval": foldEvery, "disaggregation_mode": "null",
		"speculative_algorithm": nil, "speculative_draft_model_path": nil,
		"speculative_num_steps": nil, "speculative_eagle_topk": nil, "speculative_num_draft_tokens": nil,
	}
	if !c.NoSpec {
		maps.Copy(settings, map[string]any{
			"speculative_algorithm": "EAGLE3", "speculative_draft_model_path": c.Model + "-drafter",
			"speculative_num_steps": c.positions(), "speculative_eagle_topk": 1,
			"speculative_num_draft_tokens": c.positions() + 1, // the root of the draft counts here
		})
	}
	state := map[string]any{"last_gen_throughput": 0.0}
	if since(c.Version, 6) { // older ones have no settings in their states
		maps.Copy(state, settings)
	}
	if folded {
		state["avg_spec_accept_length"] = length
	}
	info := maps.Clone(settings)
	info["version"] = c.Version
	info["internal_states"] = []any{state}
	return info
}

func (sglang) completion(conf Config, c completion) any {
	choice := map[string]any{
		"index":    0,
		"message":  map[string]any{"role": "assistant", "content": c.content, "reasoning_content": nil, "tool_calls": nil},
		"logprobs": nil, "finish_reason": c.reason, "matched_stop": nil,
	}
	answer := map[string]any{
		"id": c.id, "object": "chat.completion", "created": time.Now().Unix(), "model": c.model,
		"choices": []any{choice},
		"usage": map[string]any{
			"prompt_tokens": c.promptTokens, "total_tokens": c.promptTokens + c.tokens, "completion_tokens": c.tokens,
			"prompt_tokens_details": nil, "reasoning_tokens": 0,
		},
		"metadata": map[string]any{"weight_version": "default"},
	}
	if meta := c.metaInfo(conf); meta != nil {
		choice["meta_info"] = meta
	}
	if details := c.specDetails(conf); details != nil {
		answer["sglext"] = details
	}
	return answer
}

// metaInfo is a choice's meta_info; nil: not asked for, or too old a server.
func (c completion) metaInfo(conf Config) map[string]any {
	if !c.asks.MetaInfo || !since(conf.Version, 14) {
		return nil
	}
	meta := map[string]any{"id": c.id, "prompt_tokens": c.promptTokens, "completion_tokens": c.tokens}
	if !conf.NoSpec {
		maps.Copy(meta, c.drafts.counts(conf.positions()))
	}
	return meta
}

// specDetails is an answer's sglext; nil: not asked for, too old a server, or one
// without speculation.
func (c completion) specDetails(conf Config) map[string]any {
	if !c.asks.SpecTokensDetails || !since(conf.Version, 19) || conf.NoSpec {
		return nil
	}
	details := c.drafts.counts(conf.positions())
	maps.Copy(details, map[string]any{"spec_cap_length": 0.0, "spec_block_accept_length": 0.0, "spec_cap_lens_histogram": []int64{}})
	return map[string]any{"spec_tokens_details": details}
}

// refusal: SGLang's errors are flat, vLLM's stand under "error".
func (sglang) refusal(p *problem) any {
	return map[string]any{"object": "error", "message": p.message, "type": p.kind, "param": p.param, "code": p.status}
}
