package runner

import (
	"maps"
	"slices"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// requestLines are the counts per answer of a run's server pass, in the order of
// its prompts; none where the engine tells none.
func requestLines(run *plan.Run, p *pass) []result.Request {
	var out []result.Request
	for i, r := range p.stats.Requests {
		if r.Index < 0 || r.Index >= len(p.set) {
			continue // no prompt of this pass
		}
		prompt := p.set[r.Index]
		line := result.Request{
			RunID: run.RunID, Prompt: r.Index, PromptHash: p.promptHash(r.Index), Category: prompt.Category, StartedAt: p.started.UTC(),
			Drafts: r.Drafts, Accepted: r.Accepted,
		}
		if i < len(p.turns) {
			line.Turn = max(p.turns[i], 0)
		}
		if r.DraftTokens > 0 {
			line.DraftTokens = ptr(r.DraftTokens)
		}
		out = append(out, line)
	}
	slices.SortStableFunc(out, func(a, b result.Request) int { return a.Prompt - b.Prompt })
	return out
}

// fillRequests puts in accept_length over the answers: each answer's own
// 1 + accepted / drafts counts once, however long it is. Answers without a verify
// step have none.
func fillRequests(row *result.Row, p *pass) {
	requests := p.stats.Requests
	row.Categories = categories(p)
	var lengths []float64
	for _, r := range requests {
		if r.Drafts > 0 {
			lengths = append(lengths, 1+float64(r.Accepted)/float64(r.Drafts))
		}
	}
	row.AcceptLengthReqMean = stat.Mean(lengths)
	row.AcceptLengthReqP10 = stat.Quantile(lengths, 0.1)
	row.AcceptLengthReqP50 = stat.Quantile(lengths, 0.5)
	row.AcceptLengthReqP90 = stat.Quantile(lengths, 0.9)
	if len(lengths) == 0 {
		warn(row, CodeNotReported, "no answer tells of its own verify steps",
			"accept_length_req_mean", "accept_length_req_p10", "accept_length_req_p50", "accept_length_req_p90")
	}
}

// categories sums the answers up by the category of their prompts, sorted by its
// name; nil when no prompt has one.
func categories(p *pass) []result.Category {
	sums := map[string]*result.Category{}
	for _, r := range p.stats.Requests {
		if r.Index < 0 || r.Index >= len(p.set) || p.set[r.Index].Category == "" {
			continue
		}
		name := p.set[r.Index].Category
		c := sums[name]
		if c == nil {
			c = &result.Category{Name: name}
			sums[name] = c
		}
		c.Requests++
		c.Drafts += r.Drafts
		c.Accepted += r.Accepted
	}
	var out []result.Category
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, *sums[name])
	}
	return out
}
