package load

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/openai"
)

// serving is a Chatter whose requests take service(n), on the clock of the bubble.
func serving(service func(n int) time.Duration) chat {
	return func(ctx context.Context, body []byte) openai.Completion {
		start := time.Now()
		if err := openai.Sleep(ctx, service(number(bytes.NewReader(body)))); err != nil {
			return openai.Completion{Err: err}
		}
		took := time.Since(start)
		return openai.Completion{
			CompletionTokens: ptr(10), Elapsed: took, Streamed: true, FirstToken: took / 2,
			Gaps: []time.Duration{took / 4, took / 4},
		}
	}
}

// Times count from when a request was due, so a server that stalls shows in the
// requests that had to wait for it.
func TestOpenLoopCountsFromDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		c := serving(func(n int) time.Duration { return []time.Duration{100 * ms, 20 * ms, 20 * ms, 20 * ms}[n] })
		got, err := Run(t.Context(), c, bodies(4), Options{
			Concurrency: 1, Arrivals: []time.Duration{0, 10 * ms, 20 * ms, 200 * ms}, Wait: openai.Sleep,
		})
		if err != nil {
			t.Fatal(err)
		}
		ten := ptr(10)
		want := []Sample{
			{Prompt: 0, Due: 0, Late: 0, FirstToken: 50 * ms, Done: 100 * ms, Tokens: ten},
			{Prompt: 1, Due: 10 * ms, Late: 90 * ms, FirstToken: 100 * ms, Done: 110 * ms, Tokens: ten},
			{Prompt: 2, Due: 20 * ms, Late: 100 * ms, FirstToken: 110 * ms, Done: 120 * ms, Tokens: ten},
			{Prompt: 3, Due: 200 * ms, Late: 0, FirstToken: 10 * ms, Done: 20 * ms, Tokens: ten},
		}
		if diff := cmp.Diff(want, got.Samples); diff != "" {
			t.Errorf("samples (-want +got):\n%s", diff)
		}
		if got.Wall != 220*ms || len(got.Gaps) != 8 || got.GapsSampled {
			t.Errorf("wall %s, %d gaps, sampled %t; want 220 ms, 8, false", got.Wall, len(got.Gaps), got.GapsSampled)
		}
	})
}

// What a request waits for is the cap alone.
func TestOpenLoopCapsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inFlight, peak atomic.Int64
		serve := serving(func(int) time.Duration { return time.Second })
		c := chat(func(ctx context.Context, body []byte) openai.Completion {
			peak.Store(max(peak.Load(), inFlight.Add(1)))
			defer inFlight.Add(-1)
			return serve(ctx, body)
		})
		got, err := Run(t.Context(), c, bodies(40), Options{
			Concurrency: 5, Arrivals: Schedule(40, 100, false, 0), Wait: openai.Sleep,
		})
		if err != nil || peak.Load() != 5 || got.Completed != 40 {
			t.Errorf("%d at once, %d completed, %v; want 5, 40", peak.Load(), got.Completed, err)
		}
		if got.Wall != 8*time.Second+40*time.Millisecond {
			t.Errorf("wall %s, want eight rounds, the first begun over 40 ms", got.Wall)
		}
	})
}

// Throughput and times are exact whatever the service times and the concurrency.
func TestTruth(t *testing.T) {
	service := func(n int) time.Duration { return time.Duration(10+(n*37)%191) * time.Millisecond }
	for _, concurrency := range []int{1, 2, 16, 64, 512} {
		for _, arrivals := range [][]time.Duration{nil, Schedule(1024, 100, true, 1)} {
			synctest.Test(t, func(t *testing.T) {
				var begun, ended atomic.Int64 // ns, the server's own record
				start := time.Now()
				serve := serving(service)
				c := chat(func(ctx context.Context, body []byte) openai.Completion {
					begun.CompareAndSwap(0, int64(time.Since(start))+1)
					a := serve(ctx, body)
					ended.Store(int64(time.Since(start)))
					return a
				})
				got, err := Run(t.Context(), c, bodies(1024), Options{Concurrency: concurrency, Arrivals: arrivals, Wait: openai.Sleep})
				if err != nil {
					t.Fatal(err)
				}
				if int64(got.Wall) != ended.Load()-begun.Load()+1 {
					t.Errorf("at %d: wall %s, the server says %s", concurrency, got.Wall, time.Duration(ended.Load()))
				}
				if v := got.Throughput(); v == nil || math.Abs(*v-10240/got.Wall.Seconds()) > 1e-9 {
					t.Errorf("at %d: throughput %v", concurrency, v)
				}
				for i, s := range got.Samples {
					if s.Prompt != i || s.Done-s.Late != service(i) || arrivals != nil && s.Due != arrivals[i] || arrivals == nil && s.Late != 0 {
						t.Fatalf("at %d: sample %+v, want %s of service", concurrency, s, service(i))
					}
				}
			})
		}
	}
}

func TestTurnsAreDueAtTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serving(func(int) time.Duration { return time.Second })
		got, err := Run(t.Context(), c, bodies(1), Options{
			Arrivals: []time.Duration{time.Second}, Turns: []int{2}, Wait: openai.Sleep,
			Follow: func(int, int, *openai.Completion) ([]byte, error) {
				time.Sleep(10 * time.Millisecond) // ours, and so it counts
				return bodies(1)[0], nil
			},
		})
		if err != nil || len(got.Samples) != 2 {
			t.Fatalf("%d samples, %v", len(got.Samples), err)
		}
		if s := got.Samples[1]; s.Turn != 1 || s.Due != 2*time.Second || s.Late != 10*time.Millisecond || s.Done != 1010*time.Millisecond {
			t.Errorf("second turn %+v", s)
		}
	})
}

func TestSchedule(t *testing.T) {
	if got := Schedule(3, 4, false, 9); !cmp.Equal(got, []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond}) {
		t.Errorf("constant: %v", got)
	}
	if got := Schedule(2, math.Inf(1), true, 9); got[1] != 0 {
		t.Errorf("at once: %v", got)
	}
	const n, rate = 100_000, 50.0
	due := Schedule(n, rate, true, 1)
	var sum, squares float64
	for i := 1; i < n; i++ {
		gap := (due[i] - due[i-1]).Seconds()
		sum, squares = sum+gap, squares+gap*gap
	}
	mean := sum / (n - 1)
	cv := math.Sqrt(squares/(n-1)-mean*mean) / mean
	if math.Abs(mean*rate-1) > 0.01 || math.Abs(cv-1) > 0.02 {
		t.Errorf("mean gap %v of %v, coefficient of variation %v of 1", mean, 1/rate, cv)
	}
	if !slices.Equal(due, Schedule(n, rate, true, 1)) || slices.Equal(due, Schedule(n, rate, true, 2)) {
		t.Error("a seed does not decide")
	}
}

func TestArrivalsTooFew(t *testing.T) {
	_, err := Run(t.Context(), nil, bodies(2), Options{Arrivals: Schedule(1, 1, false, 0)})
	if err == nil || err.Error() != "arrivals: 1 due times for 2 prompts" {
		t.Errorf("Run() = %v", err)
	}
}

// The alarm that measures is never early, and a context ends it.
func TestAlarm(t *testing.T) {
	a := newAlarm(nil)
	defer a.close()
	for _, d := range []time.Duration{time.Microsecond, 300 * time.Microsecond, 5 * time.Millisecond} {
		start := time.Now()
		if err := a.wait(t.Context(), d); err != nil || time.Since(start) < d {
			t.Errorf("wait(%s) = %v after %s", d, err, time.Since(start))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.wait(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("wait of an ended context = %v", err)
	}
}

// A pass that ends by its own limits keeps what it had and leaves nothing running.
func TestLimits(t *testing.T) {
	for _, tc := range []struct {
		name      string
		o         Options
		is        error
		completed int
		failed    int
		text      string
	}{
		{"gives up", Options{AbortAfter: 2}, ErrGaveUp, 4, 2, "gave up after 2 failed requests (abort_after_failures), 6 of 40 answered; 2 of them: broken"},
		{"too long", Options{MaxDuration: 4500 * time.Millisecond}, ErrMaxDuration, 3, 1, "the pass reached max_duration_s (4.5 s) with 4 of 40 requests answered"},
		{"gives up, open", Options{AbortAfter: 2, Arrivals: make([]time.Duration, 40)}, ErrGaveUp, 4, 2, "gave up after 2"},
		{"too long before the next is due", Options{MaxDuration: time.Second, Arrivals: Schedule(40, 0.5, false, 0)}, ErrMaxDuration, 0, 0, "0 of 40"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := chat(func(ctx context.Context, body []byte) openai.Completion {
					if err := openai.Sleep(ctx, time.Second+time.Millisecond); err != nil {
						return openai.Completion{Err: err}
					}
					if number(bytes.NewReader(body))%3 == 2 {
						return openai.Completion{Err: errors.New("broken")}
					}
					return openai.Completion{}
				})
				tc.o.Wait = openai.Sleep
				got, err := Run(t.Context(), c, bodies(40), tc.o)
				if !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.text) {
					t.Errorf("Run() = %v, want %q", err, tc.text)
				}
				if got.Completed != tc.completed || got.Failed != tc.failed || len(got.Samples) != tc.completed+tc.failed {
					t.Errorf("%d completed, %d failed, %d samples", got.Completed, got.Failed, len(got.Samples))
				}
			})
		})
	}
}

// Above the limit gaps are a sample of all slots in equal shares.
func TestGapsSampled(t *testing.T) {
	all := &gapCount{limit: 10_000}
	slots := []*tally{{shared: all}, {shared: all}}
	for i, times := range []int{300, 100} { // the first slot has three times as many
		more := make([]time.Duration, 100)
		for j := range more {
			more[j] = time.Duration(i)
		}
		for range times {
			slots[i].gaps.add(more, all)
			if n := int64(len(slots[i].gaps.kept)); n > 2*all.limit {
				t.Fatalf("a slot holds %d gaps, limit %d", n, all.limit)
			}
		}
	}
	var p Pass
	join(slots, &p)
	var second int
	for _, d := range p.Gaps {
		second += int(d)
	}
	if n := len(p.Gaps); !p.GapsSampled || n < 9000 || n > 11000 || second < n/5 || second > n*3/10 {
		t.Errorf("%d gaps, %d of the second slot, sampled %t; want about 10,000 and a quarter of them", n, second, p.GapsSampled)
	}
}
