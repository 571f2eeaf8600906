package runner

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/openai"
)

// watch notes when each request of a pass was in flight. A pass's mean_in_flight is
// always below its concurrency, since the slots run empty at its end; what is to be
// judged is its body, while there are still prompts to send.
type watch struct {
	load.Chatter
	spans []span
	next  atomic.Int64
}

type span struct{ start, end time.Time }

// newWatch watches at most n requests.
func newWatch(c load.Chatter, n int) *watch { return &watch{Chatter: c, spans: make([]span, n)} }

// Chat shares nothing between slots but one atomic add.
func (w *watch) Chat(ctx context.Context, body []byte) openai.Completion {
	n := int(w.next.Add(1)) - 1
	start := time.Now()
	c := w.Chatter.Chat(ctx, body)
	if n < len(w.spans) {
		w.spans[n] = span{start, start.Add(c.Elapsed)}
	}
	return c
}

// body is the mean number of requests in flight from the first send to the last
// one; nil when there were no more requests than slots, which has no such time.
// The requests must all be answered.
func (w *watch) body(slots int) *float64 {
	spans := w.spans[:min(int(w.next.Load()), len(w.spans))]
	if len(spans) <= slots {
		return nil
	}
	first, last := spans[0].start, spans[0].start
	for _, s := range spans {
		if s.start.Before(first) {
			first = s.start
		}
		if s.start.After(last) {
			last = s.start
		}
	}
	return meanInFlight(spans, first, last)
}

// meanInFlight is Σ of the parts of the spans between two times / the time between.
func meanInFlight(spans []span, from, to time.Time) *float64 {
	if !to.After(from) {
		return nil
	}
	var sum time.Duration
	for _, s := range spans {
		end := s.end
		if end.After(to) {
			end = to
		}
		if d := end.Sub(s.start); d > 0 {
			sum += d
		}
	}
	return ptr(sum.Seconds() / to.Sub(from).Seconds())
}
