package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/specsweep/specsweep/runner/openai"
)

// reply is one answer of a case's server.json.
type reply struct {
	Status int
	JSON   json.RawMessage
	Text   string
	File   string
}

func replies(t *testing.T, data []byte) []reply {
	t.Helper()
	var file struct {
		Replies []reply
		Routes  []struct{ Replies []reply }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Routes) > 0 {
		return file.Routes[0].Replies
	}
	return file.Replies
}

// cycle gives prompt n the n-th reply, going round, on every attempt.
func cycle(list []reply, files func(string) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := list[number(r.Body)%len(list)]
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.JSON)
		_, _ = io.WriteString(w, a.Text)
		if a.File != "" {
			_, _ = w.Write(files(a.File))
		}
	}
}

var ignoreTimes = cmpopts.IgnoreFields(Pass{}, "Started", "Wall", "InFlight", "RetryWait", "Samples")

// One answer of four has no usage: it is completed, adds nothing, and is counted.
func TestCaseH01UsageMissing(t *testing.T) {
	list := replies(t, testdata(t, "H01/server.json"))
	s := server(t, cycle(list, func(name string) []byte { return testdata(t, "H01/"+name) }))
	got, err := Run(t.Context(), client(t, s, openai.Options{}), bodies(4), Options{Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := Pass{
		Completed: 4, OutputTokens: 120, PromptTokens: 36, UsageMissing: 1, PromptUsageMissing: 1, Model: "toy-target",
	}
	if diff := cmp.Diff(want, got, ignoreTimes); diff != "" {
		t.Errorf("Run() (-want +got):\n%s", diff)
	}
}

// Every fourth prompt fails for good.
func TestCaseH16PartialFailure(t *testing.T) {
	list := replies(t, testdata(t, "H16/partial.json"))
	s := server(t, cycle(list, nil))
	got, err := Run(t.Context(), client(t, s, openai.Options{MaxRetries: 3}), bodies(64), Options{Concurrency: 16})
	if err != nil {
		t.Fatal(err)
	}
	want := Pass{
		Completed: 48, Failed: 16, OutputTokens: 480, PromptTokens: 576, Retries: 48, Model: "toy-target",
		Failures: []Failure{{Kind: "HTTP 500: boom", Example: "HTTP 500: boom", Count: 16}},
	}
	if diff := cmp.Diff(want, got, ignoreTimes); diff != "" {
		t.Errorf("Run() (-want +got):\n%s", diff)
	}
}

// rounds opens a door whenever so many wait before it.
type rounds struct {
	mu      sync.Mutex
	size    int
	waiting int
	open    chan struct{}
}

func (r *rounds) enter() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := r.open
	if r.waiting++; r.waiting == r.size {
		r.waiting, r.open = 0, make(chan struct{})
		close(open)
	}
	return open
}

// barrier is a server that holds its answers until a round is complete, and
// tells the most that it ever had in flight.
type barrier struct {
	rounds rounds

	mu       sync.Mutex
	inFlight int
	peak     int
}

func newBarrier(size int) *barrier {
	return &barrier{rounds: rounds{size: size, open: make(chan struct{})}}
}

func (b *barrier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	b.mu.Lock()
	b.inFlight++
	b.peak = max(b.peak, b.inFlight)
	b.mu.Unlock()
	select {
	case <-b.rounds.enter():
	case <-r.Context().Done():
	}
	b.mu.Lock()
	b.inFlight--
	b.mu.Unlock()
	_, _ = io.WriteString(w, good)
}

// 256 prompts at concurrency 128: as many in flight as asked, never more, over as
// many connections as that takes.
func TestCaseT04PeakInFlight(t *testing.T) {
	const prompts, concurrency = 256, 128
	b := newBarrier(concurrency)
	var conns atomic.Int64
	s := httptest.NewUnstartedServer(b)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	got, err := Run(t.Context(), client(t, s, openai.Options{MaxConns: concurrency}), bodies(prompts), Options{Concurrency: concurrency})
	if err != nil {
		t.Fatal(err)
	}
	if got.Completed != prompts || got.Retries != 0 {
		t.Errorf("%d completed, %d retries; want %d, 0 (%v)", got.Completed, got.Retries, prompts, got.Failures)
	}
	if b.peak != concurrency {
		t.Errorf("at most %d in flight, want exactly %d", b.peak, concurrency)
	}
	if n := conns.Load(); n < concurrency || n > 140 {
		t.Errorf("%d connections, want about %d", n, concurrency)
	}
}

// Whenever nothing moves, exactly as many requests are in flight as asked, until
// the prompts run out.
func TestCaseT04NeverAboveTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const prompts, concurrency = 20, 8
		var inFlight atomic.Int64
		answer := make(chan struct{})
		c := chat(func(context.Context, []byte) openai.Completion {
			inFlight.Add(1)
			defer inFlight.Add(-1)
			<-answer
			return openai.Completion{}
		})
		done := make(chan error)
		go func() {
			_, err := Run(t.Context(), c, bodies(prompts), Options{Concurrency: concurrency})
			done <- err
		}()
		for left := prompts; left > 0; left-- {
			synctest.Wait()
			if got, want := inFlight.Load(), int64(min(left, concurrency)); got != want {
				t.Errorf("%d in flight with %d prompts left, want %d", got, left, want)
			}
			answer <- struct{}{}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Fewer prompts than slots: all go out at once.
func TestCaseT04FewerPromptsThanSlots(t *testing.T) {
	for _, concurrency := range []int{16, 64} {
		b := newBarrier(8)
		s := httptest.NewServer(b)
		t.Cleanup(s.Close)
		got, err := Run(t.Context(), client(t, s, openai.Options{}), bodies(8), Options{Concurrency: concurrency})
		if err != nil {
			t.Fatal(err)
		}
		if got.Completed != 8 || b.peak != 8 {
			t.Errorf("concurrency %d: %d completed, peak %d, want 8 and 8", concurrency, got.Completed, b.peak)
		}
	}
}

// Each prompt is sent once, in order, and observed under its own index.
func TestRunOrderAndObserve(t *testing.T) {
	for _, concurrency := range []int{-1, 0, 1, 3, 50, 1000} {
		var mu sync.Mutex
		var sent, seen []int
		c := chat(func(_ context.Context, body []byte) openai.Completion {
			mu.Lock()
			defer mu.Unlock()
			n := number(bytes.NewReader(body))
			sent = append(sent, n)
			return openai.Completion{PromptTokens: ptr(n)}
		})
		got, err := Run(t.Context(), c, bodies(50), Options{Concurrency: concurrency, Observe: func(c *openai.Completion) {
			mu.Lock()
			defer mu.Unlock()
			if *c.PromptTokens != c.Index {
				t.Errorf("the answer to prompt %d came under index %d", *c.PromptTokens, c.Index)
			}
			seen = append(seen, c.Index)
		}})
		if err != nil {
			t.Fatal(err)
		}
		if concurrency <= 1 && !slices.IsSorted(sent) {
			t.Errorf("concurrency %d: sent %v, want in order", concurrency, sent)
		}
		slices.Sort(sent)
		slices.Sort(seen)
		want := make([]int, 50)
		for i := range want {
			want[i] = i
		}
		if !slices.Equal(sent, want) || !slices.Equal(seen, want) || got.Completed != 50 {
			t.Errorf("concurrency %d: sent %v, observed %v, %d completed; want each once", concurrency, sent, seen, got.Completed)
		}
	}
}

// The clock runs from the first send to the last answer; a slow observer of the
// last answer is no part of it. In flight are requests alone.
func TestRunClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := []time.Duration{5 * time.Second, 1 * time.Second, 2 * time.Second, 1 * time.Second}
		c := chat(func(_ context.Context, body []byte) openai.Completion {
			d := took[number(bytes.NewReader(body))]
			time.Sleep(d) // synctest's time
			return openai.Completion{CompletionTokens: ptr(10), Elapsed: d}
		})
		start := time.Now()
		got, err := Run(t.Context(), c, bodies(4), Options{Concurrency: 2, Observe: func(c *openai.Completion) {
			if c.Index == 0 {
				time.Sleep(time.Hour)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Started.Equal(start) || got.Wall != 5*time.Second || got.InFlight != 9*time.Second {
			t.Errorf("started %s later, wall %s, in flight %s; want 0s, 5s, 9s", got.Started.Sub(start), got.Wall, got.InFlight)
		}
		if v := got.Throughput(); v == nil || *v != 8 {
			t.Errorf("Throughput() = %v, want 40 tokens / 5 s", v)
		}
		if v := got.MeanInFlight(); v == nil || *v != 1.8 {
			t.Errorf("MeanInFlight() = %v, want 9 s / 5 s", v)
		}
	})
}

func TestRunNowInjected(t *testing.T) {
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	c := chat(func(context.Context, []byte) openai.Completion {
		now = now.Add(time.Second)
		return openai.Completion{}
	})
	got, err := Run(t.Context(), c, bodies(3), Options{Concurrency: 1, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if got.Wall != 3*time.Second || !got.Started.Equal(now.Add(-3*time.Second)) {
		t.Errorf("started %s, wall %s, want 3 s before %s", got.Started, got.Wall, now)
	}
}

func TestRunNothing(t *testing.T) {
	got, err := Run(t.Context(), nil, nil, Options{Concurrency: 4})
	if err != nil || got.Completed+got.Failed != 0 || got.Wall != 0 {
		t.Errorf("Run() of nothing = %+v, %v", got, err)
	}
	if got.Throughput() != nil || got.MeanInFlight() != nil {
		t.Error("a pass over nothing has a throughput")
	}
}

// A pass that the context cut is no result, and nothing is sent after it.
func TestRunCancelled(t *testing.T) {
	stop := errors.New("interrupt")
	ctx, cancel := context.WithCancelCause(t.Context())
	var sent atomic.Int64
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		n := number(r.Body)
		sent.Add(1)
		if n < 3 {
			_, _ = io.WriteString(w, good)
			return
		}
		cancel(stop)
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	var observed atomic.Int64
	got, err := Run(ctx, client(t, s, openai.Options{MaxRetries: 3}), bodies(50), Options{
		Concurrency: 1, Observe: func(*openai.Completion) { observed.Add(1) },
	})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, stop) || !strings.Contains(err.Error(), "3 of 50") {
		t.Errorf("Run() error = %v, want the context's after 3 of 50", err)
	}
	if diff := cmp.Diff(Pass{}, got); diff != "" {
		t.Errorf("Run() gave half a pass:\n%s", diff)
	}
	if sent.Load() != 4 || observed.Load() != 3 {
		t.Errorf("%d sent, %d observed, want 4 and 3", sent.Load(), observed.Load())
	}
}

// A context that ends with or after the last answer takes nothing away.
func TestRunCancelledTooLate(t *testing.T) {
	for _, when := range []string{"with the answer", "after it"} {
		ctx, cancel := context.WithCancel(t.Context())
		c := chat(func(_ context.Context, body []byte) openai.Completion {
			if when == "with the answer" && number(bytes.NewReader(body)) == 2 {
				cancel()
			}
			return openai.Completion{}
		})
		got, err := Run(ctx, c, bodies(3), Options{Concurrency: 1, Observe: func(c *openai.Completion) {
			if c.Index == 2 {
				cancel()
			}
		}})
		if err != nil || got.Completed != 3 {
			t.Errorf("cancelled %s: Run() = %d completed, %v; want all 3", when, got.Completed, err)
		}
	}
}

// Sums are right under every way in which prompts fall to slots.
func TestRunSums(t *testing.T) {
	answers := []openai.Completion{
		{CompletionTokens: ptr(10), PromptTokens: ptr(3), CachedTokens: ptr(2), FinishReason: "length", Elapsed: 2, Retries: 1, RetryWait: 5},
		{Err: errors.New("odd 2")},
		{Err: &openai.HTTPError{Status: 400, Message: "asked for 17 tokens"}, Elapsed: 1, Retries: 2, RetryWait: 6},
		{CompletionTokens: ptr(20), PromptTokens: ptr(4), CachedTokens: ptr(0), FinishReason: "stop", Model: "first"},
		{Model: "second"},
		{Err: &openai.HTTPError{Status: 400, Message: "asked for 18 tokens"}},
	}
	want := Pass{
		Completed: 3, Failed: 3, OutputTokens: 30, PromptTokens: 7, CachedTokens: ptr[int64](2),
		UsageMissing: 1, PromptUsageMissing: 1, Truncated: 1, Retries: 3, RetryWait: 11, InFlight: 3, Model: "first",
		Failures: []Failure{
			{Kind: "HTTP 400: asked for # tokens", Example: "HTTP 400: asked for 17 tokens", Count: 2},
			{Kind: "odd #", Example: "odd 2", Count: 1},
		},
	}
	for _, concurrency := range []int{1, 2, 3, 6} {
		// Answers come in rounds, so that every slot has its share.
		round := rounds{size: concurrency, open: make(chan struct{})}
		c := chat(func(_ context.Context, body []byte) openai.Completion {
			<-round.enter()
			return answers[number(bytes.NewReader(body))]
		})
		got, err := Run(t.Context(), c, bodies(len(answers)), Options{Concurrency: concurrency})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Pass{}, "Started", "Wall", "Samples")); diff != "" {
			t.Errorf("concurrency %d (-want +got):\n%s", concurrency, diff)
		}
	}
}

func TestThroughput(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    Pass
		want *float64
	}{
		{"both", Pass{OutputTokens: 300, Wall: 2 * time.Second}, ptr(150.0)},
		{"no tokens", Pass{Wall: 2 * time.Second}, nil},
		{"no time", Pass{OutputTokens: 300}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.p.Throughput()); diff != "" {
				t.Errorf("Throughput() (-want +got):\n%s", diff)
			}
		})
	}
}
