package sim

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// engine makes a batch and gives the function that starts it and returns when ctx
// has ended; a job that is sent before waits and is in the first step.
func engine(c Config) (*batch, *counters) {
	k := newCounters(len(c.drafting()))
	return newBatch(c, k), k
}

// runs starts the engine for the time of the test.
func runs(t *testing.T, b *batch) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	go b.run(ctx)
	t.Cleanup(func() { cancel(); <-b.stopped })
}

func newJob(b *batch, want int) *job {
	return &job{rates: b.c.drafting(), draws: draws(1, promptHash{}, 0), want: want, reason: reasonLength, done: make(chan struct{})}
}

func TestStepTimes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		c    Config
		jobs int
		want time.Duration // of answers of 11 tokens, the first of them from the prefill
	}{
		{"one request", Config{StepTime: 4 * time.Millisecond}, 1, 40 * time.Millisecond},
		{"a batch costs as much", Config{StepTime: 4 * time.Millisecond}, 8, 40 * time.Millisecond},
		{"and more by the request", Config{StepTime: 4 * time.Millisecond, StepTimePerRequest: time.Millisecond}, 8, 120 * time.Millisecond},
		{"every draft accepted", Config{StepTime: 4 * time.Millisecond, Accept: []float64{1}}, 1, 20 * time.Millisecond},
		{"every draft rejected", Config{StepTime: 4 * time.Millisecond, Accept: []float64{0}}, 1, 40 * time.Millisecond},
		{"without speculation", Config{StepTime: 4 * time.Millisecond, Accept: []float64{1}, NoSpec: true}, 1, 40 * time.Millisecond},
		{"no time", Config{}, 4, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, _ := engine(tc.c)
				var wg sync.WaitGroup
				for range tc.jobs {
					wg.Go(func() {
						if !b.answer(newJob(b, 11)) {
							t.Error("a job did not get to its end")
						}
					})
				}
				synctest.Wait() // all wait at the door: they join at one boundary
				start := time.Now()
				runs(t, b)
				wg.Wait()
				if got := time.Since(start); got != tc.want {
					t.Errorf("took %v, want %v", got, tc.want)
				}
			})
		})
	}
}

// A job that comes during a step is in the next one, not in this one.
func TestJoinsAtTheNextBoundary(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := engine(Config{StepTime: 10 * time.Millisecond})
		runs(t, b)
		go b.answer(newJob(b, 100))
		time.Sleep(15 * time.Millisecond) // in the middle of the second step
		start := time.Now()
		b.answer(newJob(b, 3)) // waits 5 ms for the boundary, then two steps
		if got, want := time.Since(start), 25*time.Millisecond; got != want {
			t.Errorf("took %v, want %v", got, want)
		}
	})
}

// An answer of one token takes no step, and nobody waits for one after it.
func TestPrefillAloneTakesNoStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := engine(Config{StepTime: 10 * time.Millisecond})
		runs(t, b)
		start := time.Now()
		b.answer(newJob(b, 1))
		b.answer(newJob(b, 3))
		if got, want := time.Since(start), 20*time.Millisecond; got != want {
			t.Errorf("answers of 1 and 3 tokens took %v, want %v", got, want)
		}
	})
}

func TestAbort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, k := engine(Config{StepTime: 10 * time.Millisecond, Accept: []float64{0}})
		runs(t, b)
		gone := make(chan struct{})
		j := newJob(b, 1000)
		j.gone = gone
		time.AfterFunc(25*time.Millisecond, func() { close(gone) })
		if b.answer(j) {
			t.Error("an aborted job got to its end")
		}
		got, _ := k.told()
		if got.generated != 3 || got.drafts != 2 || got.steps != 2 || got.stepTime != 20*time.Millisecond || got.finished[reasonAbort] != 1 {
			t.Errorf("counters = %+v, want the 3 tokens, 2 drafts and 20 ms until then and one abort", got)
		}
	})
}

// A step in which every job turns out to be gone is no decode step.
func TestAbortAloneIsNoStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, k := engine(Config{StepTime: 10 * time.Millisecond, Accept: []float64{0}})
		runs(t, b)
		gone := make(chan struct{})
		j := newJob(b, 1000)
		j.gone = gone
		time.AfterFunc(25*time.Millisecond, func() { close(gone) })
		b.answer(j)
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.average.forward != 2 {
			t.Errorf("%d steps of the batch, want the 2 before", k.average.forward)
		}
	})
}

func TestStopEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := engine(Config{StepTime: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		go b.run(ctx)
		time.AfterFunc(time.Second, cancel)
		if b.answer(newJob(b, 5)) {
			t.Error("a job got to its end on an engine that stopped")
		}
		if b.answer(newJob(b, 5)) {
			t.Error("a job got to its end on an engine that had stopped")
		}
	})
}

// Late steps are made up for by early ones, so that a pass takes the time that the
// configuration says.
func TestPaceDoesNotDrift(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer()
		start := time.Now()
		for range 100 {
			if !p.wait(t.Context(), 10*time.Millisecond) {
				t.Fatal("wait ended early")
			}
			time.Sleep(3 * time.Millisecond) // a timer that is late, or a slow step
		}
		if got, want := time.Since(start), 1003*time.Millisecond; got != want {
			t.Errorf("100 steps of 10 ms took %v, want %v", got, want)
		}
	})
}
