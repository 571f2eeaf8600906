package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// outcome is what became of a chat request; see Counters.
type outcome int

const (
	answered outcome = iota
	dropped
	failed
	refused
	aborted
	outcomes // how many there are
)

// reply is a decided answer.
type reply struct {
	outcome outcome
	status  int
	body    any
	tail    *tail // of a streamed answer, in place of status and body
}

// completion is an answer, before it is put into an engine's shape.
type completion struct {
	id           string
	model        string
	content      string
	reason       string
	promptTokens int
	cached       int // of promptTokens
	tokens       int
	drafts       jobDrafts
	asks         asks
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	s.counters.enter()
	a := s.reply(w, r)
	s.counters.leave(a.outcome)
	if a.tail != nil {
		a.tail.send()
		return
	}
	switch a.outcome {
	case aborted:
		// Returning would send an empty 200. This is net/http's way to close the
		// connection instead.
		panic(http.ErrAbortHandler)
	case dropped:
		breakOff(w, a)
	default:
		writeJSON(w, a.status, a.body)
	}
}

// reply decides on a request: refused, failed, or generated to its end. Of a streamed
// answer all but the tail is sent by then.
func (s *Server) reply(w http.ResponseWriter, r *http.Request) reply {
	if !s.serving.Load() {
		return s.refusal(refused, &problem{http.StatusServiceUnavailable, "ServiceUnavailableError", "the engine does not run: Serve was not called", nil})
	}
	req, p := readRequest(r, s.demanded())
	if p != nil {
		return s.refusal(refused, p)
	}
	n := s.occurrence(req.prompt)
	if s.c.Same {
		n = 0
	}
	d := draws(s.c.Seed, req.prompt, n)
	// Always drawn, so that a fault rate does not shift the draws that follow.
	fails, drops := d.Float64() < s.c.FailRate, d.Float64() < s.c.DropRate
	if s.c.Latency > 0 && !sleep(r.Context(), s.c.Latency) {
		return reply{outcome: aborted}
	}
	if fails {
		return s.refusal(failed, &problem{http.StatusInternalServerError, "InternalServerError", "simulated failure", nil})
	}
	j, c := s.prepare(r.Context(), req, d)
	c.id = fmt.Sprintf("chatcmpl-%x-%d", req.prompt[:8], n)
	if s.c.PrefillTime > 0 && !sleep(r.Context(), s.c.PrefillTime) {
		return reply{outcome: aborted}
	}
	if req.Streamed {
		return s.stream(w, j, c, drops)
	}
	if !s.batch.answer(j) { // the engine may still be at it
		return reply{outcome: aborted}
	}
	c.drafts = j.drafts
	a := reply{outcome: answered, status: http.StatusOK, body: s.dialect.completion(s.c, c)}
	if drops {
		a.outcome = dropped
	}
	return a
}

// prepare makes a request into a job for the engine, and the answer that it will have
// but for its drafts.
func (s *Server) prepare(ctx context.Context, req chatRequest, d *rand.Rand) (*job, completion) {
	want, reason := req.prompt.naturalLength(), reasonStop
	if req.IgnoreEOS || want > req.limit {
		want, reason = req.limit, reasonLength
	}
	c := completion{model: s.c.Model, content: req.prompt.answer(want), reason: reason, promptTokens: promptTokens(req.Messages), tokens: want}
	c.asks = req.asks
	c.cached = s.lookUp(&req, c.promptTokens)
	j := &job{gone: ctx.Done(), draws: d, rates: s.c.ratesFor(req.Messages), prompt: c.promptTokens, cached: c.cached, want: want, reason: reason, done: make(chan struct{})}
	return j, c
}

// sleep lets d pass; false: ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// occurrence is how often this prompt has come before.
func (s *Server) occurrence(p promptHash) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.seen[p]
	s.seen[p]++
	return n
}

func (s *Server) refusal(o outcome, p *problem) reply {
	return reply{outcome: o, status: p.status, body: s.dialect.refusal(p)}
}

// breakOff sends the headers and half of the body, and closes the connection.
func breakOff(w http.ResponseWriter, a reply) {
	text, err := json.Marshal(a.body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(a.status)
	_, _ = w.Write(text[:len(text)/2])
	// Unflushed, a short answer would be lost as a whole, headers included.
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// writeJSON answers with v. A client that does not take it is no fault of the
// server.
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
