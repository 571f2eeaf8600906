package hub

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/specsweep/specsweep/runner/dataset/hub/hubtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a fake Hub and a client with a cache of its own. Waits are recorded,
// not waited for.
type fixture struct {
	hub *hubtest.Hub
	c   *Client
	o   Options
	log *bytes.Buffer

	mu    sync.Mutex
	waits []time.Duration
}

func newFixture(t *testing.T, change func(*Options)) *fixture {
	t.Helper()
	f := &fixture{hub: hubtest.New(), log: new(bytes.Buffer)}
	f.o = Options{
		Endpoint: f.hub.URL(),
		CacheDir: t.TempDir(),
		Log:      slog.New(slog.NewTextHandler(f.log, nil)),
		Wait: func(ctx context.Context, d time.Duration) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.waits = append(f.waits, d)
			return ctx.Err()
		},
	}
	if change != nil {
		change(&f.o)
	}
	f.c = New(f.o)
	t.Cleanup(func() {
		f.c.Close()
		f.hub.Close()
	})
	return f
}

// again is another client of the same cache and Hub, as a later run would be.
func (f *fixture) again(t *testing.T, change func(*Options)) *Client {
	t.Helper()
	o := f.o
	if change != nil {
		change(&o)
	}
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

func offline(o *Options) { o.Offline = true }

func text(s string) hubtest.Content { return strings.NewReader(s) }

// noise is content that is at no place like at another.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

func mustList(t *testing.T, c *Client, q Query) Listing {
	t.Helper()
	l, err := c.List(t.Context(), q)
	if err != nil {
		t.Fatalf("List(%+v): %v", q, err)
	}
	return l
}

func paths(l Listing) []string {
	var names []string
	for _, f := range l.Files {
		names = append(names, f.Path)
	}
	return names
}

// oneFile is a dataset with one train file, large enough to be read in ranges.
func oneFile(f *fixture, content []byte) {
	f.hub.Add("org/one", hubtest.Dataset{Files: map[string]hubtest.Content{"train.jsonl": hubtest.Bytes(content)}})
}
