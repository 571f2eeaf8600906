package runner

import (
	"strings"
	"testing"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/result"
)

// A row says whether counts are missing or are no counts.
func TestWarnsOfCounts(t *testing.T) {
	for _, tt := range []struct {
		name, column, want string
		l                  load.Pass
	}{
		{"absent", "output_tokens", "1 of 4 answers had no token count", load.Pass{UsageMissing: 1}},
		{"invalid", "output_tokens", "2 of 4 answers had a token count that is no whole number of at least 0", load.Pass{UsageMissing: 2, UsageInvalid: 2}},
		{
			"both", "output_tokens", "1 of 4 answers had no token count, 2 of 4 answers had a token count that is no whole number of at least 0",
			load.Pass{UsageMissing: 3, UsageInvalid: 2},
		},
		{"all invalid", "mean_output_tokens", "4 of 4 answers had a token count that is no whole number", load.Pass{UsageMissing: 4, UsageInvalid: 4}},
		{"prompts", "prompt_tokens", "1 of 4 answers had a prompt token count that is no whole number", load.Pass{PromptTokens: 9, PromptUsageMissing: 1, PromptUsageInvalid: 1}},
		{"prompts, all", "prompt_tokens", "4 of 4 answers had a prompt token count that is no whole number", load.Pass{PromptUsageMissing: 4, PromptUsageInvalid: 4}},
		{"cached", "cached_tokens", "1 of 4 answers had a count of cached tokens that is no whole number", load.Pass{CachedInvalid: 1}},
		{"cached, absent", "cached_tokens", "the answers do not say how many", load.Pass{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.l.Completed = 4
			var row result.Row
			fillPass(&row, &pass{load: tt.l})
			text := ""
			for _, w := range row.Warnings {
				if result.Warnings([]result.Warning{w}).On(tt.column) {
					text += w.Text + "\n"
				}
			}
			if !strings.Contains(text, tt.want) {
				t.Errorf("warnings on %s: %q, want %q", tt.column, text, tt.want)
			}
		})
	}
}

// Quantiles over a part of the gaps say so, on either side.
func TestWarnsOfSampledGaps(t *testing.T) {
	s := &sweep{Options: Options{Plan: &plan.Plan{Stream: true}}}
	for _, sampled := range []bool{false, true} {
		for _, prefix := range []string{"", "baseline_"} {
			var row result.Row
			p := &pass{latency: newLatency(&load.Pass{GapsSampled: sampled, Gaps: []time.Duration{1, 2}}, plan.SLO{})}
			s.warnLatency(&row, p, "", prefix)
			if row.Warnings.On(prefix+"icl_p99_ms") != sampled {
				t.Errorf("sampled %v: %s", sampled, row.Warnings)
			}
		}
	}
}
