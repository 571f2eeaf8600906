// Package faulttest breaks a server on purpose, for tests: a handler in front of
// another one that makes a share of the chat requests fail in one of the ways that
// networks and servers fail, and counts what it did.
//
// It retries and measures nothing, and no program code may import it.
package faulttest

import (
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Kind is one way to fail.
type Kind string

// The ways to fail.
const (
	Latency     Kind = "latency"      // the answer comes, Options.Delay later
	Reset       Kind = "reset"        // the connection is reset before an answer
	HangUp      Kind = "hang_up"      // the connection is closed before an answer
	HalfBody    Kind = "half_body"    // a Content-Length, half of the body, the end
	Garbage     Kind = "garbage"      // a 200 that is no JSON
	Stall       Kind = "stall"        // no answer, until the client goes away
	Slow        Kind = "slow"         // the answer in small pieces
	TooMany     Kind = "too_many"     // 429 with Retry-After: 0
	ServerError Kind = "server_error" // 503
	BadRequest  Kind = "bad_request"  // 400, which no retry mends
)

// Options is what to break.
type Options struct {
	Share float64 // of the chat requests, 0 to 1
	Kinds []Kind  // in turn
	Seed  uint64  // of which requests are hit
	Delay time.Duration
}

// Handler is a server that fails. It is safe for concurrent use.
type Handler struct {
	next http.Handler
	o    Options

	mu     sync.Mutex
	rng    *rand.Rand
	hit    int
	counts map[Kind]int

	requests atomic.Int64
}

// New puts faults before a server.
func New(next http.Handler, o Options) *Handler {
	return &Handler{next: next, o: o, rng: rand.New(rand.NewPCG(o.Seed, 1)), counts: map[Kind]int{}}
}

// Counts is how often each fault has happened.
func (h *Handler) Counts() map[Kind]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[Kind]int{}
	for k, n := range h.counts {
		out[k] = n
	}
	return out
}

// Requests is how many chat requests have come, broken ones too.
func (h *Handler) Requests() int64 { return h.requests.Load() }

// draw is the fault that the next request gets; empty: none.
func (h *Handler) draw() Kind {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rng.Float64() >= h.o.Share || len(h.o.Kinds) == 0 {
		return ""
	}
	kind := h.o.Kinds[h.hit%len(h.o.Kinds)]
	h.hit++
	h.counts[kind]++
	return kind
}

// ServeHTTP answers, or does not.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		h.next.ServeHTTP(w, r)
		return
	}
	h.requests.Add(1)
	switch kind := h.draw(); kind {
	case "":
		h.next.ServeHTTP(w, r)
	case Latency:
		wait(r, h.o.Delay)
		h.next.ServeHTTP(w, r)
	case Slow:
		h.next.ServeHTTP(&dribble{ResponseWriter: w, r: r, pause: h.o.Delay}, r)
	case Stall:
		<-r.Context().Done()
	case Reset, HangUp, HalfBody:
		breakOff(w, kind)
	case Garbage:
		_, _ = w.Write([]byte("<html>gateway</html>"))
	case TooMany:
		w.Header().Set("Retry-After", "0")
		http.Error(w, `{"error":{"message":"rate limit"}}`, http.StatusTooManyRequests)
	case ServerError:
		http.Error(w, `{"error":{"message":"overloaded"}}`, http.StatusServiceUnavailable)
	case BadRequest:
		http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
	}
}

// breakOff takes the connection and ends it.
func breakOff(w http.ResponseWriter, kind Kind) {
	hj, ok := w.(http.Hijacker)
	if !ok {
		panic("faulttest: the server cannot hand over its connections")
	}
	c, _, err := hj.Hijack()
	if err != nil {
		return
	}
	switch kind {
	case Reset:
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // close sends RST
		}
	case HalfBody:
		_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"choices\":[{\"mess"))
	}
	_ = c.Close()
}

func wait(r *http.Request, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	}
}

// dribble sends an answer in pieces with pauses.
type dribble struct {
	http.ResponseWriter
	r     *http.Request
	pause time.Duration
}

// pieces is in how many an answer is sent.
const pieces = 4

func (d *dribble) Write(b []byte) (int, error) {
	n := 0
	size := max(1, len(b)/pieces)
	for len(b) > 0 {
		part := b[:min(size, len(b))]
		m, err := d.ResponseWriter.Write(part)
		n += m
		if err != nil {
			return n, err
		}
		_ = http.NewResponseController(d.ResponseWriter).Flush()
		b = b[len(part):]
		wait(d.r, d.pause)
	}
	return n, nil
}

// Unwrap is for http.ResponseController.
func (d *dribble) Unwrap() http.ResponseWriter { return d.ResponseWriter }
