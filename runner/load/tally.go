package load

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/specsweep/specsweep/runner/openai"
)

// tally is one slot's share of a pass. A slot's answers come in the order of
// their prompts.
type tally struct {
	pass    Pass
	start   time.Time // of the pass
	last    time.Time // of the last answer
	named   int       // the prompt whose answer pass.Model is of
	failed  map[string]failure
	samples []Sample
	gaps    gaps
	shared  *gapCount // of all slots
}

type failure struct {
	Failure
	prompt int // of the Example
}

func (t *tally) add(c *openai.Completion) {
	p := &t.pass
	p.Retries += c.Retries
	p.RetryWait += c.RetryWait
	p.InFlight += c.Elapsed
	if c.Err != nil {
		p.Failed++
		kind := openai.Kind(c.Err)
		t.fail(failure{Failure{kind, c.Err.Error(), 1}, c.Index})
		return
	}
	p.Completed++
	if c.CompletionTokens != nil {
		p.OutputTokens += int64(*c.CompletionTokens)
	} else {
		p.UsageMissing++
	}
	if c.PromptTokens != nil {
		p.PromptTokens += int64(*c.PromptTokens)
	} else {
		p.PromptUsageMissing++
	}
	if c.CachedTokens != nil {
		p.CachedTokens = plus(p.CachedTokens, int64(*c.CachedTokens))
	}
	p.UsageInvalid += one(c.Invalid.Completion)
	p.PromptUsageInvalid += one(c.Invalid.Prompt)
	p.CachedInvalid += one(c.Invalid.Cached)
	if c.FinishReason == "length" {
		p.Truncated++
	}
	if p.Model == "" && c.Model != "" {
		p.Model, t.named = c.Model, c.Index
	}
}

// fail counts a failure under its kind and keeps the earlier prompt's example.
func (t *tally) fail(f failure) {
	if have, ok := t.failed[f.Kind]; ok {
		n := have.Count + f.Count
		if have.prompt <= f.prompt { // the same: a turn before it
			f = have
		}
		f.Count = n
	}
	if t.failed == nil {
		t.failed = map[string]failure{}
	}
	t.failed[f.Kind] = f
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// plus is a + n, where nil is nothing yet.
func plus(a *int64, n int64) *int64 {
	if a != nil {
		n += *a
	}
	return &n
}

// sum adds the slots' tallies up.
func sum(tallies []*tally, start time.Time) Pass {
	all := tally{last: start}
	p := &all.pass
	for _, t := range tallies {
		if t.last.After(all.last) {
			all.last = t.last
		}
		p.Completed += t.pass.Completed
		p.Failed += t.pass.Failed
		p.OutputTokens += t.pass.OutputTokens
		p.PromptTokens += t.pass.PromptTokens
		p.UsageMissing += t.pass.UsageMissing
		p.PromptUsageMissing += t.pass.PromptUsageMissing
		p.UsageInvalid += t.pass.UsageInvalid
		p.PromptUsageInvalid += t.pass.PromptUsageInvalid
		p.CachedInvalid += t.pass.CachedInvalid
		p.Truncated += t.pass.Truncated
		p.Retries += t.pass.Retries
		p.RetryWait += t.pass.RetryWait
		p.InFlight += t.pass.InFlight
		if t.pass.CachedTokens != nil {
			p.CachedTokens = plus(p.CachedTokens, *t.pass.CachedTokens)
		}
		if t.pass.Model != "" && (p.Model == "" || t.named < all.named) {
			p.Model, all.named = t.pass.Model, t.named
		}
		for _, f := range t.failed {
			all.fail(f)
		}
	}
	p.Started, p.Wall = start, all.last.Sub(start)
	p.Failures = commonest(all.failed)
	join(tallies, p)
	return *p
}

func commonest(failed map[string]failure) []Failure {
	var list []Failure
	for f := range maps.Values(failed) {
		list = append(list, f.Failure)
	}
	slices.SortFunc(list, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}
