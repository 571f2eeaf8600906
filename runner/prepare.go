package runner

import (
	"context"
	"errors"
	"sync"

	"github.com/specsweep/specsweep/plan"
)

// prepare readies the servers before the first pass: those that run already all
// at once, since waiting for one should not delay the news of another; launched
// ones one after the other (two that size their memory at the same moment
// disturb each other), and only when all are to be alive together.
func (s *sweep) prepare(ctx context.Context) {
	var wg sync.WaitGroup
	for _, srv := range s.servers {
		if srv.plan.Launch == nil && s.needed(srv) {
			wg.Go(func() { srv.attach(ctx, s.Plan.ServerWait) })
		}
	}
	wg.Wait()
	for _, srv := range s.servers {
		switch {
		case srv.plan.Launch == nil:
			if ctx.Err() == nil {
				s.attached(srv)
				s.Sink.Probed(srv.record())
			}
		case s.Plan.Order != plan.OrderByServer && ctx.Err() == nil && s.needed(srv):
			_ = srv.start(ctx) // kept in srv.err: the server's runs become error rows
		}
	}
}

// attached looks at a server that ran before this sweep, and maybe served an earlier
// session of it.
func (s *sweep) attached(srv *server) {
	if srv.err != nil || srv.client == nil {
		return
	}
	srv.err = s.unchanged(srv)
	if !srv.baseline && s.earlier.served(srv.name) {
		s.used[srv.client.URL()] = true
	}
}

// needed tells whether any pass of a server has prompts to send.
func (s *sweep) needed(srv *server) bool {
	for _, st := range s.schedule.steps {
		if st.baseline && s.bases[baseKey{st.block, st.endpoint}] != nil {
			continue // restored
		}
		if s.servers[st.endpoint] == srv && s.prompts.failed(s.Runs[st.runs[0]].Dataset) == nil {
			return true
		}
	}
	return false
}

// stopOthers ends every launched server but one.
func (s *sweep) stopOthers(keep *server) {
	for _, srv := range s.servers {
		if srv == keep {
			continue
		}
		if err := srv.stop(); err != nil {
			s.Log.Warn("a launched server did not stop cleanly", "error", err)
		}
	}
}

// close ends every launched server and every idle connection.
func (s *sweep) close() error {
	var errs []error
	for _, srv := range s.servers {
		errs = append(errs, srv.stop())
		if srv.client != nil {
			srv.client.Close()
		}
	}
	return errors.Join(errs...)
}
