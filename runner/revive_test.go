package runner_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner"
	"github.com/specsweep/specsweep/runner/engine/all"
	"github.com/specsweep/specsweep/runner/sim"
)

// mortal is an address whose server can die and come back as a new one: while it is
// down, every connection ends without an answer.
type mortal struct {
	t   *testing.T
	url string

	mu     sync.Mutex
	server string // address of the one that serves; empty: down
	looks  int    // GET /health while it was down
	back   func(looks int) *sim.Config
	dies   int // after so many chat requests; 0: never
	chats  int
}

func newMortal(t *testing.T, c sim.Config) *mortal {
	t.Helper()
	m := &mortal{t: t}
	m.start(c)
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

// start makes a new server, whose counters stand at zero.
func (m *mortal) start(c sim.Config) {
	s, err := sim.Listen(c, "127.0.0.1:0")
	if err != nil {
		m.t.Error(err)
		return
	}
	m.t.Cleanup(func() { _ = s.Close() })
	m.server = s.URL()
}

func (m *mortal) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.server, m.looks = "", 0
}

// serving is the address of who answers the request; empty: nobody.
func (m *mortal) serving(r *http.Request) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		if m.chats++; m.chats == m.dies {
			m.server = ""
			return ""
		}
	}
	if m.server == "" && m.back != nil {
		if r.URL.Path == "/health" {
			m.looks++
		}
		if c := m.back(m.looks); c != nil {
			m.start(*c)
		}
	}
	return m.server
}

func (m *mortal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to := m.serving(r)
	if to == "" {
		panic(http.ErrAbortHandler) // closes the connection
	}
	forward(m.t, to, w, r)
}

// afterLooks lets a server come back at the nth look at its health. A look on a kept
// connection is taken twice, so the first two may be one of the client's.
func afterLooks(n int, c sim.Config) func(int) *sim.Config {
	return func(looks int) *sim.Config {
		if looks < n {
			return nil
		}
		return &c
	}
}

func never(int) *sim.Config { return nil }

func mortalPlan(t *testing.T, url string, repeats int, more string) string {
	return oneServer(t, url, 4, fmt.Sprintf("repeats: %d\nmax_retries: 0\n%s", repeats, more))
}

// A server that is gone between two runs is waited for.
func TestGoneBetweenRuns(t *testing.T) {
	spec := sim.Config{Model: "m", Accept: []float64{0.5}, Seed: 1, Same: true}
	newer := spec
	newer.Version = "0.33.0"
	for _, tt := range []struct {
		name   string
		back   func(int) *sim.Config
		wait   string
		errors []string // of the three rows, a part each; empty: ok
	}{
		{"comes back", afterLooks(5, spec), "60", []string{"", "", ""}},
		{"does not wait", never, "0", []string{"", "the server is gone: not ready", "the server is gone: not ready"}},
		{"waits once in vain", never, "0.3", []string{"", "the server is gone: not ready after 300ms", "the server is gone: not ready: "}},
		{"comes back as another one", afterLooks(5, newer), "60", []string{"", "another version: it was 0.32.0, it is 0.33.0", "another version"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMortal(t, spec)
			m.back = tt.back
			s := &sink{stopAt: 1, stop: m.die}
			if err := sweep(t.Context(), t, mortalPlan(t, m.url, 3, "server_wait_s: "+tt.wait), s); err != nil {
				t.Fatal(err)
			}
			for i, want := range tt.errors {
				if got := s.rows[i].Error; (got == "") != (want == "") || !strings.Contains(got, want) {
					t.Errorf("row %d: error %q, want %q", i, got, want)
				}
			}
		})
	}
}

// A server that stays away costs one wait; the runs after it ask once, and one that is
// back by then is measured.
func TestBackAfterAWaitInVain(t *testing.T) {
	spec := sim.Config{Model: "m", Accept: []float64{0.5}}
	m := newMortal(t, spec)
	m.back = never
	s := &sink{stopAt: 1}
	s.stop = func() {
		m.die()
		s.stopAt, s.stop = 3, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.back = afterLooks(0, spec)
		}
	}
	if err := sweep(t.Context(), t, mortalPlan(t, m.url, 4, "server_wait_s: 0.2"), s); err != nil {
		t.Fatal(err)
	}
	var ok []bool
	for i := range s.rows {
		ok = append(ok, s.rows[i].OK())
	}
	if fmt.Sprint(ok) != "[true false false true]" {
		t.Errorf("ok: %v, want the first and the last", ok)
	}
}

