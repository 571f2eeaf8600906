package runner

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/specdec"
)

// guarded is a run whose two passes leave nothing to be said: 128 prompts of which
// each was answered with 100 tokens.
type guarded struct {
	s       *sweep
	run     plan.Run
	p, base *pass
}

func newGuarded() *guarded {
	one := func() *pass {
		return &pass{
			model: "m", prompts: promptInfo{asked: 128, sent: 128, hash: "h"},
			load:     load.Pass{Completed: 128, OutputTokens: 12800, PromptTokens: 10000, Wall: time.Second, Truncated: 64},
			stats:    specdec.Stats{Source: specdec.SourceCounters, GeneratedTokens: ptr(int64(12800)), TokensPerStep: ptr(2.0)},
			inFlight: ptr(15.9), cache: cacheUse{share: ptr(0.001)}, answers: said("a", "b"),
		}
	}
	pair := &plan.Server{Name: "s", Endpoint: plan.Endpoint{Engine: "x"}}
	return &guarded{
		s: &sweep{
			Options: Options{Plan: &plan.Plan{}}, servers: []*server{{plan: &plan.Endpoint{}}},
			schedule: schedule{serverOf: []int{0}},
		},
		run: plan.Run{Server: pair, Dataset: &plan.Dataset{}, Concurrency: 16, MaxNewTokens: 100}, p: one(), base: one(),
	}
}

func (g *guarded) row() result.Row {
	row := result.Row{Concurrency: g.run.Concurrency, MaxNewTokens: g.run.MaxNewTokens, BaselineEngine: "x"}
	g.s.guard(&row, &g.run, 0, g.p, g.base)
	return row
}

func said(texts ...string) []*[32]byte {
	a := newAnswers(len(texts))
	for i, text := range texts {
		c := openai.Completion{Index: i, Body: []byte(fmt.Sprintf(`{"id":"%d","choices":[{"message":{"content":%q}}]}`, i*len(text), text))}
		if text == "" {
			c.Err = fmt.Errorf("HTTP 500")
		}
		a.keep(&c)
	}
	return a.sums()
}

