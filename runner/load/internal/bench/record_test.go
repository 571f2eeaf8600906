package bench

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Service times of the known manner are uniform between these.
const (
	shortest = 10 * time.Millisecond
	longest  = 200 * time.Millisecond
)

// record keeps how long the server took: not the time that was drawn but the one
// that passed, from the request's handler on to the moment before the answer is
// written, since a timer may be late.
type record struct {
	mu          sync.Mutex
	rand        *rand.Rand
	first, last time.Time
	times       []time.Duration
}

func (r *record) begin(seed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rand, r.first, r.last, r.times = rand.New(rand.NewPCG(seed, seed)), time.Time{}, time.Time{}, nil
}

func (r *record) serve(answer func()) {
	start := time.Now()
	r.mu.Lock()
	if r.rand == nil {
		r.rand = rand.New(rand.NewPCG(1, 1))
	}
	d := shortest + time.Duration(r.rand.Int64N(int64(longest-shortest)))
	if r.first.IsZero() {
		r.first = start
	}
	r.mu.Unlock()
	time.Sleep(d)
	answer()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = time.Now()
	r.times = append(r.times, r.last.Sub(start))
}

func (r *record) stats() stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	sorted := slices.Sorted(slices.Values(r.times))
	return stats{Requests: len(sorted), Wall: r.last.Sub(r.first), Times: sorted}
}
