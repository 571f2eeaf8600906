package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a simulated server. Make it with New.
type Server struct {
	c        Config
	counters *counters
	batch    *batch
	stopped  chan struct{} // closed when Serve ends

	mu   sync.Mutex
	came map[[32]byte]int // how often each prompt has come
}

// New makes a server that does not listen yet.
func New(c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	c = c.withDefaults()
	if c.NoSpec {
		c.Accept = nil
	}
	k := &counters{created: time.Now(), perPos: make([]int64, len(c.Accept))}
	return &Server{c: c, counters: k, batch: newBatch(c, k), stopped: make(chan struct{}), came: map[[32]byte]int{}}, nil
}

// Serve answers on l until ctx ends, then closes every connection, and returns
// when all of its goroutines have ended. It may be called once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := &http.Server{
		Handler:           s.Handler(),
		IdleTimeout:       s.c.IdleTimeout,
		ReadHeaderTimeout: 30 * time.Second,
		ConnState: func(_ net.Conn, st http.ConnState) {
			if st == http.StateNew {
				s.counters.mu.Lock()
				s.counters.connections++
				s.counters.mu.Unlock()
			}
		},
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.batch.run(ctx) })
	served := make(chan error, 1)
	wg.Go(func() { served <- srv.Serve(l) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
	}
	cancel()
	close(s.stopped) // handlers that wait for the batch give up
	cerr := srv.Close()
	wg.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, cerr)
}

// Handler is the server's routes. Chat needs Serve, which runs the batch.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	if s.c.Engine == "sglang" {
		s.sglangRoutes(mux)
	} else {
		s.vllmRoutes(mux)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
	})
	return s.guarded(mux)
}

// guarded asks for the key where the real servers do: vLLM below /v1 only,
// SGLang everywhere but at /health.
func (s *Server) guarded(next http.Handler) http.Handler {
	if s.c.APIKey == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open := r.URL.Path == "/health"
		if s.c.Engine == "vllm" {
			open = len(r.URL.Path) < 3 || r.URL.Path[:3] != "/v1"
		}
		if !open && r.Header.Get("Authorization") != "Bearer "+s.c.APIKey {
			writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "Unauthorized"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Running is a server that listens.
type Running struct {
	server *Server
	url    string
	cancel context.CancelFunc
	done   chan error
}

// Listen starts a server on an address such as 127.0.0.1:0. Close ends it.
func Listen(c Config, addr string) (*Running, error) {
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	r := &Running{server: s, url: "http://" + l.Addr().String(), cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- s.Serve(ctx, l) }()
	return r, nil
}

// URL is the server's root.
func (r *Running) URL() string { return r.url }

// Close ends the server and returns when nothing of it runs any more. Call it
// once.
func (r *Running) Close() error {
	r.cancel()
	return <-r.done
}

// Counters is what truly happened on a server, whatever it tells.
type Counters struct {
	Requests, Answered, Failed, Dropped, Aborted int64 // chat requests
	InFlight, PeakInFlight                       int64
	Connections                                  int64 // opened since the start
	Drafts, AcceptedTokens                       int64
}

// Stats is the truth so far.
func (r *Running) Stats() Counters {
	k := r.server.counters
	k.mu.Lock()
	defer k.mu.Unlock()
	return Counters{
		Requests: k.requests, Answered: k.answered, Failed: k.failed, Dropped: k.dropped, Aborted: k.aborted,
		InFlight: k.inFlight, PeakInFlight: k.peak, Connections: k.connections,
		Drafts: k.totalDrafts, AcceptedTokens: k.totalAccepted,
	}
}
