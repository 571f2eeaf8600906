package load

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// openLoop sends each prompt when it is due, whatever becomes of the others. This
// goroutine alone watches the clock and hands prompts out; a slot is made when a
// prompt is due and none is free, up to the cap. When all are busy the prompts that
// are due wait in order, and the clock of each of them runs on.
func (r *running) openLoop(ctx context.Context) {
	due := make(chan int)
	defer r.slots.Wait()
	defer close(due)
	alarm := newAlarm(r.o.Wait)
	defer alarm.close()
	slots := r.o.slots(len(r.bodies))
	for n := range r.bodies {
		if left := r.o.Arrivals[n] - r.o.Now().Sub(r.start); left > 0 {
			if alarm.wait(ctx, left) != nil {
				return
			}
		}
		select {
		case due <- n:
			continue
		default:
		}
		if len(r.tallies) < slots {
			r.startSlot(ctx, n, due)
			continue
		}
		select {
		case due <- n:
		case <-ctx.Done():
			return
		}
	}
}

// startSlot starts a slot with prompt n, which goes on with those that are due.
func (r *running) startSlot(ctx context.Context, n int, due <-chan int) {
	t := r.tally()
	r.tallies = append(r.tallies, t)
	r.slots.Go(func() {
		for ok := true; ok; n, ok = <-due {
			if ctx.Err() != nil || !r.converse(ctx, t, n) {
				return
			}
		}
	})
}

// checkArrivals reports a schedule that does not fit the prompts.
func (o *Options) checkArrivals(prompts int) error {
	if o.Arrivals != nil && len(o.Arrivals) < prompts {
		return fmt.Errorf("arrivals: %d due times for %d prompts", len(o.Arrivals), prompts)
	}
	return nil
}

// running is a pass while it runs.
type running struct {
	c       Chatter
	bodies  [][]byte
	o       *Options
	start   time.Time
	limits  *limits
	gaps    gapCount
	slots   sync.WaitGroup
	tallies []*tally // one a slot
}

func (r *running) tally() *tally {
	return &tally{start: r.start, last: r.start, shared: &r.gaps}
}