// Each guard fires in one row and is silent in a neighbour of it.
func TestGuards(t *testing.T) {
	quiet := newGuarded().row()
	if len(quiet.Warnings) > 0 || quiet.OutputMatch == nil || *quiet.OutputMatch != 1 {
		t.Fatalf("a fair run: %s, output_match %v", quiet.Warnings, quiet.OutputMatch)
	}
	for _, tc := range []struct {
		name, code, text string
		columns          []string // nil: silent
		change           func(*guarded)
	}{
		{"others' tokens", CodeForeignTraffic, "other traffic: the server generated 13100 tokens in the pass, 12800 of them for us",
			[]string{"accept_length", "acceptance_rate", "output_throughput_tok_s", "speedup"}, func(g *guarded) { g.p.stats.GeneratedTokens = ptr(int64(13100)) }},
		{"others' tokens, counts of the answers", CodeForeignTraffic, "other traffic",
			[]string{"output_throughput_tok_s", "speedup"}, func(g *guarded) {
				g.p.stats.GeneratedTokens, g.p.stats.Source = ptr(int64(13100)), specdec.SourceRequest
			}},
		{"others' tokens at the baseline", CodeForeignTraffic, "baseline: other traffic",
			[]string{"baseline_throughput_tok_s", "speedup"}, func(g *guarded) { g.base.stats.GeneratedTokens = ptr(int64(20000)) }},
		{"too few tokens", CodeForeignTraffic, "do not cover all of it",
			[]string{"accept_length", "acceptance_rate", "output_throughput_tok_s", "speedup"}, func(g *guarded) { g.p.stats.GeneratedTokens = ptr(int64(6400)) }},
		{"tokens within 2 %", CodeForeignTraffic, "", nil, func(g *guarded) { g.p.stats.GeneratedTokens = ptr(int64(13050)) }},
		{"tokens not counted", CodeForeignTraffic, "", nil, func(g *guarded) { g.p.stats.GeneratedTokens = nil }},
		{"tokens of attempts of ours", CodeForeignTraffic, "", nil, func(g *guarded) { g.p.stats.GeneratedTokens, g.p.load.Retries = ptr(int64(20000)), 1 }},

		{"other work", CodeTokenCounts, "12800 output tokens against 12600 of the baseline, +1.6 %",
			[]string{"output_tokens", "baseline_output_tokens", "speedup"}, func(g *guarded) { g.base.load.OutputTokens = 12600; g.base.stats.GeneratedTokens = nil }},
		{"work within 1 %", CodeTokenCounts, "", nil, func(g *guarded) { g.base.load.OutputTokens = 12700 }},

		{"most answers cut", CodeTruncated, "65 of 128 answers were cut at max_new_tokens 100",
			[]string{"truncated", "mean_output_tokens"}, func(g *guarded) { g.p.load.Truncated = 65 }},
		{"half of the answers cut", CodeTruncated, "", nil, func(g *guarded) { g.p.load.Truncated = 64 }},

		{"slots empty", CodeInFlight, "15.1 of 16 requests in flight",
			[]string{"mean_in_flight", "output_throughput_tok_s", "speedup"}, func(g *guarded) { g.p.inFlight = ptr(15.1) }},
		{"slots empty at the baseline", CodeInFlight, "baseline: 8.0 of 16",
			[]string{"mean_in_flight", "baseline_throughput_tok_s", "speedup"}, func(g *guarded) { g.base.inFlight = ptr(8.0) }},
		{"slots full enough", CodeInFlight, "", nil, func(g *guarded) { g.p.inFlight = ptr(15.2) }},
		{"nothing but the end", CodeInFlight, "", nil, func(g *guarded) { g.p.inFlight = nil }},

		{"few prompts", CodeFewPrompts, "127 prompts for concurrency 16", []string{"output_throughput_tok_s", "speedup"}, func(g *guarded) { g.p.prompts.sent = 127 }},
		{"fewer prompts than slots", CodeFewPrompts, "", nil, func(g *guarded) { g.p.prompts.sent = 8 }},

		{"the plan's top_k", CodeGreedy, "temperature 0.7 has no effect: the plan's top_k is 1",
			[]string{"temperature", "accept_length", "acceptance_rate"}, func(g *guarded) { g.run.Temperature, g.s.Plan.TopK = 0.7, ptr(1) }},
		{"extra_body's top_k", CodeGreedy, "extra_body's top_k is 1",
			[]string{"temperature", "accept_length", "acceptance_rate"}, func(g *guarded) {
				g.run.Temperature, g.run.Dataset.ExtraBody = 0.7, map[string]any{"top_k": int64(1)}
			}},
		{"the server's top_k", CodeGreedy, "the server's default top_k is 1",
			[]string{"temperature", "accept_length", "acceptance_rate"}, func(g *guarded) {
				g.run.Temperature, g.s.servers[0].desc.Spec = 0.7, map[string]string{"default_top_k": "1"}
			}},
		{"the server's top_k is not used", CodeGreedy, "", nil, func(g *guarded) {
			g.run.Temperature, g.s.servers[0].desc.Spec, g.s.Plan.TopK = 0.7, map[string]string{"default_top_k": "1"}, ptr(20)
		}},
		{"greedy is what is wanted", CodeGreedy, "", nil, func(g *guarded) { g.s.Plan.TopK = ptr(1) }},

		{"another model", CodeBaselineModel, "(other against m)", []string{"speedup"}, func(g *guarded) { g.base.model = "other" }},

		{"cache not emptied", CodePrefixCacheUnknown, "HTTP 400",
			[]string{"output_throughput_tok_s", "speedup"}, func(g *guarded) { g.p.cache.unknown = "HTTP 400" }},
		{"warmer than the first pass", CodePrefixCacheHits, "96 % of the prompt tokens came from the prefix cache, 0 % in the first pass",
			[]string{"output_throughput_tok_s", "speedup"}, func(g *guarded) {
				g.p.cache = cacheUse{share: ptr(0.96), first: ptr(0.0)}
				g.base.cache = g.p.cache
			}},
		{"warmer than the pair", CodePrefixCacheHits, "40 % of the prompt tokens came from the prefix cache, 0 % in the baseline's pass",
			[]string{"output_throughput_tok_s", "speedup"}, func(g *guarded) { g.p.cache.share = ptr(0.4) }},
		{"warmer baseline", CodePrefixCacheHits, "baseline: 40 % of the prompt tokens came from the prefix cache, 0 % in the server's pass",
			[]string{"baseline_throughput_tok_s", "speedup"}, func(g *guarded) { g.base.cache.share = ptr(0.4) }},
		{"a beginning shared within both", CodePrefixCacheHits, "", nil, func(g *guarded) { g.p.cache.share, g.base.cache.share = ptr(0.4), ptr(0.395) }},
		{"the pair's cache not counted", CodePrefixCacheHits, "", nil, func(g *guarded) { g.p.cache.share, g.base.cache.share = ptr(0.4), nil }},

		{"the warm-up inside", CodeWarmupInside, "32 requests", []string{"accept_length", "acceptance_rate"}, func(g *guarded) {
			g.p.stats.Source, g.p.warmups = specdec.SourceRestart, 32
		}},
		{"no warm-up inside", CodeWarmupInside, "", nil, func(g *guarded) { g.p.stats.Source, g.p.warmups = specdec.SourceFlush, 32 }},

		{"answers not compared", CodeNotCompared, "temperature 0", []string{"output_match"}, func(g *guarded) { g.run.Temperature = 1 }},
		{"no answers to compare", CodeNotCompared, "there is no pass of the baseline", []string{"output_match"}, func(g *guarded) { g.base = nil }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newGuarded()
			tc.change(g)
			row := g.row()
			i := slices.IndexFunc(row.Warnings, func(w result.Warning) bool { return w.Code == tc.code })
			switch {
			case i < 0 && tc.columns != nil:
				t.Fatalf("%s does not fire: %s", tc.code, row.Warnings)
			case i >= 0 && tc.columns == nil:
				t.Fatalf("%s fires: %s", tc.code, row.Warnings)
			case i < 0:
				return
			}
			w := row.Warnings[i]
			if diff := cmp.Diff(tc.columns, w.Columns); diff != "" || !strings.Contains(w.Text, tc.text) {
				t.Errorf("%q, want %q; columns (-want +got):\n%s", w.Text, tc.text, diff)
			}
		})
	}
}

