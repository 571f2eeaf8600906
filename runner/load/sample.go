package load

import (
	"cmp"
	"slices"
	"time"

	"github.com/specsweep/specsweep/runner/openai"
)

// moment is when a request was due and when it was sent.
type moment struct{ due, sent time.Time }

// sample records a request that was sent. Its times are from the client's own, which
// stop at the last byte and not when that has been decoded, and start when it was
// due: a user who waits for the client to be free waits all the same.
func (t *tally) sample(c *openai.Completion, turn int, m moment) {
	late := max(0, m.sent.Sub(m.due))
	s := Sample{
		Prompt: c.Index, Turn: turn,
		Due: m.due.Sub(t.start), Late: late, Done: late + c.Elapsed,
		Tokens: c.CompletionTokens, PromptTokens: c.PromptTokens,
		Retries: c.Retries, FinishReason: common(c.FinishReason), Text: c.Text,
	}
	if c.FirstToken > 0 {
		s.FirstToken = late + c.FirstToken
	}
	if c.Err != nil {
		s.Failed = openai.Kind(c.Err)
	} else {
		t.gaps.add(c.Gaps, t.shared)
	}
	t.samples = append(t.samples, s)
}

// common gives the usual reasons one text for all, in place of one an answer.
func common(reason string) string {
	switch reason {
	case "stop":
		return "stop"
	case "length":
		return "length"
	}
	return reason
}

// join puts the slots' samples and gaps together, and lets go of each slot's.
func join(tallies []*tally, p *Pass) {
	requests, spaces, level := 0, 0, 0
	for _, t := range tallies {
		level = max(level, t.shared.level())
	}
	for _, t := range tallies {
		t.gaps.thin(level)
		requests, spaces = requests+len(t.samples), spaces+len(t.gaps.kept)
	}
	p.GapsSampled = level > 0
	p.Samples = slices.Grow(p.Samples, requests)
	p.Gaps = slices.Grow(p.Gaps, spaces)
	for _, t := range tallies {
		p.Samples, p.Gaps = append(p.Samples, t.samples...), append(p.Gaps, t.gaps.kept...)
		t.samples, t.gaps.kept = nil, nil
	}
	slices.SortFunc(p.Samples, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.Prompt, b.Prompt), cmp.Compare(a.Turn, b.Turn))
	})
}
