package runner

import (
	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/specdec"
)

// place is a request of a pass: turns of a prompt count from 0.
type place struct{ prompt, turn int }

// turnsOf is the turn of each answer that told of its drafts; -1: not known. An answer
// knows its prompt only, and a prompt's answers are seen in the order of its turns;
// where not all of them told, which is which cannot be said.
func turnsOf(prompts int, samples []load.Sample, requests []specdec.Request) []int {
	answered, told := make([]int, prompts), make([]int, prompts)
	for i := range samples {
		if q := &samples[i]; q.Failed == "" && q.Prompt < prompts {
			answered[q.Prompt]++
		}
	}
	for _, r := range requests {
		if r.Index >= 0 && r.Index < prompts {
			told[r.Index]++
		}
	}
	next, out := make([]int, prompts), make([]int, len(requests))
	for i, r := range requests {
		out[i] = -1
		if r.Index >= 0 && r.Index < prompts && told[r.Index] == answered[r.Index] {
			out[i] = next[r.Index]
			next[r.Index]++
		}
	}
	return out
}

// save hands over every request of a run's passes, when the plan wants them kept. A
// baseline that several runs share is saved once.
func (s *sweep) save(run *plan.Run, p, base *pass) error {
	if !s.keepsRequests() {
		return nil
	}
	lines := s.savedLines(run, p, result.SideServer)
	if base != nil && !base.saved {
		base.saved = true
		lines = append(lines, s.savedLines(run, base, result.SideBaseline)...)
		base.samples = nil // the next run of the block needs only their sums
	}
	if len(lines) == 0 {
		return nil
	}
	return s.Sink.Saved(lines)
}

// keepsRequests tells whether each request gets a line of its own.
func (s *sweep) keepsRequests() bool { return s.Plan.SaveRequests || s.Plan.SaveOutputs }

func (s *sweep) savedLines(run *plan.Run, p *pass, side string) []result.SavedRequest {
	drafts := map[place]*specdec.Request{}
	for i, turn := range p.turns {
		r := &p.stats.Requests[i]
		drafts[place{r.Index, turn}] = r
	}
	out := make([]result.SavedRequest, 0, len(p.samples))
	for i := range p.samples {
		q := &p.samples[i]
		line := savedLine(p, q)
		line.RunID, line.Side = run.RunID, side
		if q.Prompt >= 0 && q.Prompt < len(p.set) {
			line.PromptHash, line.Category = p.promptHash(q.Prompt), p.set[q.Prompt].Category
		}
		if d := drafts[place{q.Prompt, q.Turn}]; d != nil {
			line.Drafts, line.Accepted = ptr(d.Drafts), ptr(d.Accepted)
			if d.DraftTokens > 0 {
				line.DraftTokens = ptr(d.DraftTokens)
			}
		}
		if s.Plan.SaveOutputs && q.Failed == "" {
			line.Text = ptr(q.Text)
		}
		out = append(out, line)
	}
	return out
}

func savedLine(p *pass, q *load.Sample) result.SavedRequest {
	line := result.SavedRequest{
		Prompt: q.Prompt, Turn: q.Turn,
		DueS: q.Due.Seconds(), LateMs: ms(q.Late), StartedAt: p.load.Started.Add(q.Due + q.Late).UTC(), E2ELatencyMs: ms(q.Done),
		Tokens: q.Tokens, PromptTokens: q.PromptTokens, FinishReason: q.FinishReason, Retries: q.Retries, Status: result.StatusOK,
	}
	if q.FirstToken > 0 {
		line.TTFTMs = ptr(ms(q.FirstToken))
	}
	if q.Failed != "" {
		line.Status = q.Failed
	}
	return line
}

// promptHash is the hash of one prompt of the pass.
func (p *pass) promptHash(i int) string {
	if p.hashes == nil {
		p.hashes = map[int]string{}
	}
	if _, ok := p.hashes[i]; !ok {
		p.hashes[i] = dataset.Hash([]dataset.Prompt{p.set[i]})
	}
	return p.hashes[i]
}
