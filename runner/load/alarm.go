package load

import (
	"context"
	"time"

	"github.com/specsweep/specsweep/runner/openai"
)

// coarse is how far before a due time the runtime's timers hand over to a finer one.
// An idle runtime sleeps in whole milliseconds (epoll_wait's unit), so its timers are
// up to one late: at 2,000 requests/s two arrivals would go out at once.
const coarse = 2 * time.Millisecond

// alarm waits for due times. It is for one goroutine.
type alarm struct {
	sleep func(context.Context, time.Duration) error
	fine  *fineTimer // nil: the system has none that is better
}

// newAlarm makes an alarm, on sleep alone when that is not nil.
func newAlarm(sleep func(context.Context, time.Duration) error) *alarm {
	if sleep != nil {
		return &alarm{sleep: sleep}
	}
	return &alarm{sleep: openai.Sleep, fine: newFineTimer()}
}

func (a *alarm) close() {
	if a.fine != nil {
		a.fine.close()
	}
}

// wait lets d pass, or returns why ctx ended before.
func (a *alarm) wait(ctx context.Context, d time.Duration) error {
	if a.fine == nil {
		return a.sleep(ctx, d)
	}
	until := time.Now().Add(d)
	if d > coarse {
		if err := a.sleep(ctx, d-coarse); err != nil {
			return err
		}
	}
	left := time.Until(until)
	if left <= 0 || a.fine.wait(left) {
		return ctx.Err()
	}
	return a.sleep(ctx, left)
}
