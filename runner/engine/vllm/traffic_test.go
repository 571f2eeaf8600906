package vllm_test

import (
	"math"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/specdec"
)

// steps is what a pass should say of tokens per step; perStep NaN: nil.
type steps struct {
	perStep    float64
	generated  int64 // -1: nil
	code, text string
}

func (w steps) check(t *testing.T, s specdec.Stats) {
	t.Helper()
	switch {
	case math.IsNaN(w.perStep) && s.TokensPerStep != nil:
		t.Errorf("tokens_per_step = %v, want nil", *s.TokensPerStep)
	case !math.IsNaN(w.perStep) && (s.TokensPerStep == nil || math.Abs(*s.TokensPerStep-w.perStep) > 1e-12):
		t.Errorf("tokens_per_step = %v, want %v", s.TokensPerStep, w.perStep)
	}
	got := int64(-1)
	if s.GeneratedTokens != nil {
		got = *s.GeneratedTokens
	}
	if got != w.generated {
		t.Errorf("generated tokens = %d, want %d (-1: nil)", got, w.generated)
	}
	n, ok := s.Reason("tokens_per_step")
	if ok != (s.TokensPerStep == nil) || n.Code != w.code || !strings.Contains(n.Text, w.text) {
		t.Errorf("note on tokens_per_step: %+v %v, want %q with %q", n, ok, w.code, w.text)
	}
}

func TestTokensPerStepOfCapturedScrapes(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	tests := []struct {
		name, before, after string
		want                steps
	}{
		// 1 + accepted/drafts is 3.08 here: half of the steps had no draft.
		{"n-gram, one request", "spec_metrics_0_before", "spec_metrics_1_after1", steps{perStep: 47.0 / 23, generated: 48}},
		{"n-gram, from then on", "spec_metrics_1_after1", "spec_metrics_3_after16", steps{perStep: (2272.0 - 33) / 863, generated: 2272}},
		{"two engines", "dp2_metrics_0_before", "dp2_metrics_1_after16_1", steps{perStep: 1008.0 / 435, generated: 1024}},
		{"two API processes", "apisrv2_metrics_0_before", "apisrv2_metrics_1_after16_1", steps{perStep: 1008.0 / 435, generated: 1024}},
		{"without speculation", "base_metrics_0_before", "base_metrics_1_after1", steps{perStep: 1, generated: 48}},
		{"without statistics", "nostats_metrics_after1", "nostats_metrics_after1", steps{nan, -1, specdec.CodeStatisticsOff, "--disable-log-stats"}},
		{"idle", "spec_metrics_3_after16", "spec_metrics_3_after16", steps{nan, 0, specdec.CodeNotReported, "no decode step"}},
		{"restarted", "spec_metrics_3_after16", "spec_metrics_1_after1", steps{nan, -1, specdec.CodeCountersFell, "the server restarted"}},
		{"another server start", "spec_metrics_0_before", "auth_dev_metrics_after", steps{nan, -1, specdec.CodeCountersFell, "began anew"}},
		{"restarted without speculation", "base_metrics_3_after16", "base_metrics_1_after1", steps{nan, -1, specdec.CodeNotReported, "counters fell"}},
	}
	for _, tt := range tests {
		before, after := file(t, "vllm-0.32.0", tt.before+".txt"), file(t, "vllm-0.32.0", tt.after+".txt")
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, pass(t, engine.Target{Model: "tiny"}, before, after, "tiny"))
		})
	}
}

// work is the counters of generation of one label set.
func work(labels, generated, stopped, cut, steps string) string {
	return "vllm:generation_tokens_total{" + labels + "} " + generated + "\n" +
		"vllm:request_success_total{" + labels + `,finished_reason="stop"} ` + stopped + "\n" +
		"vllm:request_success_total{" + labels + `,finished_reason="length"} ` + cut + "\n" +
		"vllm:inter_token_latency_seconds_count{" + labels + "} " + steps + "\n"
}

