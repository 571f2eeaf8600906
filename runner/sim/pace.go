package sim

import (
	"context"
	"runtime"
	"time"
)

// maxLag is how late the steps may run before the lateness is forgotten: then the
// machine was busy, and rushing to catch up would only make it busier.
const maxLag = 20 * time.Millisecond

// pacer spaces decode steps. Timers are late by up to a millisecond, which is as
// long as a step; so each step is due a fixed time after the last one was due,
// not after it happened, and late steps are followed by early ones.
type pacer struct {
	timer *time.Timer
	due   time.Time
}

func newPacer() *pacer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &pacer{timer: t, due: time.Now()}
}

// reset starts the clock of an idle engine.
func (p *pacer) reset() { p.due = time.Now() }

// wait waits until the next step of length d is over; false: ctx ended.
func (p *pacer) wait(ctx context.Context, d time.Duration) bool {
	p.due = p.due.Add(d)
	now := time.Now()
	if now.Sub(p.due) > maxLag || d == 0 {
		p.due = now
	}
	left := p.due.Sub(now)
	if left <= 0 {
		runtime.Gosched()
		return ctx.Err() == nil
	}
	p.timer.Reset(left)
	select {
	case <-p.timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
