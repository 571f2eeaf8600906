package runner

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/result"
)

// offered is 200 requests at 10 a second, answered after the time that after gives.
func offered(after func(i int) time.Duration) load.Pass {
	l := load.Pass{Completed: 200, OutputTokens: 2000, Wall: 25 * time.Second}
	for i := range 200 {
		l.Samples = append(l.Samples, load.Sample{Prompt: i, Due: time.Duration(i) * 100 * millisecond, Done: after(i), Tokens: ptr(10)})
	}
	return l
}

// atOnce is n requests that are all due at the start.
func atOnce(n int) load.Pass {
	l := offered(fallsBehind)
	l.Samples = l.Samples[:n]
	for i := range l.Samples {
		l.Samples[i].Due = 0
	}
	return l
}

func keepsUp(int) time.Duration { return 5 * time.Second } // long answers are no lack

func fallsBehind(i int) time.Duration { return time.Second + time.Duration(i)*10*millisecond } // 9.1 of 10 requests/s

func TestSaturated(t *testing.T) {
	failing := offered(keepsUp)
	for i := range 20 {
		failing.Samples[10*i].Failed = "timeout"
	}
	for name, tc := range map[string]struct {
		l    load.Pass
		want bool
	}{
		"keeps up":              {offered(keepsUp), false},
		"falls behind":          {offered(fallsBehind), true},
		"a tenth is given up":   {failing, true},
		"at once":               {atOnce(2), true},
		"one request":           {load.Pass{Samples: []load.Sample{{Done: time.Second}}}, false},
		"nothing":               {load.Pass{}, false},
		"nothing was completed": {load.Pass{Samples: []load.Sample{{Failed: "x"}, {Due: time.Second, Failed: "x"}}}, true},
	} {
		r := ratesOf(&tc.l)
		if got := r.saturated(); got != tc.want {
			t.Errorf("%s: saturated() = %v of %v", name, got, r)
		}
	}
}

// At a finite rate the speedup is said only where a server does not keep up.
func TestSpeedupAtARate(t *testing.T) {
	for _, tc := range []struct {
		name    string
		rate    float64
		base    func(int) time.Duration
		speedup bool
		codes   []string
	}{
		{"closed loop", 0, fallsBehind, true, nil},
		{"inf", math.Inf(1), fallsBehind, true, nil},
		{"both keep up", 10, keepsUp, false, []string{CodeOfferedLoad}},
		{"the baseline does not", 10, fallsBehind, true, []string{CodeSaturated}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newGuarded()
			g.s.Plan.Order = plan.OrderByBlock
			g.run.RequestRate, g.run.NumPrompts = tc.rate, 200
			g.s.schedule = schedule{serverOf: []int{0}, baselineOf: []int{1}}
			g.s.servers = []*server{{plan: &plan.Endpoint{Engine: "x"}}, {plan: &plan.Endpoint{Engine: "x"}}}
			for p, after := range map[*pass]func(int) time.Duration{g.p: keepsUp, g.base: tc.base} {
				p.load, p.inFlight = offered(after), ptr(1.0)
				p.prompts.sent, p.stats.GeneratedTokens = 10, nil // as few as a closed loop must not have
				g.s.digest(p)
			}
			row := g.s.row(&g.run, 0, g.p, g.base, "")
			if got := row.Speedup != nil; got != tc.speedup {
				t.Errorf("speedup %v; %s", row.Speedup, row.Warnings)
			}
			var codes []string
			for _, w := range row.Warnings {
				if slices.Contains([]string{CodeOfferedLoad, CodeSaturated}, w.Code) {
					codes = append(codes, w.Code)
				}
			}
			if !slices.Equal(codes, tc.codes) {
				t.Errorf("codes %q, want %q", codes, tc.codes)
			}
			open := tc.rate == 10
			inFlight := slices.ContainsFunc(row.Warnings, func(w result.Warning) bool { return w.Code == CodeInFlight })
			if few := row.Warnings.On("concurrency"); inFlight == open || few == open {
				t.Errorf("at rate %v: %s", tc.rate, row.Warnings)
			}
			if (row.RequestRate != nil) != open || (row.LatenessP99Ms != nil) != open {
				t.Errorf("request_rate %v, lateness_p99_ms %v", row.RequestRate, row.LatenessP99Ms)
			}
		})
	}
}