func TestTokensPerStep(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	a, b := `model_name="a"`, `model_name="b"`
	zero := work(a, "0", "0", "0", "0")
	all := work(a, "110", "4", "6", "40")
	without := func(name string) string {
		var kept []string
		for _, line := range strings.SplitAfter(all, "\n") {
			if !strings.HasPrefix(line, "vllm:"+name) {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	tests := []struct {
		name          string
		before, after answer
		models        []string
		want          steps
	}{
		{"both kinds of end", answer{200, zero}, answer{200, all}, []string{"a"}, steps{perStep: 2.5, generated: 110}},
		{"series that come during the pass", answer{200, "vllm:x 1\n"}, answer{200, all}, []string{"a"}, steps{perStep: 2.5, generated: 110}},
		{"underscores", answer{200, strings.ReplaceAll(zero, "vllm:", "vllm_")}, answer{200, strings.ReplaceAll(all, "vllm:", "vllm_")}, []string{"a"}, steps{perStep: 2.5, generated: 110}},
		{"only this model's, and what anybody generated", answer{200, zero + work(b, "0", "0", "0", "0")}, answer{200, all + work(b, "900", "1", "0", "899")}, []string{"a"},
			steps{perStep: 2.5, generated: 1010}},
		{"neither model answered", answer{200, zero + work(b, "0", "0", "0", "0")}, answer{200, all + work(b, "9", "1", "0", "8")}, []string{"c"},
			steps{nan, 119, specdec.CodeNotReported, "of the models a, b; the answers came from c"}},
		{"no histogram", answer{200, zero}, answer{200, without("inter")}, []string{"a"}, steps{nan, 110, specdec.CodeNotReported, "vllm:inter_token_latency_seconds_count is not exposed"}},
		{"no requests", answer{200, zero}, answer{200, without("request")}, []string{"a"}, steps{nan, 110, specdec.CodeNotReported, "vllm:request_success_total is not exposed"}},
		{"no tokens", answer{200, zero}, answer{200, without("generation")}, []string{"a"}, steps{nan, -1, specdec.CodeNotReported, "vllm:generation_tokens_total is not exposed"}},
		{"not a count", answer{200, zero}, answer{200, work(a, "NaN", "4", "6", "40")}, []string{"a"}, steps{nan, -1, specdec.CodeNotReported, "NaN is not a count"}},
		{"one part fell", answer{200, work(a, "0", "0", "0", "50")}, answer{200, all}, []string{"a"}, steps{nan, 110, specdec.CodeNotReported, "inter_token_latency_seconds_count"}},
		{"more requests than tokens", answer{200, zero}, answer{200, work(a, "3", "4", "6", "40")}, []string{"a"}, steps{nan, 3, specdec.CodeNotReported, "contradict"}},
		{"no scrape before", answer{503, ""}, answer{200, all}, []string{"a"}, steps{nan, -1, specdec.CodeNotReported, "the scrape before the pass failed"}},
		{"no scrape after", answer{200, zero}, answer{503, ""}, []string{"a"}, steps{nan, -1, specdec.CodeUnreachable, "the scrape after the pass failed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, pass(t, engine.Target{Model: "a"}, tt.before, tt.after, tt.models...))
		})
	}
}

func TestAcceptSources(t *testing.T) {
	t.Parallel()
	a := `model_name="a"`
	before, after := answer{200, exposition(a, "10", "30", "12")}, answer{200, exposition(a, "20", "60", "36")}
	whole := want{source: "cumulative", length: 2.8, rate: 0.6, drafts: 20, tokens: 60, accepted: 36, code: specdec.CodeCumulative}
	forced := whole
	forced.text = "accept_sources asks for it"
	tests := []struct {
		name    string
		sources []specdec.Source
		before  answer
		want    want
	}{
		{"any", nil, before, want{source: "counters", length: 3.4, rate: 0.8, drafts: 10, tokens: 30, accepted: 24}},
		{"cumulative only", []specdec.Source{"cumulative"}, before, forced},
		{"both, no scrape before", []specdec.Source{"counters", "cumulative"}, answer{503, ""}, whole},
		{"counters only, no scrape before", []specdec.Source{"counters"}, answer{503, ""}, without(specdec.CodeUnreachable, "the scrape before the pass failed")},
		{"another engine's", []specdec.Source{"flush"}, before, without(specdec.CodeNotReported, "accept_sources leaves none")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, pass(t, engine.Target{Model: "a", Sources: tt.sources}, tt.before, after, "a"))
		})
	}
}
