package sim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a server on in-memory connections, which work under the simulated
// clock of a synctest bubble, where sockets do not.
type pipes struct {
	server *Server
	client *http.Client
	dial   func() (net.Conn, error)
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// serveOnPipe serves for the time of the test and wants Serve to end well.
func serveOnPipe(t *testing.T, c Config) *pipes {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	p := &pipes{server: s, conns: make(chan net.Conn), closed: make(chan struct{})}
	p.dial = func() (net.Conn, error) {
		mine, theirs := net.Pipe()
		select {
		case p.conns <- theirs:
			return mine, nil
		case <-p.closed:
			return nil, net.ErrClosed
		}
	}
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial() }}
	p.client = &http.Client{Transport: tr}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, p) }()
	t.Cleanup(func() {
		cancel()
		tr.CloseIdleConnections()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return p
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		c    Config
		want time.Duration
	}{
		{"default", Config{}, 5 * time.Second},
		{"set", Config{IdleTimeout: time.Minute}, time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn, err := serveOnPipe(t, tc.c).dial()
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				if _, err := fmt.Fprint(conn, "GET /health HTTP/1.1\r\nHost: sim\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				r := bufio.NewReader(conn)
				res, err := http.ReadResponse(r, nil)
				if err != nil || res.StatusCode != http.StatusOK || res.Close {
					t.Fatalf("response %v, error %v, want a 200 that keeps the connection", res, err)
				}
				_ = res.Body.Close()
				idle := time.Now()
				if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
					t.Errorf("error %v, want the connection closed", err)
				}
				if got := time.Since(idle); got != tc.want {
					t.Errorf("closed after %v, want %v", got, tc.want)
				}
			})
		})
	}
}

// The clients' concurrency is what the server sees, exactly, and one connection a
// client is enough.
func TestPeakInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := serveOnPipe(t, Config{StepTime: time.Millisecond})
		var wg sync.WaitGroup
		tr := p.client.Transport.(*http.Transport)
		tr.MaxIdleConnsPerHost = 8
		for w := range 8 {
			wg.Go(func() {
				for i := range 5 {
					req := request(t, http.MethodPost, "http://sim/v1/chat/completions", chatBody(fmt.Sprint(w, i), 20))
					if a := send(t, p.client, req); a.status != http.StatusOK {
						t.Errorf("status %d, error %v", a.status, a.err)
					}
				}
			})
		}
		wg.Wait()
		if k := p.server.Stats(); k.PeakInFlight != 8 || k.InFlight != 0 || k.Answered != 40 || k.Connections != 8 {
			t.Errorf("counters %+v, want a peak of 8, none left, 40 answered over 8 connections", k)
		}
	})
}

// A request is out of the count before the first byte of its answer: whoever has
// read that may send the next one.
func TestLeavesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, {DropRate: 1}} {
		synctest.Test(t, func(t *testing.T) {
			p := serveOnPipe(t, c)
			conn, err := p.dial()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			writeChat(t, conn, 3000) // more than is buffered: the server waits for its reader
			if _, err := conn.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if k := p.server.Stats(); k.InFlight != 0 || k.Answered+k.Dropped != 1 {
				t.Errorf("drop rate %v: counters %+v, want the request decided", c.DropRate, k)
			}
		})
	}
}

// writeChat sends a request as bytes.
func writeChat(t *testing.T, w io.Writer, tokens int) {
	t.Helper()
	body := chatBody(1, tokens)
	_, err := fmt.Fprintf(w, "POST /v1/chat/completions HTTP/1.1\r\nHost: sim\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if err != nil {
		t.Fatal(err)
	}
}

// net/http does not notice that a connection has ended while a second request
// waits on it, so the server must end the first by itself.
func TestCloseEndsPipelinedRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Latency: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, p) }()
		mine, theirs := net.Pipe()
		defer func() { _ = mine.Close() }()
		p.conns <- theirs
		writeChat(t, mine, 5)
		synctest.Wait()
		if _, err := mine.Write([]byte("P")); err != nil { // the second one begins
			t.Fatal(err)
		}
		begin := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("Serve ended %v after its context", took)
		}
	})
}

// Closing a server ends requests in flight, with no answer rather than an empty one.
func TestCloseEndsRequests(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		c    Config
	}{
		{"generating", Config{StepTime: time.Hour}},
		{"waiting", Config{Latency: time.Hour}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, err := New(tc.c)
				if err != nil {
					t.Fatal(err)
				}
				p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.Serve(ctx, p) }()
				mine, theirs := net.Pipe()
				p.conns <- theirs
				tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return mine, nil }}
				defer tr.CloseIdleConnections()
				time.AfterFunc(time.Minute, cancel)
				a := send(t, &http.Client{Transport: tr}, request(t, http.MethodPost, "http://sim/v1/chat/completions", chatBody(1, 100)))
				if a.err == nil {
					t.Errorf("status %d, body %q, want no answer", a.status, a.body)
				}
				if err := <-done; err != nil {
					t.Errorf("Serve: %v", err)
				}
				if k := s.Stats(); k.Aborted != 1 || k.InFlight != 0 {
					t.Errorf("counters %+v, want the request aborted before Serve returned", k)
				}
			})
		})
	}
}

func TestServeEndsWithItsListener(t *testing.T) {
	t.Parallel()
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("Serve on a closed listener: %v, want an error that names %s", err, l.Addr())
	}
	if err := s.Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), "called before") {
		t.Errorf("second Serve: %v, want it refused", err)
	}
}

func TestListenErrors(t *testing.T) {
	t.Parallel()
	r := start(t, Config{})
	for _, tc := range []struct {
		name string
		c    Config
		addr string
		want string
	}{
		{"bad config", Config{Engine: "x"}, "127.0.0.1:0", "unknown engine"},
		{"address in use", Config{}, strings.TrimPrefix(r.URL(), "http://"), strings.TrimPrefix(r.URL(), "http://")},
		{"no address", Config{}, "nowhere", "nowhere"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, err := Listen(tc.c, tc.addr)
			if err == nil {
				_ = s.Close()
				t.Fatal("Listen has no error")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q, want it to hold %q", err, tc.want)
			}
		})
	}
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	r, err := Listen(Config{}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	load(t, r.URL(), 4, 2, 10)
	for range 2 {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if a := get(t, r.URL()+"/health"); a.err == nil {
		t.Errorf("a closed server answers with %d", a.status)
	}
	if k := r.Stats(); k.Answered != 4 {
		t.Errorf("counters after Close: %+v, want 4 answered", k)
	}
}
