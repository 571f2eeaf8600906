package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a simulated server. Make it with New, run it with Serve.
type Server struct {
	c        Config
	dialect  dialect
	counters *counters
	batch    *batch
	serving  atomic.Bool // Serve has been called

	mu     sync.Mutex
	seen   map[promptHash]uint64 // how often each prompt has come
	cached map[cacheKey]bool     // the prefix cache
}

// New makes a server that does not listen yet. The error lists every value of c
// that cannot be simulated.
func New(c Config) (*Server, error) {
	c = c.Defaults()
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	k := newCounters(len(c.drafting()))
	return &Server{c: c, dialect: dialects()[c.Engine], counters: k, batch: newBatch(c, k), seen: map[promptHash]uint64{}, cached: map[cacheKey]bool{}}, nil
}

// Serve answers on l until ctx ends, then closes l and every connection, and
// returns when all of its goroutines have ended: nil after ctx ended, else why it
// cannot go on. It can be called once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if !s.serving.CompareAndSwap(false, true) {
		return errors.New("simulated server: Serve was called before; make a new server with New")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var conns sync.WaitGroup // one a connection, its handler included
	srv := &http.Server{
		Handler:           s.Handler(),
		IdleTimeout:       s.c.IdleTimeout,
		ReadHeaderTimeout: 30 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx }, // handlers end with the server
		ConnState: func(c net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				conns.Add(1)
				s.counters.connected()
				if ctx.Err() != nil { // accepted while closing: Close may have missed it
					_ = c.Close()
				}
			case http.StateClosed, http.StateHijacked:
				conns.Done()
			}
		},
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.batch.run(ctx) })
	wg.Go(func() {
		<-ctx.Done()
		_ = srv.Close() // its only error is that of closing l, which Serve closes too
	})
	err := srv.Serve(l)
	cancel()
	wg.Wait()
	conns.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("simulated server on %s: %w", l.Addr(), err)
}

// Handler is the server's routes. Chat completions are answered with a 503 unless
// Serve runs, because Serve runs the engine.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	routes := append(s.dialect.routes(s),
		route{http.MethodPost, "/v1/chat/completions", s.chat},
		route{http.MethodGet, "/v1/models", s.models},
		route{http.MethodGet, "/health", func(http.ResponseWriter, *http.Request) {}},
	)
	for _, r := range routes {
		mux.HandleFunc(r.method+" "+r.path, r.handle)
		mux.HandleFunc(r.path, s.noRoute(http.StatusMethodNotAllowed))
	}
	mux.HandleFunc("/", s.noRoute(http.StatusNotFound))
	if s.c.APIKey == "" {
		return mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.dialect.open(r.URL.Path) && r.Header.Get("Authorization") != "Bearer "+s.c.APIKey {
			writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "Unauthorized"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// noRoute answers a path or method that the server does not have.
func (s *Server) noRoute(status int) http.HandlerFunc {
	if s.c.Engine == "llamacpp" {
		return llamacpp{}.noRoute
	}
	return detail(status)
}

// detail answers as FastAPI, which vLLM and SGLang are built on, does by itself.
func detail(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, status, map[string]any{"detail": http.StatusText(status)})
	}
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.c.Model, "object": "model", "created": time.Now().Unix(), "owned_by": s.c.Engine,
		"root": s.c.Model, "parent": nil, "max_model_len": maxModelLen,
	}}})
}

// Stats is what truly happened so far.
func (s *Server) Stats() Counters { return s.counters.truth() }
