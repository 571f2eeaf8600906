package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/specsweep/specsweep/runner/openai"
)

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		if err := serveBench(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

const good = `{"model":"toy-target","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":8}}`

// bodies are n requests that carry their number.
func bodies(n int) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = fmt.Appendf(nil, `{"n":"%d"}`, i)
	}
	return list
}

// number is what bodies put into a request.
func number(r io.Reader) int {
	var body struct {
		N string
	}
	_ = json.NewDecoder(r).Decode(&body)
	n, err := strconv.Atoi(body.N)
	if err != nil {
		return -1
	}
	return n
}

// client speaks to a server and never waits.
func client(t testing.TB, s *httptest.Server, o openai.Options) *openai.Client {
	t.Helper()
	return clientAt(t, s.URL, o)
}

func clientAt(t testing.TB, url string, o openai.Options) *openai.Client {
	t.Helper()
	o.URL = url
	o.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func server(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func testdata(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// chat is a Chatter that is a function, for what sockets cannot show.
type chat func(ctx context.Context, body []byte) openai.Completion

func (f chat) Chat(ctx context.Context, body []byte) openai.Completion { return f(ctx, body) }

func ptr[T any](v T) *T { return &v }
