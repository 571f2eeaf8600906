package sim

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// vllm answers as vLLM 0.32's OpenAI server does.
type vllm struct{}

func (vllm) version() string { return "0.32.0" }

func (vllm) open(path string) bool { return !strings.HasPrefix(path, "/v1") }

func (vllm) routes(s *Server) []route {
	routes := []route{
		{http.MethodGet, "/version", func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, http.StatusOK, map[string]any{"version": s.c.Version})
		}},
		{http.MethodGet, "/metrics", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=1.0.0; charset=utf-8")
			_, _ = io.WriteString(w, vllmMetrics(s.c, s.counters))
		}},
	}
	if s.c.DevMode {
		routes = append(routes, route{http.MethodPost, "/reset_prefix_cache", s.resetPrefixCache})
	}
	return routes
}

func (vllm) completion(conf Config, c completion) any {
	var metrics any
	if conf.RequestDetails && !conf.NoSpec {
		metrics = map[string]any{"speculative_decoding": c.drafts.summary(conf.positions())}
	}
	return map[string]any{
		"id": c.id, "object": "chat.completion", "created": time.Now().Unix(), "model": c.model,
		"choices": []any{map[string]any{
			"index": 0,
			"message": map[string]any{
				"role": "assistant", "content": c.content, "refusal": nil, "annotations": nil,
				"audio": nil, "function_call": nil, "reasoning": nil,
			},
			"logprobs": nil, "finish_reason": c.reason, "stop_reason": nil, "token_ids": nil, "routed_experts": nil,
		}},
		"service_tier": nil, "system_fingerprint": "vllm-simulated",
		"usage": map[string]any{
			"prompt_tokens": c.promptTokens, "total_tokens": c.promptTokens + c.tokens, "completion_tokens": c.tokens,
			"prompt_tokens_details": nil, "completion_tokens_details": nil,
		},
		"prompt_logprobs": nil, "prompt_token_ids": nil, "prompt_text": nil,
		"kv_transfer_params": nil, "ec_transfer_params": nil, "metrics": metrics,
	}
}

func (vllm) refusal(p *problem) any {
	return map[string]any{"error": map[string]any{"message": p.message, "type": p.kind, "param": p.param, "code": p.status}}
}

// vllmMetrics is the body of /metrics: the counters that say something about
// speculation and load, under vLLM's names.
func vllmMetrics(c Config, k *counters) string {
	t, created := k.told()
	e := newExposition(c.Model, created)
	if !c.NoSpec { // without speculation these series do not exist at all
		e.counter("vllm:spec_decode_num_drafts", "Verify steps.", point{value: t.drafts})
		e.counter("vllm:spec_decode_num_draft_tokens", "Proposed tokens.", point{value: t.draftTokens})
		e.counter("vllm:spec_decode_num_accepted_tokens", "Accepted tokens.", point{value: t.accepted()})
		e.counter("vllm:spec_decode_num_accepted_tokens_per_pos", "Accepted tokens by position in the draft.", positions(t.perPos)...)
	}
	e.counter("vllm:prefix_cache_queries", "Tokens looked up in the prefix cache.", point{value: t.prompt})
	e.counter("vllm:prefix_cache_hits", "Tokens found in the prefix cache.", point{value: t.cached})
	e.counter("vllm:prompt_tokens", "Prompt tokens.", point{value: t.prompt})
	e.counter("vllm:generation_tokens", "Generated tokens.", point{value: t.generated})
	var finished []point
	for _, reason := range []string{reasonStop, reasonLength, reasonAbort, "error", "repetition"} {
		finished = append(finished, point{label("finished_reason", reason), t.finished[reason]})
	}
	e.counter("vllm:request_success", "Finished requests.", finished...)
	e.histogram("vllm:inter_token_latency_seconds", "Seconds a decode step of one request.", t.steps, t.stepTime)
	return e.String()
}

// summary is what an answer of vLLM tells of its drafts with
// --per-request-spec-decode-metrics summary.
func (d *jobDrafts) summary(positions int) map[string]any {
	histogram := d.histogram
	if histogram == nil {
		histogram = make([]int64, positions+1)
	}
	length, rate := 1.0, 0.0
	if d.verify > 0 {
		length += float64(d.correct) / float64(d.verify)
	}
	if d.proposed > 0 {
		rate = float64(d.correct) / float64(d.proposed)
	}
	return map[string]any{
		"mean_acceptance_length": length, "draft_acceptance_rate": rate, "acceptance_histogram": histogram,
		"num_spec_steps": d.verify, "num_accepted_draft_tokens": d.correct, "num_draft_tokens": d.proposed,
		"num_spec_tokens": positions,
	}
}