func TestStrict(t *testing.T) {
	for _, tc := range []struct {
		name  string
		codes []string
		want  string
	}{
		{"nothing fired", nil, ""},
		{"never fatal", []string{CodeTruncated, CodeFewPrompts, CodeNotCompared, CodeNotReported, CodeEffectiveConcurrency, CodeNotInterleaved}, ""},
		{"two guards, one twice", []string{CodeForeignTraffic, CodeTruncated, CodeRetries, CodeForeignTraffic},
			"strict: foreign_traffic, retries (see warnings)"},
	} {
		row := result.Row{OutputTokens: ptr(int64(5))}
		for _, code := range tc.codes {
			warn(&row, code, "x")
		}
		if beStrict(&row); row.Error != tc.want || row.OutputTokens == nil {
			t.Errorf("%s: error %q, want %q and the numbers kept", tc.name, row.Error, tc.want)
		}
	}
	for _, code := range strictCodes() {
		row := result.Row{}
		warn(&row, code, "x")
		if beStrict(&row); row.OK() {
			t.Errorf("%s is not fatal", code)
		}
	}
}

func TestMatching(t *testing.T) {
	for _, tc := range []struct {
		name string
		a, b []*[32]byte
		want *float64
	}{
		{"equal texts under other ids", said("a", "bb"), said("a", "bb"), ptr(1.0)},
		{"one of two", said("a", "b"), said("a", "c"), ptr(0.5)},
		{"a failed one does not count", said("a", "b", ""), said("a", "", "c"), ptr(1.0)},
		{"none on both sides", said("", "b"), said("a", ""), nil},
		{"not kept", nil, said("a"), nil},
	} {
		if diff := cmp.Diff(tc.want, matching(tc.a, tc.b)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	thoughts := func(text string) []byte {
		return answerText([]byte(`{"choices":[{"message":{"content":"x","reasoning_content":"` + text + `"}}]}`))
	}
	if string(thoughts("a")) == string(thoughts("b")) {
		t.Error("other thoughts are the same answer")
	}
	for _, bad := range []string{"", "<html>", `{"choices":[]}`} {
		if text := answerText([]byte(bad)); text != nil {
			t.Errorf("answerText(%q) = %s", bad, text)
		}
	}
}

func TestMeanInFlight(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	// Two slots; the second pauses for 10 ms, and the tail after 30 ms does not count.
	w := &watch{spans: []span{{at(0), at(20)}, {at(0), at(10)}, {at(20), at(90)}, {at(20), at(30)}, {at(30), at(40)}}}
	w.next.Store(5)
	if got := w.body(2); got == nil || fmt.Sprintf("%.3f", *got) != "1.667" {
		t.Errorf("body(2) = %v, want 50 ms in 30 ms", got)
	}
	if got := w.body(5); got != nil {
		t.Errorf("body(5) = %v, want nil: every request had its slot from the start", *got)
	}
}

// T01: hits of the second pass over the same prompts, by the server's counters.
func TestCaseT01HitShare(t *testing.T) {
	c := func(queried, hits int64) *engine.CacheCounts {
		return &engine.CacheCounts{Queried: queried, Hits: hits}
	}
	for _, tc := range []struct {
		name          string
		before, after *engine.CacheCounts
		cached        *int64
		want          *float64
	}{
		{"first pass", c(5000, 100), c(15240, 100), nil, ptr(0.0)},
		{"second pass", c(15240, 100), c(25480, 9930), nil, ptr(9830.0 / 10240)},
		{"counters absent", nil, nil, nil, nil},
		{"counters absent, usage tells", nil, c(1, 1), ptr(int64(400)), ptr(0.4)},
		{"counters fell", c(15240, 100), c(300, 20), ptr(int64(400)), nil},
		{"hits fell", c(100, 100), c(200, 20), nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := hitShare(tc.before, tc.after, &load.Pass{PromptTokens: 1000, CachedTokens: tc.cached})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