// A server that dies in the middle of a pass and comes back has counters at zero: what
// they say of the pass is n/a, with the reason.
func TestDiesInTheMiddleOfAPass(t *testing.T) {
	spec := sim.Config{Model: "m", Accept: []float64{0.5}, Seed: 1}
	m := newMortal(t, spec)
	m.back = func(int) *sim.Config { return &spec } // at the next request
	m.dies = 4 + 3                                  // the third of the second pass
	s := &sink{}
	if err := sweep(t.Context(), t, mortalPlan(t, m.url, 3, ""), s); err != nil {
		t.Fatal(err)
	}
	for i, fell := range []bool{false, true, false} {
		r := s.rows[i]
		if !r.OK() || *r.Completed+*r.Failed != 4 {
			t.Fatalf("row %d: %q, %d completed, %d failed; want 4 requests", i, r.Error, *r.Completed, *r.Failed)
		}
		if got := r.AcceptLength == nil && strings.Contains(r.Warnings.String(), "restarted"); got != fell {
			t.Errorf("row %d: accept_length n/a because the counters fell: %v, want %v (%s)", i, got, fell, r.Warnings)
		}
	}
}

// An address that speaks TLS where the plan says http, or the other way round, is an
// error at once: waiting for it would not help.
func TestWrongScheme(t *testing.T) {
	h, err := sim.New(sim.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	plain, secure := httptest.NewServer(h.Handler()), httptest.NewTLSServer(h.Handler())
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	for _, tt := range []struct{ name, url, want string }{
		{"TLS to a plain server", strings.Replace(plain.URL, "http://", "https://", 1), "HTTP response to HTTPS client"},
		{"plain to a TLS server", strings.Replace(secure.URL, "https://", "http://", 1), "HTTP 400"},
		{"a certificate that nobody trusts", secure.URL, "certificate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s := &sink{}
			if err := sweep(ctx, t, mortalPlan(t, tt.url, 2, "server_wait_s: 600"), s); err != nil {
				t.Fatal(err)
			}
			for _, r := range s.rows {
				if !strings.Contains(r.Error, tt.want) {
					t.Errorf("error %q, want %q", r.Error, tt.want)
				}
			}
		})
	}
}

// max_duration_s of the sweep ends it in the middle of a pass that would take an hour.
func TestMaxSweepDuration(t *testing.T) {
	fast, stalled := simServer(t, sim.Config{Model: "m"}), simServer(t, sim.Config{Model: "m", Latency: time.Hour})
	for _, tt := range []struct {
		name              string
		baseline, a, b    string
		limit             time.Duration
		want              string
		rows, withoutBase int
	}{
		{"strikes the first pass", stalled, fast, fast, 500 * time.Millisecond, "the sweep reached max_duration_s (sweep: 0.5 s) with 2 of 2 runs left; --resume makes them", 0, 0},
		{"strikes the last pass", "none", fast, stalled, time.Second, "the sweep reached max_duration_s (sweep: 1 s) with 1 of 2 runs left; --resume makes them", 1, 1},
		{"does not strike", fast, fast, fast, time.Hour, "", 2, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := fmt.Sprintf("engine: vllm\nservers: [{name: a, server: %s, baseline_server: %s}, {name: b, server: %s, baseline_server: %s}]\n"+
				"datasets: [{name: d, input_data: %s, prompt_column: prompt}]\nnum_prompts: 2\nconcurrency: 1\nwarmup_prompts: 0\n",
				tt.a, tt.baseline, tt.b, tt.baseline, promptsFile(t, 2))
			s := &sink{}
			err := sweepChanged(t.Context(), t, all.Engines(), text, s, func(p *plan.Plan, _ []plan.Run) { p.MaxSweepDuration = tt.limit })
			if errors.Is(err, runner.ErrMaxSweep) != (tt.want != "") || tt.want != "" && err.Error() != tt.want {
				t.Errorf("Sweep = %v, want %q", err, tt.want)
			}
			without := 0
			for i := range s.rows {
				if s.rows[i].BaselineThroughputTokS == nil {
					without++
				}
			}
			if len(s.rows) != tt.rows || without != tt.withoutBase {
				t.Errorf("%d rows, %d of them without a baseline; want %d and %d", len(s.rows), without, tt.rows, tt.withoutBase)
			}
		})
	}
}

// An interrupt within the sweep's time is an interrupt.
func TestInterruptedBeforeMaxSweepDuration(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &sink{stopAt: 1, stop: cancel}
	text := oneServer(t, simServer(t, sim.Config{Model: "m"}), 2, "repeats: 3")
	err := sweepChanged(ctx, t, all.Engines(), text, s, func(p *plan.Plan, _ []plan.Run) { p.MaxSweepDuration = time.Hour })
	if !errors.Is(err, context.Canceled) || errors.Is(err, runner.ErrMaxSweep) || len(s.rows) != 1 {
		t.Errorf("Sweep = %v and %d rows, want it canceled and 1", err, len(s.rows))
	}
}
