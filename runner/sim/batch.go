package sim

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// job is one request on its way through the batch.
type job struct {
	ctx   context.Context // ends when the client goes away
	draws *rand.Rand
	want  int // tokens of the whole answer
	have  int // emitted so far
	steps int // decode steps taken
	done  chan struct{}
}

// batch is the engine: one goroutine takes decode steps for all active jobs at
// once, so each job is slower the more there are.
type batch struct {
	c        Config
	counters *counters
	join     chan *job
}

func newBatch(c Config, counters *counters) *batch {
	return &batch{c: c, counters: counters, join: make(chan *job)}
}

// run serves until ctx ends. Jobs that are still active then are left to their
// own contexts.
func (b *batch) run(ctx context.Context) {
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
	joining: // whoever waits joins at the step's boundary
		for {
			select {
			case j := <-b.join:
				active = b.admit(active, j)
			default:
				break joining
			}
		}
		if !pace.wait(ctx, b.c.StepTime+b.c.StepTimePerRequest*time.Duration(len(active))) {
			return
		}
		active = b.step(active)
	}
}

// admit takes a job in: its prefill emits the first token, which no draft has
// part in.
func (b *batch) admit(active []*job, j *job) []*job {
	j.have = 1
	b.counters.prefill()
	if j.have >= j.want {
		close(j.done)
		return active
	}
	return append(active, j)
}

// step takes one decode step of every active job and returns those that go on.
func (b *batch) step(active []*job) []*job {
	spec := !b.c.NoSpec && len(b.c.Accept) > 0
	b.counters.mu.Lock()
	defer b.counters.mu.Unlock()
	goOn := active[:0]
	b.counters.decodeStep()
	for _, j := range active {
		if j.ctx.Err() != nil {
			b.counters.aborted++
			close(j.done)
			continue
		}
		emit := 1
		if spec {
			// Accepted tokens that the end of the answer cuts off are still counted,
			// as vLLM does.
			n := accepted(j.draws, b.c.Accept)
			b.counters.verify(len(b.c.Accept), n)
			emit += n
		}
		emit = min(emit, j.want-j.have)
		j.have += emit
		j.steps++
		b.counters.generated += int64(emit)
		if j.have >= j.want {
			close(j.done)
			continue
		}
		goOn = append(goOn, j)
	}
	clear(active[len(goOn):])
	b.counters.fold()
	return goOn
}

// answer runs a job to its end and tells whether it got there.
func (b *batch) answer(j *job, stopped <-chan struct{}) bool {
	select {
	case b.join <- j:
	case <-j.ctx.Done():
		return false
	case <-stopped:
		return false
	}
	select {
	case <-j.done:
		return j.have >= j.want
	case <-stopped:
		return false
	}
}

// counters is what the server knows of itself: what /metrics and /server_info
// tell, and the truth beside it that tests ask for.
type counters struct {
	mu sync.Mutex

	created                       time.Time // of the counters: moves with a restart
	drafts, draftTokens, accepted int64
	perPos                        []int64
	generated, promptTokens       int64
	stops, lengths, aborted       int64 // finished requests by reason
	decodeSteps                   int64 // of requests: Σ over answers

	// SGLang: totals are folded into the average every foldEvery decode steps.
	forward                        int64
	pendingTokens, pendingVerify   int64
	averageTokens, averageVerified int64

	// Truth, which a simulated restart leaves alone.
	requests, answered, failed, dropped int64
	inFlight, peak, connections         int64
	totalDrafts, totalAccepted          int64
}

func (c *counters) prefill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generated++
}

func (c *counters) decodeStep() { c.forward++ }

func (c *counters) verify(proposed, accepted int) {
	c.drafts++
	c.totalDrafts++
	c.draftTokens += int64(proposed)
	c.accepted += int64(accepted)
	c.totalAccepted += int64(accepted)
	for i := range accepted {
		c.perPos[i]++
	}
	c.pendingTokens += int64(accepted) + 1
	c.pendingVerify++
}

// fold moves what has been gathered into the average, on every fortieth step.
func (c *counters) fold() {
	if c.forward%foldEvery != 0 {
		return
	}
	c.averageTokens += c.pendingTokens
	c.averageVerified += c.pendingVerify
	c.pendingTokens, c.pendingVerify = 0, 0
}

// flush is what SGLang's /flush_cache does to the average.
func (c *counters) flush() {
	c.forward, c.pendingTokens, c.pendingVerify, c.averageTokens, c.averageVerified = 0, 0, 0, 0, 0
}

// restart sets to zero what a real server loses.
func (c *counters) restart(now time.Time) {
	c.created = now
	c.drafts, c.draftTokens, c.accepted = 0, 0, 0
	clear(c.perPos)
	c.generated, c.promptTokens, c.stops, c.lengths, c.aborted, c.decodeSteps = 0, 0, 0, 0, 0, 0
	c.flush()
}
