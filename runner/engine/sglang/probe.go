package sglang

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// probe watches one pass.
type probe struct {
	client *openai.Client
	target engine.Target

	before    info   // empty when nothing was asked, or beforeErr
	beforeErr error  // why the version is not known
	asks      string // field of the request that asks for counts, empty for none
	flushed   bool   // the average was zero before the pass
	flushErr  error  // why not, when it was to be
	scraped   counts // before the pass
	scrapeErr error  // why it has not been

	started time.Time

	mu    sync.Mutex
	tally tally
	busy  time.Duration // Σ time of the answers
	ended time.Time     // of the last of them
}

// Begin readies the sources that the target allows: it finds out what the version
// can do, sets the average to zero where that costs nothing or the answers cannot be
// asked for their counts, and reads the counters. Where the average as it stands is all that is
// wanted it asks the server nothing.
func (e Engine) Begin(ctx context.Context, c *openai.Client, t engine.Target) engine.Probe {
	p := &probe{client: c, target: t, started: time.Now()}
	if p.target.Allows(specdec.SourceRequest) {
		if p.before, p.beforeErr = fetch(ctx, c); p.beforeErr == nil {
			p.asks = askField(p.before.version())
		} else {
			p.asks = fieldDetails
		}
	}
	if p.target.Allows(specdec.SourceFlush) && (t.Flushed || p.asks == "") {
		p.flushErr = e.zeroed(ctx, c, t.Flushed)
		p.flushed = p.flushErr == nil
	}
	if p.scrapes() {
		p.scraped, p.scrapeErr = scrape(ctx, c)
	}
	return p
}

// scrapes tells whether /metrics is read: as a source, or to see whether others use
// the server. Where the average as it stands is all that is wanted, it is not.
func (p *probe) scrapes() bool {
	s := p.target.Sources
	return len(s) != 1 || s[0] != specdec.SourceCumulative
}

// Request asks the answers for their counts, unless the plan has its own mind
// about that field.
func (p *probe) Request(b *openai.Body) {
	p.started = time.Now()
	if p.asks == "" {
		return
	}
	if _, own := b.Extra[p.asks]; own {
		return
	}
	b.Set(p.asks, true)
}

// Observe adds up what answers tell of themselves.
func (p *probe) Observe(c *openai.Completion) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy += c.Elapsed
	p.ended = now
	if c.Err == nil {
		p.tally.add(c, p.asks != "")
	}
}

// End goes down the sources to the first that has a number.
func (p *probe) End(ctx context.Context) specdec.Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.ladder(ctx)
	s, failed := l.climb()
	if s.AcceptLength == nil {
		s = missing(l, failed)
	} else if len(failed) > 0 {
		s.Notes = append(s.Notes, specdec.Note{
			Code: specdec.CodeWeakerSource, Columns: []string{specdec.ColumnAcceptLength, specdec.ColumnAcceptanceRate},
			Text: fmt.Sprintf("read from %s, as better sources give nothing here: %s", s.Source, failures(failed)),
		})
	}
	s.NumSteps = l.steps
	s.GeneratedTokens = l.generated
	const untold = "this source of an SGLang server does not tell it"
	s.Explain(specdec.CodeNotReported, untold)
	if s.TokensPerStep == nil {
		s.ExplainTokensPerStep(specdec.CodeNotReported, untold)
	}
	return s
}

// missing is why no source has a number: that speculation is off, whatever the
// sources say, else the reason of the last one and then the others'.
func missing(l *ladder, failed []failure) specdec.Stats {
	if reason := l.speculationOff(); reason != nil {
		return specdec.Missing(reason.Code, reason.Text)
	}
	if len(failed) == 0 {
		return specdec.Missing(specdec.CodeNotReported, "accept_sources names no source that an SGLang server has")
	}
	last := failed[len(failed)-1]
	text := last.reason.Text
	if len(failed) > 1 {
		text += "; before that: " + failures(failed[:len(failed)-1])
	}
	return specdec.Missing(last.reason.Code, text)
}

// failure is a source that has no number.
type failure struct {
	source specdec.Source
	reason *specdec.Note
}

func failures(list []failure) string {
	var texts []string
	for _, f := range list {
		texts = append(texts, fmt.Sprintf("%s: %s", f.source, f.reason.Text))
	}
	return strings.Join(texts, "; ")
}
