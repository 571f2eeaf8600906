package sim

import (
	"context"
	"math/rand/v2"
	"time"
)

// job is one request on its way through the engine.
type job struct {
	gone   <-chan struct{} // closed when the client has gone away
	draws  *rand.Rand
	rates  []float64 // acceptance by position in the draft; empty: no drafts
	drafts jobDrafts // of this request
	prompt int       // tokens
	cached int       // of prompt
	want   int       // tokens of the whole answer, at least 1
	reason string    // finish_reason of the whole answer
	have   int       // tokens so far
	done   chan struct{}
	steps  chan int // when streamed: the tokens of each step as it ends, with room for all
}

// emit adds a step's tokens.
func (j *job) emit(n int) {
	j.have += n
	if j.steps != nil {
		j.steps <- n
	}
}

// batch is the engine: one goroutine takes decode steps of all active jobs at
// once, as continuous batching does, so a job is slower the more there are.
type batch struct {
	c        Config
	counters *counters
	join     chan *job
	stopped  chan struct{} // closed when run has returned
}

func newBatch(c Config, k *counters) *batch {
	return &batch{c: c, counters: k, join: make(chan *job), stopped: make(chan struct{})}
}

// answer hands a job to the engine and waits for its end; it tells whether the
// whole answer was emitted. A client that has gone away ends the wait only when
// the engine has noticed and counted it.
func (b *batch) answer(j *job) bool {
	select {
	case b.join <- j:
	case <-j.gone:
		return false
	case <-b.stopped:
		return false
	}
	select {
	case <-j.done:
		return j.have >= j.want
	case <-b.stopped:
		return false
	}
}

// run serves jobs until ctx ends; those that are active then get no answer.
func (b *batch) run(ctx context.Context) {
	defer close(b.stopped)
	var active []*job
	pace := newPacer()
	defer pace.timer.Stop()
	for {
		if len(active) == 0 {
			select {
			case <-ctx.Done():
				return
			case j := <-b.join:
				active = b.admit(active, j)
				pace.reset()
			}
		}
		active = b.admitWaiting(active)
		if len(active) == 0 { // one token was all that was asked for
			continue
		}
		took := b.c.StepTime + b.c.StepTimePerRequest*time.Duration(len(active))
		if !pace.wait(ctx, took) {
			return
		}
		active = b.step(active, took)
	}
}

// admitWaiting takes in whoever waits at this step's boundary.
func (b *batch) admitWaiting(active []*job) []*job {
	for {
		select {
		case j := <-b.join:
			active = b.admit(active, j)
		default:
			return active
		}
	}
}

// admit takes a job in: its prefill emits the first token, in which no draft has
// part.
func (b *batch) admit(active []*job, j *job) []*job {
	k := b.counters
	k.mu.Lock()
	defer k.mu.Unlock()
	k.total.prompt += int64(j.prompt)
	k.total.cached += int64(j.cached)
	k.total.generated++
	j.emit(1)
	if j.have < j.want {
		return append(active, j)
	}
	b.finish(j)
	k.restartIfDue(b.c.RestartAfter)
	return active
}

// step takes one decode step of every active job and returns those that go on.
func (b *batch) step(active []*job, took time.Duration) []*job {
	k := b.counters
	k.mu.Lock()
	defer k.mu.Unlock()
	goOn, decoded := active[:0], false
	for _, j := range active {
		select {
		case <-j.gone:
			k.total.finished[reasonAbort]++
			close(j.done)
			continue
		default:
		}
		decoded = true
		b.decode(j)
		k.total.steps++
		k.total.stepTime += took
		if j.have >= j.want {
			b.finish(j)
			continue
		}
		goOn = append(goOn, j)
	}
	clear(active[len(goOn):])
	if decoded {
		k.average.step()
	}
	k.restartIfDue(b.c.RestartAfter)
	return goOn
}

// decode emits the tokens of one decode step of one job. Accepted tokens that the
// end of the answer cuts off are counted as accepted all the same, as vLLM does.
func (b *batch) decode(j *job) {
	k := b.counters
	emit := 1
	if len(j.rates) > 0 {
		n := accepted(j.draws, j.rates)
		if b.c.Engine == "llamacpp" { // it drafts no further than the answer may go
			n = min(n, j.want-j.have-1)
		}
		emit += n
		j.drafts.verified(len(j.rates), n)
		k.total.verified(len(j.rates), n)
		k.average.verified(n)
	}
	emit = min(emit, j.want-j.have)
	j.emit(emit)
	k.total.generated += int64(emit)
}

func (b *batch) finish(j *job) {
	b.counters.total.finished[j.reason]++
	close(j.done)
}
