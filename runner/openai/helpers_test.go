package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	request = `{"model":"toy-target","messages":[{"role":"user","content":"hi"}]}`
	good    = `{"model":"toy-target","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":8}}`
)

// clock is a time that stands still but for the waits of the client under test,
// which it records.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Wait(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)
	c.now = c.now.Add(d)
	return ctx.Err()
}

// newClient is a client whose waits take no time.
func newClient(t *testing.T, o Options) (*Client, *clock) {
	t.Helper()
	k := newClock()
	if o.Wait == nil {
		o.Wait = k.Wait
	}
	o.Now = k.Now
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, k
}

// serve starts a server and counts its requests.
func serve(t *testing.T, h http.HandlerFunc) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// always answers with one status and body.
func always(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// reply is one answer of a case's server.json.
type reply struct {
	Status  int
	Headers map[string]string
	JSON    json.RawMessage
	Text    string
}

func (r reply) write(w http.ResponseWriter) {
	for k, v := range r.Headers {
		w.Header().Set(k, v)
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.JSON)
	_, _ = io.WriteString(w, r.Text)
}

// script gives the replies in order and then the last one again.
func script(replies []reply) http.HandlerFunc {
	var next atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		n := int(next.Add(1)) - 1
		replies[min(n, len(replies)-1)].write(w)
	}
}

// serveRaw speaks HTTP by hand: each connection is handled by handle, which gets
// its number, and closed after that.
func serveRaw(t *testing.T, handle func(n int, c net.Conn, r *bufio.Reader)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				handle(n, conn, bufio.NewReader(conn))
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

// readRequest reads one request to its end.
func readRequest(r *bufio.Reader) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

func testdata(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ptr[T any](v T) *T { return &v }
