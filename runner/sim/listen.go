package sim

import (
	"context"
	"fmt"
	"net"
)

// Running is a server that listens.
type Running struct {
	server *Server
	url    string
	cancel context.CancelFunc
	done   chan struct{} // closed when Serve has returned
	err    error         // of Serve, once done is closed
}

// Listen starts a server on a TCP address; 127.0.0.1:0 takes a free port. The
// caller must Close it.
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
		return nil, fmt.Errorf("starting the simulated server: %w", err)
	}
	r := &Running{server: s, url: "http://" + l.Addr().String(), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = s.Serve(ctx, l)
	}()
	return r, nil
}

// URL is the server's root, without a slash at its end.
func (r *Running) URL() string { return r.url }

// Close ends the server and returns when nothing of it runs any more, with the
// error for which it ended by itself before. Further calls return the same.
func (r *Running) Close() error {
	r.cancel()
	<-r.done
	return r.err
}

// Stats is what truly happened so far, also after Close.
func (r *Running) Stats() Counters { return r.server.Stats() }
