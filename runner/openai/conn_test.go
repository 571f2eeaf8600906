package openai

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

// answer writes one whole answer that says nothing about closing the connection.
func writeAnswer(w io.Writer) {
	_, _ = fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(good), good)
}

// reset closes with a RST instead of a FIN.
func reset(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }

// A server closes connections that were idle for some seconds. The request that
// meets such a close on its way costs neither a failure nor a retry, whether the
// client hears of it before, while or after it writes.
func TestIdleConnectionClosedByServer(t *testing.T) {
	for _, tt := range []struct {
		name   string
		second func(conn net.Conn, r *bufio.Reader) // after the first answer on a connection
	}{
		{"at once", func(net.Conn, *bufio.Reader) {}},
		{"at once, with a reset", func(conn net.Conn, _ *bufio.Reader) { reset(conn) }},
		{"while the next request is written", func(_ net.Conn, r *bufio.Reader) { _, _ = r.ReadByte() }},
		{"while the next request is written, with a reset", func(conn net.Conn, r *bufio.Reader) { _, _ = r.ReadByte(); reset(conn) }},
		{"after the next request has come", func(_ net.Conn, r *bufio.Reader) { _ = readRequest(r) }},
		{"after the next request has come, with a reset", func(conn net.Conn, r *bufio.Reader) { _ = readRequest(r); reset(conn) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := serveRaw(t, func(_ int, conn net.Conn, r *bufio.Reader) {
				if readRequest(r) == nil {
					writeAnswer(conn)
					tt.second(conn, r)
				}
			})
			c, k := newClient(t, Options{URL: url, MaxRetries: 3})
			large := []byte(`{"messages":"` + strings.Repeat("x", 1<<20) + `"}`) // more than a socket buffer holds
			for i := range 20 {
				body := []byte(request)
				if i%2 == 1 {
					body = large
				}
				if got := c.Chat(t.Context(), body); got.Err != nil || got.Retries != 0 {
					t.Fatalf("request %d: %d retries, error %v", i, got.Retries, got.Err)
				}
				if _, err := c.Get(t.Context(), "/metrics"); err != nil {
					t.Fatalf("GET %d: %v", i, err)
				}
				if _, err := c.Post(t.Context(), "/flush_cache", nil); err != nil {
					t.Fatalf("POST %d: %v", i, err)
				}
			}
			if len(k.waits) != 0 {
				t.Errorf("%d waits, want none", len(k.waits))
			}
		})
	}
}

// A connection that breaks long after the send was not idle: the server has
// worked on the request. That is an attempt that failed, and is counted.
func TestConnectionBreaksLate(t *testing.T) {
	var requests atomic.Int64
	url := serveRaw(t, func(_ int, conn net.Conn, r *bufio.Reader) {
		for readRequest(r) == nil {
			if requests.Add(1) == 2 {
				return
			}
			writeAnswer(conn)
		}
	})
	c, k := newClient(t, Options{URL: url, MaxRetries: 3})
	c.stale = 0 // every break is a late one
	if got := c.Chat(t.Context(), []byte(request)); got.Err != nil {
		t.Fatal(got.Err)
	}
	got := c.Chat(t.Context(), []byte(request))
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	checkWaits(t, k, got, time.Second)
	if n := requests.Load(); n != 3 {
		t.Errorf("the server saw %d requests, want 3", n)
	}
}

// A connection that breaks without an answer on its first request is a failed
// attempt.
func TestNewConnectionHungUp(t *testing.T) {
	var requests atomic.Int64
	url := serveRaw(t, func(_ int, _ net.Conn, r *bufio.Reader) {
		if readRequest(r) == nil {
			requests.Add(1)
		}
	})
	c, k := newClient(t, Options{URL: url, MaxRetries: 1})
	got := c.Chat(t.Context(), []byte(request))
	want := "POST " + url + "/v1/chat/completions: the server closed the connection without an answer: unexpected EOF"
	if errText(got.Err) != want || Kind(got.Err) != "unexpected EOF" {
		t.Errorf("Chat() error = %v\nwant %s", got.Err, want)
	}
	checkWaits(t, k, got, time.Second)
	if n := requests.Load(); n != 2 {
		t.Errorf("the server saw %d requests, want 2", n)
	}
}

func TestConnectionRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	c, k := newClient(t, Options{URL: "http://user:pa55word@" + addr, MaxRetries: 2})
	got := c.Chat(t.Context(), []byte(request))
	want := "POST http://" + addr + "/v1/chat/completions: dial tcp " + addr + ": connect: connection refused"
	if errText(got.Err) != want {
		t.Errorf("Chat() error = %v\nwant %s", got.Err, want)
	}
	if kind := Kind(got.Err); kind != "dial: connect: connection refused" {
		t.Errorf("Kind() = %q", kind)
	}
	checkWaits(t, k, got, time.Second, 2*time.Second)
}

// Ours is the side that lets go of idle connections first, uvicorn's 5 s in mind.
func TestIdleTimeoutBelowServers(t *testing.T) {
	tr, err := transport(Options{MaxConns: 16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := tr.IdleConnTimeout; d <= 0 || d > 4500*time.Millisecond {
		t.Errorf("IdleConnTimeout = %s, want a bit below 5 s", d)
	}
	if tr.MaxIdleConnsPerHost != 16 || tr.MaxIdleConns != 0 || tr.MaxConnsPerHost != 0 {
		t.Errorf("limits %d, %d, %d; want 16 idle and no others", tr.MaxIdleConnsPerHost, tr.MaxIdleConns, tr.MaxConnsPerHost)
	}
}

// No variable of the environment changes where requests go.
func TestNoProxyFromEnvironment(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	if tr, err := transport(Options{}, nil); err != nil || tr.Proxy != nil {
		t.Error("the transport asks for a proxy")
	}
}

func TestHTTP1Only(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			t.Errorf("the server saw %s", r.Proto)
		}
		always(200, good)(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	c, _ := newClient(t, Options{URL: s.URL, TLS: TLS{CAFile: caFile(t, s)}})
	if got := c.Chat(t.Context(), []byte(request)); got.Err != nil {
		t.Error(got.Err)
	}
}

// Answers are read to their end, so that connections are used again; that goes
// for refusals, too.
func TestConnectionsAreReused(t *testing.T) {
	for _, tt := range []struct {
		name string
		h    http.HandlerFunc
	}{
		{"answers", always(200, good)},
		{"refusals", always(404, `{"error":"`+strings.Repeat("no ", 1000)+`"}`)},
		{"chunks", func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, good)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var conns atomic.Int64
			s := httptest.NewUnstartedServer(tt.h)
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					conns.Add(1)
				}
			}
			s.Start()
			t.Cleanup(s.Close)
			c, _ := newClient(t, Options{URL: s.URL})
			for range 50 {
				c.Chat(t.Context(), []byte(request))
			}
			if n := conns.Load(); n != 1 {
				t.Errorf("%d connections for 50 requests one after the other, want 1", n)
			}
		})
	}
}
