package load

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/specsweep/specsweep/runner/openai"
)

// The reasons of its own for which a pass ends early; Run's error wraps them.
var (
	ErrGaveUp      = errors.New("gave up")
	ErrMaxDuration = errors.New("the pass reached max_duration_s")
)

// limits ends a pass that has failed too often.
type limits struct {
	after  int64 // failed requests; 0: never
	failed atomic.Int64
	end    context.CancelCauseFunc
}

// limit is ctx with the limits that o asks for. Without any it is ctx itself, so that
// requests do not register with one context more.
func limit(ctx context.Context, o *Options) (context.Context, *limits, context.CancelFunc) {
	l := &limits{after: int64(o.AbortAfter)}
	stop := func() {}
	if o.MaxDuration > 0 {
		ctx, stop = context.WithTimeoutCause(ctx, o.MaxDuration, ErrMaxDuration)
	}
	if l.after <= 0 {
		return ctx, l, stop
	}
	ctx, l.end = context.WithCancelCause(ctx)
	return ctx, l, func() { l.end(nil); stop() }
}

// fail counts a request that failed.
func (l *limits) fail() {
	if l.after > 0 && l.failed.Add(1) == l.after {
		l.end(ErrGaveUp)
	}
}

// cut is the error of a pass that ended early, and what of the pass goes with it:
// all that was counted, when the pass ended by its own limits; nothing, when outer
// did, because half a pass is no result.
func cut(outer, own context.Context, p Pass, all int, o *Options) (Pass, error) {
	answered := p.Completed + p.Failed
	cause := context.Cause(own)
	switch {
	case outer.Err() != nil:
		return Pass{}, fmt.Errorf("pass ended with %d of %d requests answered: %w", answered, all, openai.Ended(outer))
	case errors.Is(cause, ErrGaveUp):
		err := fmt.Errorf("%w after %d failed requests (abort_after_failures), %d of %d answered", ErrGaveUp, o.AbortAfter, answered, all)
		if len(p.Failures) > 0 {
			err = fmt.Errorf("%w; %d of them: %s", err, p.Failures[0].Count, p.Failures[0].Example)
		}
		return p, err
	}
	return p, fmt.Errorf("%w (%g s) with %d of %d requests answered", ErrMaxDuration, o.MaxDuration.Seconds(), answered, all)
}
