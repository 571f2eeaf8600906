package sglang

import (
	"context"
	"errors"
	"fmt"

	"github.com/specsweep/specsweep/runner/specdec"
)

// ladder is what is known after a pass, to be looked through source by source.
type ladder struct {
	*probe
	after     info
	afterErr  error
	steps     *int   // speculative_num_steps, of the server or else of the plan
	counted   counts // during the pass
	countErr  error  // why that is not known
	generated *int64 // tokens during the pass, whoever asked for them
}

// ladder reads the server's state after the pass.
func (p *probe) ladder(ctx context.Context) *ladder {
	l := &ladder{probe: p, countErr: p.scrapeErr}
	l.after, l.afterErr = fetch(ctx, p.client)
	for _, n := range []*int{l.after.numSteps(), p.before.numSteps(), p.target.NumSteps} {
		if n != nil {
			l.steps = n
			break
		}
	}
	if !p.scrapes() || p.scrapeErr != nil {
		return l
	}
	var after counts
	if after, l.countErr = scrape(ctx, p.client); l.countErr == nil {
		l.counted, l.countErr = after.since(p.scraped)
	}
	if l.countErr == nil {
		l.generated = &l.counted.generated
	}
	return l
}

// climb tries the sources that the target allows, best first, up to one that has
// an accept_length. It returns those that have none.
func (l *ladder) climb() (specdec.Stats, []failure) {
	var failed []failure
	for _, rung := range []struct {
		source specdec.Source
		read   func() (specdec.Stats, *specdec.Note)
	}{
		{specdec.SourceRequest, l.request},
		{specdec.SourceFlush, l.flush},
		{specdec.SourceCounters, l.counters},
		{specdec.SourceRestart, l.restart},
		{specdec.SourceCumulative, l.cumulative},
	} {
		if !l.target.Allows(rung.source) {
			continue
		}
		s, reason := rung.read()
		if reason == nil && s.AcceptLength != nil {
			return s, failed
		}
		if reason == nil {
			reason = &s.Notes[0]
		}
		failed = append(failed, failure{rung.source, reason})
	}
	return specdec.Stats{}, failed
}

func (l *ladder) request() (specdec.Stats, *specdec.Note) {
	if l.asks == "" {
		return specdec.Stats{}, &specdec.Note{Code: specdec.CodeNotReported,
			Text: fmt.Sprintf("answers of SGLang %s cannot be asked for counts of their drafts: that came with 0.5.%d", l.before.version(), patchMetaInfo)}
	}
	s, reason := l.tally.stats()
	if reason == nil && s.AcceptLength != nil && l.steps != nil && *s.AcceptLength > float64(1+*l.steps) {
		return specdec.Stats{}, &specdec.Note{Code: specdec.CodeInconsistent,
			Text: fmt.Sprintf("the answers tell of %.2f tokens a verify step, more than %d draft steps can give", *s.AcceptLength, *l.steps)}
	}
	return s, reason
}

func (l *ladder) flush() (specdec.Stats, *specdec.Note) {
	switch {
	case l.asks != "" && !l.flushed && l.flushErr == nil:
		return specdec.Stats{}, &specdec.Note{Code: specdec.CodeNotReported,
			Text: "the cache was not flushed before the pass, because the answers were to tell (accept_sources: [flush] does it)"}
	case !l.flushed:
		return specdec.Stats{}, &specdec.Note{Code: specdec.CodeUnreachable, Text: fmt.Sprintf("the average could not be set to zero: %v", l.flushErr)}
	}
	return l.average(specdec.SourceFlush)
}

func (l *ladder) counters() (specdec.Stats, *specdec.Note) {
	if l.countErr != nil {
		return specdec.Stats{}, unreadable(l.countErr)
	}
	s, reason := l.counted.stats(l.steps)
	l.doubtTree(&s)
	return s, reason
}

func (l *ladder) restart() (specdec.Stats, *specdec.Note) {
	if !l.target.Fresh {
		return specdec.Stats{}, &specdec.Note{Code: specdec.CodeNotReported, Text: "the server was not started for this pass"}
	}
	return l.average(specdec.SourceRestart)
}

func (l *ladder) cumulative() (specdec.Stats, *specdec.Note) {
	s, reason := l.average(specdec.SourceCumulative)
	if reason != nil {
		return s, reason
	}
	switch {
	case l.target.Flushed:
		// The prefix cache was emptied before the pass, and the average with it.
	case l.target.Shared:
		s.Doubt(specdec.CodeContaminated,
			"contaminated: the server's average is cumulative and blends in the earlier passes of this sweep; restart the server to part them")
	default:
		s.Doubt(specdec.CodeCumulative, "the average covers all that the server did since it started, warm-up included")
	}
	return s, nil
}

// average is the acceptance that /server_info tells after the pass.
func (l *ladder) average(source specdec.Source) (specdec.Stats, *specdec.Note) {
	if l.afterErr != nil {
		return specdec.Stats{}, &specdec.Note{Code: specdec.CodeUnreachable,
			Text: fmt.Sprintf("the server's statistics could not be read: %v", l.afterErr)}
	}
	average, reason := l.after.average()
	if reason != nil {
		return specdec.Stats{}, reason
	}
	s := specdec.FromAverage(source, average, l.steps)
	s.Coverage = coverage(batchSteps(l.tally.tokens, l.tally.answers, average, l.busy, l.ended.Sub(l.started)), l.after.foldInterval())
	if n := len(l.after.decode); n > 1 {
		s.Doubt(specdec.CodeRanks, fmt.Sprintf("of the first of %d decode servers: the others are not in it", n))
	}
	l.doubtTree(&s)
	return s, nil
}

// doubtTree marks a rate that was made of accept_length where drafts are trees.
func (l *ladder) doubtTree(s *specdec.Stats) {
	if k := integer(l.after.setting(keyTopK)); k != nil && *k > 1 && s.AcceptanceRate != nil {
		s.Notes = append(s.Notes, specdec.Note{
			Code: specdec.CodeDepthFraction, Columns: []string{specdec.ColumnAcceptanceRate},
			Text: fmt.Sprintf("drafts are trees (topk %d): (accept_length - 1) / num_steps is the accepted share of the depth, not of the proposed tokens", *k),
		})
	}
}

// speculationOff is a note when the server says that it does not speculate.
func (l *ladder) speculationOff() *specdec.Note {
	for _, i := range []info{l.after, l.before} {
		if i.server == nil {
			continue
		}
		if reason := i.silence(); reason.Code == specdec.CodeSpeculationOff {
			return reason
		}
	}
	return nil
}

func unreadable(err error) *specdec.Note {
	code := specdec.CodeUnreachable
	if errors.Is(err, specdec.ErrCountersFell) {
		code = specdec.CodeCountersFell
	}
	return &specdec.Note{Code: code, Text: fmt.Sprintf("the counters could not be read: %v", err)}
}
