package load

import (
	"context"
	"fmt"

	"github.com/specsweep/specsweep/runner/openai"
)

// converse sends a prompt and its further turns and counts what becomes of them.
// It is false when the context ended before the last one was answered.
func converse(ctx context.Context, c Chatter, t *tally, n int, body []byte, o *Options) bool {
	turns := o.turns(n)
	for turn := 0; ; turn++ {
		answer := c.Chat(ctx, body)
		if answer.Err != nil && ctx.Err() != nil {
			return false // not answered: given up
		}
		t.last = o.Now()
		answer.Index = n
		t.add(&answer)
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
