package hub

import (
	"context"
	"errors"
	"io"
	"time"
)

// errStalled is the cause of a body's end when it brought nothing for too long.
var errStalled = errors.New("the connection brings nothing any more")

// idleGuard cancels a request whose body stands still: no total timeout suits a
// download of unknown size. Make it before the request, watch its body after.
type idleGuard struct {
	ctx    context.Context // of the request; kept, since its cause explains a read's error
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
}

func newIdleGuard(ctx context.Context, idle time.Duration) *idleGuard {
	g := &idleGuard{idle: idle}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	return g
}

// watch wraps the body: the clock runs from now and anew with every read.
func (g *idleGuard) watch(body io.Reader) io.Reader {
	g.timer = time.AfterFunc(g.idle, func() { g.cancel(errStalled) })
	return &guardedBody{body, g}
}

func (g *idleGuard) stop() {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.cancel(nil)
}

type guardedBody struct {
	body  io.Reader
	guard *idleGuard
}

func (b *guardedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.guard.timer.Reset(b.guard.idle)
	if err != nil && !errors.Is(err, io.EOF) && b.guard.ctx.Err() != nil {
		err = context.Cause(b.guard.ctx)
	}
	return n, err
}
