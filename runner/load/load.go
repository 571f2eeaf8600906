// Package load drives one server: N requests, at most C of them in flight, one
// clock. In a closed loop a slot sends its next request when its last one is
// answered, which measures throughput at a concurrency. In an open loop requests are
// due at times that were fixed before, as users arrive on their own, and latencies
// count from there: a server that stalls delays what it is measured by, but not what
// it is asked.
//
// It builds no requests, retries nothing itself and judges nothing.
package load

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/specsweep/specsweep/runner/openai"
)

// Chatter answers one request, its retries included. It is called from many
// goroutines at once, and must return soon after its context ends.
type Chatter interface {
	Chat(ctx context.Context, body []byte) openai.Completion
}

var _ Chatter = (*openai.Client)(nil)

// Options is how to make a pass.
type Options struct {
	// Concurrency is how many requests are in flight at most; below 1: 1.
	Concurrency int
	// Observe sees every answer, failed ones too, with its Index set. It is called
	// from many goroutines at once, by the slot that got the answer, which sends
	// its next request only then: it should be quick. May be nil.
	Observe func(*openai.Completion)
	// Turns is how many requests each prompt makes, one after the other in the same
	// slot; nil: one each. What comes after the first is Follow's to make.
	Turns []int
	// Follow gives the body of a prompt's turn, from 1, now that the turn before is
	// answered. It is called from many goroutines at once, never twice at once for one
	// prompt, and its time is inside the clock. An error fails this turn and those
	// after it. Needed when any of Turns is above 1.
	Follow func(prompt, turn int, answer *openai.Completion) ([]byte, error)
	// Arrivals makes the loop an open one: when each prompt is due since the start,
	// in order, as Schedule gives it; Concurrency then caps what is in flight. A prompt
	// that is due while all slots are busy waits, and its times count that wait. Further
	// turns are due when the turn before is answered. nil: a closed loop.
	Arrivals []time.Duration
	// AbortAfter ends the pass after so many requests that were sent and failed; 0:
	// never.
	AbortAfter int
	// MaxDuration ends a pass that takes longer; 0: never.
	MaxDuration time.Duration
	// Now is the clock; nil: time.Now. For tests.
	Now func() time.Time
	// Wait waits for due times and returns early when the context ends; nil: timers
	// that are exact to well below a millisecond. For tests.
	Wait func(context.Context, time.Duration) error
}

// Run sends every body once, in order, and its further turns as they can be made,
// and returns when all are answered and every goroutine of its own has ended. A
// failed turn fails the turns after it, which are not sent: there is no conversation
// to go on with.
//
// It fails when ctx ended before the last answer, with no Pass: half a pass is no
// result. It fails with ErrGaveUp (AbortAfter) or ErrMaxDuration when the pass ended
// by its own limits; the Pass is then what there was up to there, without the
// requests that were in flight. Arrivals that are fewer than the bodies are refused.
//
// Subtleness ahead! What is to be measured is the server, so nothing of ours may
// stand between an answer and the next send of its slot. Slots share only the
// index of the next body, one atomic add for each request, and of a streamed answer
// the count of gaps; each keeps a tally of its own, and the tallies are added up after
// the last answer. A slot has at most one request in flight and there are never more
// slots than asked, so the limit is exact however uneven the answers are, and a
// request that waits for its retry keeps its place. The clock is read once before the
// first slot starts; it stops at the last answer, not when that has been counted and
// observed, and not at the end of a slot, which may be idle for the whole tail of the
// pass. In an open loop it starts at the schedule's zero.
func Run(ctx context.Context, c Chatter, bodies [][]byte, o Options) (Pass, error) {
	if err := o.checkArrivals(len(bodies)); err != nil {
		return Pass{}, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	own, limits, stop := limit(ctx, &o)
	defer stop()
	r := &running{c: c, bodies: bodies, o: &o, limits: limits, gaps: gapCount{limit: maxGaps}, start: o.Now()}
	if o.Arrivals != nil {
		r.openLoop(own)
	} else {
		r.closedLoop(own)
	}
	p := sum(r.tallies, r.start)
	if all := o.requests(len(bodies)); p.Completed+p.Failed < all {
		return cut(ctx, own, p, all, &o)
	}
	return p, nil
}

// closedLoop lets every slot send its next prompt when its last one is answered.
func (r *running) closedLoop(ctx context.Context) {
	var next atomic.Int64
	for range r.o.slots(len(r.bodies)) {
		t := r.tally() // each an allocation of its own: slots share no cache lines
		r.tallies = append(r.tallies, t)
		r.slots.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(r.bodies) || ctx.Err() != nil || !r.converse(ctx, t, n) {
					return
				}
			}
		})
	}
	r.slots.Wait()
}

// slots is how many there are at most.
func (o *Options) slots(prompts int) int { return min(max(o.Concurrency, 1), prompts) }

// requests is how many requests the prompts make in all.
func (o *Options) requests(prompts int) int {
	n := 0
	for i := range prompts {
		n += o.turns(i)
	}
	return n
}

func (o *Options) turns(prompt int) int {
	if o.Turns == nil {
		return 1
	}
	return max(o.Turns[prompt], 1)
}
