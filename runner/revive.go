package runner

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/specsweep/specsweep/runner/engine"
)

// reach looks, before a pass, whether a server that is not ours to start still answers.
// One that is gone is waited for up to server_wait_s. When that was in vain the pass has
// no result; each further pass asks once and does not wait, until the server is back:
// a hundred runs on a dead server must not cost a hundred waits.
//
// The look is one GET before each pass, outside its clock: a server may die at any time,
// also after a pass without any failure.
func (s *sweep) reach(ctx context.Context, srv *server) error {
	if srv.err != nil || srv.plan.Launch != nil || srv.client == nil || !s.lost[srv] && srv.answers(ctx) {
		return nil // ensure tells what is wrong with it
	}
	wait := s.Plan.ServerWait
	if s.lost[srv] {
		wait = 0
	}
	before := srv.desc
	err := srv.preflight(ctx, engine.PreflightOptions{Wait: wait, Log: srv.log})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.lost[srv] = err != nil; err != nil {
		return fmt.Errorf("the server is gone: %w", err)
	}
	srv.log.Info("the server is back")
	// It may be a new process: cold, and another program.
	srv.warm, srv.unwarmed, srv.warmups = map[int]bool{}, map[int]string{}, 0
	if srv.err = s.unchanged(srv); srv.err == nil {
		srv.err = sameAsBefore(before, srv.desc)
	}
	s.Sink.Probed(srv.record())
	return srv.err
}

// lookTime bounds the look at a server before a pass. One that does not answer /health
// for so long is taken to be gone, and waited for.
const lookTime = 10 * time.Second

// answers tells whether the server is there. What it says does not matter unless it says
// that it cannot serve: not every server has a /health.
func (s *server) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	reply, err := s.client.Get(ctx, "/health")
	return err == nil && (reply.Status < http.StatusInternalServerError || reply.Status == http.StatusNotImplemented)
}

// sameAsBefore is an error when a server came back as another one than this sweep has
// measured. What is not known is no change.
func sameAsBefore(was, is engine.Description) error {
	for _, v := range []struct{ what, was, is string }{{"version", was.Version, is.Version}, {"model", was.Model, is.Model}} {
		if v.was != "" && v.is != "" && v.was != v.is {
			return fmt.Errorf("the server came back with another %s: it was %s, it is %s, and rows of both are not comparable; bring the old one back and --resume, or start a new run-set",
				v.what, v.was, v.is)
		}
	}
	return nil
}
