package load

import (
	"context"
	"fmt"

	"github.com/specsweep/specsweep/runner/openai"
)

// converse sends a prompt and its further turns and counts what becomes of them.
// It is false when the context ended before the last one was answered.
func (r *running) converse(ctx context.Context, t *tally, n int) bool {
	o, body, turns := r.o, r.bodies[n], r.o.turns(n)
	m := moment{sent: o.Now()}
	m.due = m.sent
	if o.Arrivals != nil {
		m.due = r.start.Add(o.Arrivals[n])
	}
	for turn := 0; ; turn++ {
		answer := r.c.Chat(ctx, body)
		if answer.Err != nil && ctx.Err() != nil {
			return false // not answered: given up
		}
		t.last = o.Now()
		answer.Index = n
		t.add(&answer)
		t.sample(&answer, turn, m)
		if answer.Err != nil {
			r.limits.fail()
		}
		if o.Observe != nil {
			o.Observe(&answer)
		}
		if turn+1 == turns {
			return true
		}
		err := answer.Err
		if err == nil {
			body, err = o.Follow(n, turn+1, &answer)
		}
		if err != nil {
			t.skip(n, turn+1, turns, err)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		m = moment{due: t.last, sent: o.Now()}
	}
}

// skip counts the turns from first on as failed by the same cause. They took no
// time and nobody answered them, so nothing else is counted.
func (t *tally) skip(n, first, turns int, cause error) {
	left := turns - first
	t.pass.Failed += left
	err := fmt.Errorf("turn %d was not sent: %w", first+1, cause)
	t.fail(failure{Failure{openai.Kind(cause), err.Error(), left}, n})
}
