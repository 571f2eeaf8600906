// Package faulttest breaks a server on purpose, for tests: a handler in front of
// another one that makes a share of the chat requests fail in one of the ways that
// networks and servers fail, and counts what it did.
//
// It retries and measures nothing, and no program code may import it.
package faulttest

import (
	"bytes"
	"fmt"
	"io"
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

	// Of requests that stream:
	StreamCut   Kind = "stream_cut"   // one event, then the connection is reset
	StreamStall Kind = "stream_stall" // one event, then nothing, until the client goes away
)

// Kinds is every way to fail, in the order above.
func Kinds() []Kind {
	return []Kind{
		Latency, Reset, HangUp, HalfBody, Garbage, Stall, Slow, TooMany, ServerError, BadRequest,
		StreamCut, StreamStall,
	}
}

// Harmless tells the faults after which the answer still comes.
func (k Kind) Harmless() bool { return k == Latency || k == Slow }

// Final tells the faults that no further attempt mends.
func (k Kind) Final() bool { return k == BadRequest }

// Stalls tells the faults that only the client's own patience ends.
func (k Kind) Stalls() bool { return k == Stall || k == StreamStall }

// Streams tells the faults that only a streamed answer can have.
func (k Kind) Streams() bool { return k == StreamCut || k == StreamStall }

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
	// A server learns that its client has gone away only when it has read the request.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
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
	case StreamStall:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(event))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case Reset, HangUp, HalfBody, StreamCut:
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

// event is the beginning of a streamed answer.
const event = `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n"

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
	case StreamCut:
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(event), event)
		reset(c)
	case Reset:
		reset(c)
	case HalfBody:
		_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"choices\":[{\"mess"))
	}
	_ = c.Close()
}

// reset makes the coming close send RST.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
}

func wait(r *http.Request, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	}
}