// A rate at which all requests are due at once is no offered load that both sides deliver.
func TestSpeedupAtAHugeRate(t *testing.T) {
	for _, rate := range []float64{1e12, 1e308} {
		g := newGuarded()
		g.s.Plan.Order = plan.OrderByBlock
		g.run.RequestRate, g.run.NumPrompts = rate, 200
		g.s.schedule = schedule{serverOf: []int{0}, baselineOf: []int{1}}
		g.s.servers = []*server{{plan: &plan.Endpoint{Engine: "x"}}, {plan: &plan.Endpoint{Engine: "x"}}}
		for _, p := range []*pass{g.p, g.base} {
			p.load, p.inFlight = offered(keepsUp), ptr(1.0)
			for i, due := range load.Schedule(200, rate, true, 1) {
				p.load.Samples[i].Due = due
			}
			g.s.digest(p)
		}
		row := g.s.row(&g.run, 0, g.p, g.base, "")
		if row.Speedup == nil {
			t.Errorf("at %g: no speedup: %s", rate, row.Warnings)
		}
		if text := row.Warnings.String(); !strings.Contains(text, "the server does not keep up") || strings.Contains(text, "offered load") {
			t.Errorf("at %g: %s", rate, text)
		}
	}
}

// Every server of a block gets the same arrivals, each repeat others.
func TestArrivals(t *testing.T) {
	s := &sweep{Options: Options{Plan: &plan.Plan{Arrivals: plan.ArrivalsPoisson, Seed: 7}}}
	due := func(rate float64, repeat int) []time.Duration {
		var o load.Options
		s.arrive(&o, &plan.Run{RequestRate: rate, Repeat: repeat}, 50)
		return o.Arrivals
	}
	if due(0, 0) != nil || due(math.Inf(1), 0) != nil {
		t.Error("arrivals in a closed loop")
	}
	first := due(100, 0)
	if len(first) != 50 || !slices.IsSorted(first) {
		t.Fatalf("arrivals %v", first)
	}
	if !slices.Equal(first, due(100, 0)) {
		t.Error("the same run has other arrivals")
	}
	if slices.Equal(first, due(100, 1)) {
		t.Error("another repeat has the same arrivals")
	}
	s.Plan.Arrivals = plan.ArrivalsConstant
	even := due(100, 0)
	for i := 2; i < len(even); i++ {
		if gap := even[i] - even[i-1]; (gap - 10*millisecond).Abs() > time.Microsecond {
			t.Fatalf("constant arrivals have a gap of %v at %d", gap, i)
		}
	}
}

// Runs of different rates share no baseline.
func TestScheduleSeparatesRates(t *testing.T) {
	pair := &plan.Server{Name: "a", Baseline: &plan.Endpoint{URL: "b"}}
	runs := testRuns([]*plan.Server{pair}, []string{"d"}, 1)
	runs = append(runs, runs[0])
	runs[1].RequestRate = 4
	if s := newSchedule(runs, plan.OrderByBlock, false); len(s.steps) != 4 || s.blockOf[0] == s.blockOf[1] {
		t.Errorf("%d passes in blocks %v, want two pairs", len(s.steps), s.blockOf)
	}
}

// A pass whose requests came at another rate than asked says so.
func TestWarnArrivals(t *testing.T) {
	run := &plan.Run{RequestRate: 20}
	for _, tt := range []struct {
		name string
		came *float64
		want bool
	}{
		{"as asked", ptr(20.4), false},
		{"slower by chance", ptr(15.8), true},
		{"faster by chance", ptr(26.2), true},
		{"not known", nil, false},
	} {
		row := result.Row{}
		warnArrivals(&row, run, rates{came: tt.came})
		if got := row.Warnings.On("request_rate"); got != tt.want {
			t.Errorf("%s: warned %t, want %t: %v", tt.name, got, tt.want, row.Warnings)
		}
	}
}

func TestRatesOfArrivals(t *testing.T) {
	var l load.Pass
	for i := range 5 {
		l.Samples = append(l.Samples, load.Sample{Due: time.Duration(i) * 250 * time.Millisecond})
	}
	if got := ratesOf(&l).came; got == nil || *got != 4 {
		t.Errorf("five requests in a second came at %v/s, want 4", got)
	}
}
