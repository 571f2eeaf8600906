// Package load drives one server: N requests, at most C of them in flight, one
// clock. It is a closed loop: a slot sends its next request when its last one is
// answered, so it measures throughput at a concurrency, and its latencies are not
// those of users who arrive on their own.
//
// It builds no requests, retries nothing itself and judges nothing.
package load

import (
	"context"
	"fmt"
	"sync"
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
	// Now is the clock; nil: time.Now. For tests.
	Now func() time.Time
}

// Run sends every body once, in order, and its further turns as they can be made,
// and returns when all are answered. A failed turn fails the turns after it, which
// are not sent: there is no conversation to go on with. Its only error is that the
// context ended before that: half a pass is no result.
//
// Subtleness ahead! What is to be measured is the server, so nothing of ours may
// stand between an answer and the next send of its slot. Slots share only the
// index of the next body, one atomic add for each request; each keeps a tally of
// its own, and the tallies are added up after the last answer. A slot has at most
// one request in flight and there are never more slots than asked, so the limit
// is exact however uneven the answers are, and a request that waits for its retry
// keeps its place. The clock is read once before the first slot starts; it stops
// at the last answer, not when that has been counted and observed, and not at the
// end of a slot, which may be idle for the whole tail of the pass.
func Run(ctx context.Context, c Chatter, bodies [][]byte, o Options) (Pass, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	tallies := make([]tally, min(max(o.Concurrency, 1), len(bodies)))
	var next atomic.Int64
	var slots sync.WaitGroup
	start := o.Now()
	for i := range tallies {
		slots.Go(func() {
			t := tally{last: start} // on the slot's own stack: neighbours in tallies share cache lines
			for {
				n := int(next.Add(1)) - 1
				if n >= len(bodies) || ctx.Err() != nil {
					break
				}
				if !converse(ctx, c, &t, n, bodies[n], &o) {
					break
				}
			}
			tallies[i] = t
		})
	}
	slots.Wait()
	p := sum(tallies, start)
	if answered, all := p.Completed+p.Failed, o.requests(len(bodies)); answered < all {
		return Pass{}, fmt.Errorf("pass ended with %d of %d requests answered: %w", answered, all, openai.Ended(ctx))
	}
	return p, nil
}

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
