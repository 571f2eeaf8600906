package runner

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/result"
)

const millisecond = time.Millisecond

// streamedPass is three answers, one of a single token, and a request that failed.
func streamedPass() load.Pass {
	return load.Pass{
		Completed: 3, Failed: 1, Wall: 2 * time.Second,
		Samples: []load.Sample{
			{Prompt: 0, FirstToken: 10 * millisecond, Done: 100 * millisecond, Tokens: ptr(10)},                            // tpot 10
			{Prompt: 1, FirstToken: 20 * millisecond, Done: 220 * millisecond, Tokens: ptr(11), Late: 4 * millisecond},     // tpot 20
			{Prompt: 2, FirstToken: 30 * millisecond, Done: 30 * millisecond, Tokens: ptr(1)},                              // no tpot
			{Prompt: 3, FirstToken: 1 * millisecond, Done: 9000 * millisecond, Failed: "timeout", Late: 100 * millisecond}, // not counted
		},
		Gaps: []time.Duration{10 * millisecond, 20 * millisecond, 60 * millisecond},
	}
}

var near = cmp.Options{cmpopts.EquateApprox(0, 1e-9), cmp.AllowUnexported(spread{})}

func TestLatency(t *testing.T) {
	l := streamedPass()
	got := newLatency(&l, plan.SLO{})
	for _, tc := range []struct {
		name      string
		got, want spread
	}{
		{"ttft", got.ttft, spread{ptr(20.0), ptr(20.0), ptr(28.0), ptr(29.8)}},
		{"tpot", got.tpot, spread{ptr(15.0), ptr(15.0), ptr(19.0), ptr(19.9)}},
		{"icl", got.icl, spread{ptr(30.0), ptr(20.0), ptr(52.0), ptr(59.2)}},
		{"e2e", got.e2e, spread{ptr(350.0 / 3), ptr(100.0), ptr(196.0), ptr(217.6)}},
	} {
		if diff := cmp.Diff(tc.want, tc.got, near); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	if got.good != nil {
		t.Error("goodput although nobody asked")
	}
	if v := got.lateP99; v == nil || *v < 97 || *v > 98 {
		t.Errorf("lateness p99 = %v, want 97.12 ms, failed requests included", v)
	}
	none := newLatency(&load.Pass{}, plan.SLO{})
	if diff := cmp.Diff(spread{}, none.ttft, near); diff != "" {
		t.Errorf("of nothing (-want +got):\n%s", diff)
	}
}

func TestGoodput(t *testing.T) {
	for _, tc := range []struct {
		name          string
		slo           plan.SLO
		change        func(*load.Pass)
		share, second *float64
		unknown       int
		reason        string
	}{
		{name: "e2e", slo: plan.SLO{E2EMs: ptr(100.0)}, share: ptr(0.5), second: ptr(1.0)},
		{name: "ttft", slo: plan.SLO{TTFTMs: ptr(10.0)}, share: ptr(0.25), second: ptr(0.5)},
		{name: "tpot, which one token cannot miss", slo: plan.SLO{TPOTMs: ptr(10.0)}, share: ptr(0.5), second: ptr(1.0)},
		{name: "all three", slo: plan.SLO{TTFTMs: ptr(20.0), TPOTMs: ptr(10.0), E2EMs: ptr(1000.0)}, share: ptr(0.25), second: ptr(0.5)},
		{name: "nothing kept", slo: plan.SLO{E2EMs: ptr(1.0)}, share: ptr(0.0), second: ptr(0.0)},
		{name: "tokens not told", slo: plan.SLO{TPOTMs: ptr(100.0)}, share: ptr(0.5), second: ptr(1.0), unknown: 1,
			change: func(l *load.Pass) { l.Samples[0].Tokens = nil }},
		{name: "a turn that was not sent", slo: plan.SLO{E2EMs: ptr(100.0)}, share: ptr(0.4), second: ptr(1.0),
			change: func(l *load.Pass) { l.Failed++ }},
		{name: "not streamed", slo: plan.SLO{TTFTMs: ptr(100.0)}, reason: "set stream: true",
			change: func(l *load.Pass) {
				for i := range l.Samples {
					l.Samples[i].FirstToken = 0
				}
			}},
		{name: "one stream without text", slo: plan.SLO{TTFTMs: ptr(100.0)}, share: ptr(0.5), second: ptr(1.0),
			change: func(l *load.Pass) { l.Samples[1].FirstToken = 0 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := streamedPass()
			if tc.change != nil {
				tc.change(&l)
			}
			got := goodOf(&l, tc.slo)
			if diff := cmp.Diff([]*float64{tc.share, tc.second}, []*float64{got.share, got.perSecond}, near); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.unknown != tc.unknown || !strings.Contains(got.reason, tc.reason) || (got.reason == "") != (tc.reason == "") {
				t.Errorf("unknown %d, reason %q; want %d, %q", got.unknown, got.reason, tc.unknown, tc.reason)
			}
		})
	}
}

func TestOneChunk(t *testing.T) {
	for name, tc := range map[string]struct {
		c    openai.Completion
		want bool
	}{
		"several tokens at once":   {openai.Completion{FirstToken: 1, CompletionTokens: ptr(9)}, true},
		"one token":                {openai.Completion{FirstToken: 1, CompletionTokens: ptr(1)}, false},
		"two chunks":               {openai.Completion{FirstToken: 1, CompletionTokens: ptr(9), Gaps: make([]time.Duration, 1)}, false},
		"not streamed, or no text": {openai.Completion{CompletionTokens: ptr(9)}, false},
		"failed":                   {openai.Completion{FirstToken: 1, CompletionTokens: ptr(9), Err: errors.New("HTTP 500")}, false},
	} {
		if got := oneChunk(&tc.c); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// latencyRow is the row of two passes, streamed or not, with what warns of it.
func latencyRow(stream bool, p, base *pass, noRatio string) result.Row {
	s := &sweep{Options: Options{Plan: &plan.Plan{Stream: stream}}}
	s.digest(p)
	s.digest(base)
	var row result.Row
	s.fillLatency(&row, p)
	s.fillBaselineLatency(&row, base, noRatio)
	return row
}

func TestLatencyInRows(t *testing.T) {
	plain := func() *pass {
		l := streamedPass()
		for i := range l.Samples {
			l.Samples[i].FirstToken = 0
		}
		l.Gaps = nil
		return &pass{load: l}
	}
	slower := streamedPass()
	for i := range slower.Samples {
		q := &slower.Samples[i]
		q.Done = q.FirstToken + 2*(q.Done-q.FirstToken)
	}
	once := streamedPass()
	stream := func() *pass { return &pass{load: streamedPass()} }
	for _, tc := range []struct {
		name    string
		row     result.Row
		speedup *float64
		warn    []string // code and first column
	}{
		{"twice as fast", latencyRow(true, stream(), &pass{load: slower}, ""), ptr(2.0), nil},
		{"the baseline speculates", latencyRow(true, stream(), &pass{load: slower}, "the baseline server speculates itself"), nil, []string{"no_latency tpot_speedup"}},
		{"not streamed and not asked to", latencyRow(false, plain(), plain(), ""), nil, nil},
		{"not streamed although asked to", latencyRow(true, plain(), stream(), ""), nil,
			[]string{"no_latency ttft_mean_ms", "no_latency tpot_mean_ms", "no_latency icl_mean_ms", "no_latency tpot_speedup"}},
		{"the baseline's are missing", latencyRow(true, stream(), plain(), ""), nil,
			[]string{"no_latency baseline_ttft_mean_ms", "no_latency baseline_tpot_mean_ms", "no_latency baseline_icl_mean_ms", "no_latency tpot_speedup"}},
		{"most in one chunk", latencyRow(true, &pass{load: once, oneChunk: 2}, stream(), ""), ptr(1.0), []string{"single_chunk ttft_mean_ms"}},
		{"a few in one chunk", latencyRow(true, &pass{load: streamedPass(), oneChunk: 1}, stream(), ""), ptr(1.0), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, w := range tc.row.Warnings {
				got = append(got, w.Code+" "+w.Columns[0])
			}
			if !slices.Equal(got, tc.warn) {
				t.Errorf("warnings %q, want %q", got, tc.warn)
			}
			if diff := cmp.Diff(tc.speedup, tc.row.TPOTSpeedup, near); diff != "" {
				t.Errorf("tpot_speedup (-want +got):\n%s", diff)
			}
			if tc.row.E2ELatencyP50Ms == nil || tc.row.BaselineE2ELatencyP99Ms == nil {
				t.Error("e2e latency is missing; it needs no stream")
			}
			for _, c := range []struct {
				v    *float64
				name string
			}{{tc.row.TTFTP50Ms, "ttft_p50_ms"}, {tc.row.TPOTP99Ms, "tpot_p99_ms"}, {tc.row.ICLMeanMs, "icl_mean_ms"}, {tc.row.BaselineICLP90Ms, "baseline_icl_p90_ms"}} {
				if c.v == nil && tc.warn != nil && !tc.row.Warnings.On(c.name) {
					t.Errorf("%s is missing without a reason", c.name)
				}
			}
		})
	}
}
