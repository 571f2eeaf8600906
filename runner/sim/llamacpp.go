package sim

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// llamacpp answers as llama.cpp's llama-server does.
type llamacpp struct{}

func (llamacpp) version() string { return "b6900-simulated" }

func (llamacpp) open(path string) bool {
	return path == "/health" || path == "/v1/models"
}

func (l llamacpp) routes(s *Server) []route {
	return []route{
		{http.MethodGet, "/props", func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, http.StatusOK, map[string]any{
				"total_slots": llamaSlots, "model_alias": s.c.Model, "model_ftype": "Q4_K - Medium",
				"model_path": "/models/" + s.c.Model + ".gguf", "build_info": s.c.Version,
				"endpoint_slots": true, "endpoint_props": true, "endpoint_metrics": s.c.Metrics, "is_sleeping": false,
			})
		}},
		{http.MethodGet, "/slots", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, slots(s.c)) }},
		{http.MethodGet, "/metrics", func(w http.ResponseWriter, _ *http.Request) {
			if !s.c.Metrics {
				p := &problem{http.StatusNotImplemented, "not_supported_error", "This server does not support metrics endpoint. Start it with `--metrics`", nil}
				writeJSON(w, p.status, l.refusal(p))
				return
			}
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			_, _ = io.WriteString(w, llamaMetrics(s.counters))
		}},
	}
}

// noRoute is a 404 for a wrong method too.
func (l llamacpp) noRoute(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusNotFound, l.refusal(&problem{http.StatusNotFound, "not_found_error", "File Not Found", nil}))
}

// demanded is the model that a request must name; empty: llama-server serves what
// it has, whatever is asked for.
func (s *Server) demanded() string {
	if s.c.Engine == "llamacpp" {
		return ""
	}
	return s.c.Model
}

// llamaSlots is how many slots /props and /slots tell of. The batch takes more
// all the same: a real server would let the others wait.
const llamaSlots = 4

// slots is the body of /slots, cut down to what tells about speculation.
func slots(c Config) []any {
	types := "none"
	if !c.NoSpec {
		types = "none,draft-simple"
	}
	list := make([]any, llamaSlots)
	for i := range list {
		list[i] = map[string]any{
			"id": i, "speculative": !c.NoSpec, "is_processing": false,
			"params": map[string]any{"speculative.types": types},
		}
	}
	return list
}

func (llamacpp) completion(_ Config, c completion) any {
	return map[string]any{
		"id": c.id, "object": "chat.completion", "created": time.Now().Unix(), "model": c.model, "system_fingerprint": "simulated",
		"choices": []any{map[string]any{
			"finish_reason": c.reason, "index": 0, "message": map[string]any{"role": "assistant", "content": c.content},
		}},
		"usage": map[string]any{
			"prompt_tokens": c.promptTokens, "total_tokens": c.promptTokens + c.tokens, "completion_tokens": c.tokens,
			"prompt_tokens_details": map[string]any{"cached_tokens": c.cached},
		},
		"timings": c.timings(),
	}
}

func (c completion) timings() map[string]any {
	timings := map[string]any{
		"cache_n": c.cached, "prompt_n": c.promptTokens - c.cached, "predicted_n": c.tokens,
	}
	if c.drafts.proposed > 0 { // left out otherwise
		timings["draft_n"], timings["draft_n_accepted"] = c.drafts.proposed, c.drafts.correct
	}
	return timings
}

func (llamacpp) refusal(p *problem) any {
	kind := p.kind
	if p.status == http.StatusBadRequest {
		kind = "invalid_request_error"
	}
	return map[string]any{"error": map[string]any{"code": p.status, "message": p.message, "type": kind}}
}

// llamaMetrics is the body of /metrics: the counters that say something about
// speculation and load. They stand at 0 without speculation, have no labels and no
// _created; those by position come with the first accepted token.
func llamaMetrics(k *counters) string {
	t, _ := k.told()
	var b strings.Builder
	head := func(name, help string) {
		fmt.Fprintf(&b, "# HELP llamacpp:%s %s\n# TYPE llamacpp:%s counter\n", name, help, name)
	}
	for _, m := range []struct {
		name, help string
		value      int64
	}{
		{"prompt_tokens_total", "Prompt tokens, without cached ones.", t.prompt - t.cached},
		{"prompt_tokens_cached_total", "Prompt tokens found in the cache.", t.cached},
		{"tokens_predicted_total", "Generated tokens.", t.generated},
		{"spec_decode_num_draft_tokens_total", "Proposed tokens.", t.draftTokens},
		{"spec_decode_num_accepted_tokens_total", "Accepted tokens.", t.accepted()},
		{"spec_decode_num_drafts_total", "Verify steps.", t.drafts},
	} {
		head(m.name, m.help)
		fmt.Fprintf(&b, "llamacpp:%s %d\n", m.name, m.value)
	}
	if t.accepted() > 0 {
		const name = "spec_decode_num_accepted_tokens_per_pos_total"
		head(name, "Accepted tokens by position in the draft.")
		for i, n := range t.perPos {
			fmt.Fprintf(&b, "llamacpp:%s{position=\"%d\"} %d\n", name, i, n)
		}
	}
	return b.String()
}
