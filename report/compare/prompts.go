package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// NotSampled is the reason why accept_length and acceptance_rate get no verdict
// without the counts of single answers; what would help stands behind it.
const NotSampled = "spread over repeats only, prompts not sampled"

// perPrompt tells whether the metric's sampling unit is the prompt. Greedy repeats
// of a prompt give the same drafts again, so an interval over repeats would call two
// equal checkpoints different nearly always.
func perPrompt(metric string) bool { return metric == "accept_length" || metric == "acceptance_rate" }

// byPrompt compares counts of drafts paired by prompt, summed over the repeats.
func (m *Metric) byPrompt(p pair) {
	old, missingOld := prompts(p.old, m.Name)
	new, missingNew := prompts(p.new, m.Name)
	if len(old) == 0 || len(new) == 0 {
		m.unknown(NotSampled + "; " + helpful(p, len(old) == 0, len(new) == 0))
		return
	}
	if missingOld+missingNew > 0 {
		m.note("repeats without counts per request, left out of the interval: %d old, %d new", missingOld, missingNew)
	}
	var a, b []stat.Counts
	for _, k := range sortedKeys(old) {
		if other, both := new[k]; both {
			a, b = append(a, old[k]), append(b, other)
		}
	}
	if len(a) < len(old) || len(a) < len(new) {
		m.note("%d prompts are on both sides, of %d old and %d new", len(a), len(old), len(new))
	}
	m.OldN, m.NewN = len(a), len(a)
	plus := 0.0
	if m.Name == "accept_length" {
		plus = 1 // the bonus token
	}
	difference, ratio := stat.PairedDifference(a, b), stat.PairedRatio(a, b, plus)
	if difference == nil {
		m.unknown("nothing was drafted for the prompts that are on both sides")
		return
	}
	if shown := *m.New - *m.Old; difference.Low > shown || difference.High < shown {
		m.note("the columns differ by %+.4g, the counts of the paired prompts by %+.4g", shown, difference.Estimate)
	}
	m.Difference, m.Ratio = difference, ratio
	m.Old, m.New = sumRatio(a, plus), sumRatio(b, plus)
	var estimate *float64
	if ratio != nil {
		estimate = &ratio.Estimate
	}
	m.change(difference.Estimate, estimate)
	if difference.Range {
		m.unknown(fmt.Sprintf("too few prompts with drafts are on both sides for an interval: %d", len(a)))
	}
}

// sumRatio is plus + Σ Over / Σ Under, where Σ Under is positive.
func sumRatio(counts []stat.Counts, plus float64) *float64 {
	var sum stat.Counts
	for _, c := range counts {
		sum.Over, sum.Under = sum.Over+c.Over, sum.Under+c.Under
	}
	v := stat.Ratio(sum.Over, sum.Under)
	if v != nil {
		*v += plus
	}
	return v
}

// prompts is the side's counts by prompt, over those of its repeats that have any;
// missing is how many have none.
func prompts(r *rowsOf, metric string) (byPrompt map[string]stat.Counts, missing int) {
	byPrompt = map[string]stat.Counts{}
	for _, row := range r.ok {
		lines := r.requests[row.RunID]
		if len(lines) == 0 {
			missing++
		}
		for _, q := range lines {
			under := float64(q.Drafts)
			if metric == "acceptance_rate" {
				switch {
				case q.DraftTokens != nil:
					under = float64(*q.DraftTokens)
				case q.Drafts > 0:
					continue // verify steps of a length that nobody told
				}
			}
			k := q.PromptHash
			if k == "" {
				k = fmt.Sprintf("#%d of %s", q.Prompt, row.PromptSet)
			}
			c := byPrompt[k]
			byPrompt[k] = stat.Counts{Over: c.Over + float64(q.Accepted), Under: c.Under + under}
		}
	}
	return byPrompt, missing
}

func sortedKeys(m map[string]stat.Counts) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// helpful says what makes the servers that lack them tell counts per request.
func helpful(p pair, old, new bool) string {
	var rows []*result.Row
	if old {
		rows = append(rows, p.old.ok...)
	}
	if new {
		rows = append(rows, p.new.ok...)
	}
	var out []string
	for _, engine := range texts(rows, func(r *result.Row) string { return r.Engine }) {
		switch engine {
		case "vllm":
			out = append(out, "start vLLM with --per-request-spec-decode-metrics summary")
		case "sglang":
			out = append(out, "SGLang tells counts per request from 0.5.19 on (return_spec_tokens_details)")
		default:
			out = append(out, "a version of "+engine+" that tells verify steps per request would help")
		}
	}
	if len(out) == 0 {
		return "requests.jsonl has no counts for these runs"
	}
	return strings.Join(out, "; ") + "; and compare the run-set's folder, whose requests.jsonl holds the counts"
}
