package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// chatRequest is what of a request makes a difference here.
type chatRequest struct {
	Model     string          `json:"model"`
	Messages  json.RawMessage `json:"messages"`
	MaxTokens *int            `json:"max_tokens"`
	Stream    bool            `json:"stream"`
	IgnoreEOS bool            `json:"ignore_eos"`
}

// defaultMaxTokens holds where a request names none.
const defaultMaxTokens = 256

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	leave := s.enter()
	defer leave()
	req, status, problem := s.read(r)
	if problem != "" {
		s.refuse(w, status, problem)
		return
	}
	prompt := promptHash(req.Messages)
	s.mu.Lock()
	occurrence := s.came[prompt]
	s.came[prompt]++
	s.mu.Unlock()
	d := draws(s.c.Seed, prompt, occurrence)
	fails, drops := d.Float64() < s.c.FailRate, d.Float64() < s.c.DropRate
	if s.c.Latency > 0 {
		t := time.NewTimer(s.c.Latency)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			return
		case <-s.stopped:
			return
		}
	}
	if fails {
		s.count(func(k *counters) { k.failed++ })
		s.refuse(w, http.StatusInternalServerError, "simulated fault: the engine is out of luck")
		return
	}
	s.answer(w, r, req, prompt, d, drops)
}

// enter counts a request in, and out again.
func (s *Server) enter() (leave func()) {
	s.count(func(k *counters) {
		k.requests++
		k.inFlight++
		k.peak = max(k.peak, k.inFlight)
	})
	return func() { s.count(func(k *counters) { k.inFlight-- }) }
}

func (s *Server) count(f func(*counters)) {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	f(s.counters)
}

// read decodes and checks a request in the words of the real servers.
func (s *Server) read(r *http.Request) (chatRequest, int, string) {
	var req chatRequest
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return req, http.StatusBadRequest, "the request breaks off"
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return req, http.StatusBadRequest, "JSON decode error: " + err.Error()
	}
	var messages []json.RawMessage
	switch {
	case req.Model != s.c.Model:
		if s.c.Engine == "sglang" { // any name is served
			break
		}
		return req, http.StatusNotFound, fmt.Sprintf("The model `%s` does not exist. Valid aliases: %s.", req.Model, s.c.Model)
	case req.Stream:
		return req, http.StatusBadRequest, "this simulated server does not stream"
	}
	if json.Unmarshal(req.Messages, &messages) != nil || len(messages) == 0 {
		return req, http.StatusBadRequest, "messages must be a list with at least one message"
	}
	if req.MaxTokens == nil {
		n := defaultMaxTokens
		req.MaxTokens = &n
	}
	if *req.MaxTokens < 1 {
		return req, http.StatusBadRequest, fmt.Sprintf("max_tokens must be at least 1, got %d. (parameter=max_tokens, value=%d)", *req.MaxTokens, *req.MaxTokens)
	}
	return req, 0, ""
}

// refuse answers with an error in the engine's own shape.
func (s *Server) refuse(w http.ResponseWriter, status int, text string) {
	kind := map[int]string{http.StatusNotFound: "NotFoundError", http.StatusBadRequest: "BadRequestError"}[status]
	if kind == "" {
		kind = "InternalServerError"
	}
	if s.c.Engine == "sglang" {
		writeJSON(w, status, map[string]any{"object": "error", "message": text, "type": kind, "param": nil, "code": status})
		return
	}
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": status}})
}

// answer runs the request through the batch and writes the completion.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req chatRequest, prompt [32]byte, d *rand.Rand, drops bool) {
	want, reason := naturalLength(prompt), "stop"
	if req.IgnoreEOS || want > *req.MaxTokens {
		want, reason = *req.MaxTokens, "length"
	}
	promptTokens := len(req.Messages)/4 + 8
	j := &job{ctx: r.Context(), draws: d, want: want, done: make(chan struct{})}
	if !s.batch.answer(j, s.stopped) {
		return // the client or the server went away
	}
	text, err := json.Marshal(s.completion(req, want, promptTokens, reason))
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	// Counters are up to date before the client can have read its answer.
	s.count(func(k *counters) {
		k.answered++
		k.promptTokens += int64(promptTokens)
		k.decodeSteps += int64(j.steps)
		if reason == "stop" {
			k.stops++
		} else {
			k.lengths++
		}
		if drops {
			k.dropped++
		}
		if s.c.RestartAfter > 0 && k.answered%int64(s.c.RestartAfter) == 0 {
			k.restart(time.Now())
		}
	})
	if drops {
		_, _ = w.Write(text[:len(text)/2])
		panic(http.ErrAbortHandler) // net/http's way to close the connection here
	}
	_, _ = w.Write(text) // a client that went away is no fault of the server
}

func (s *Server) completion(req chatRequest, tokens, promptTokens int, reason string) map[string]any {
	message := map[string]any{"role": "assistant", "content": words(tokens)}
	choice := map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": reason}
	usage := map[string]any{
		"prompt_tokens": promptTokens, "completion_tokens": tokens, "total_tokens": promptTokens + tokens,
		"prompt_tokens_details": nil,
	}
	out := map[string]any{
		"id": "chatcmpl-simulated", "object": "chat.completion", "created": s.counters.created.Unix(),
		"model": s.c.Model, "choices": []any{choice}, "usage": usage,
	}
	if s.c.Engine == "sglang" {
		out["model"] = req.Model
		choice["matched_stop"] = nil
		usage["reasoning_tokens"] = 0
		out["metadata"] = map[string]any{"weight_version": "default"}
	} else {
		choice["stop_reason"] = nil
		usage["completion_tokens_details"] = nil
		out["metrics"] = nil
	}
	return out
}

// words is an answer's text, a word a token.
func words(n int) string {
	filler := strings.Fields("tokens come and go as drafts are checked and kept or thrown away")
	out := make([]string, n)
	for i := range out {
		out[i] = filler[i%len(filler)]
	}
	return strings.Join(out, " ")
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	owner := "vllm"
	if s.c.Engine == "sglang" {
		owner = "sglang"
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
		map[string]any{"id": s.c.Model, "object": "model", "owned_by": owner, "root": s.c.Model, "max_model_len": 32768},
	}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}
