package llamacpp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// Begin scrapes the counters as they stand before the pass.
func (Engine) Begin(ctx context.Context, c *openai.Client, t engine.Target) engine.Probe {
	p := &probe{client: c, target: t}
	p.before, p.beforeErr = scrape(ctx, c)
	return p
}

// probe watches one pass.
type probe struct {
	client    *openai.Client
	target    engine.Target
	before    snapshot
	beforeErr error // why there is no before

	mu  sync.Mutex
	sum timings // of the answers
}

func (*probe) Request(*openai.Body) {}

// Observe adds up the timings that each answer carries.
func (p *probe) Observe(c *openai.Completion) {
	if c.Err != nil {
		return
	}
	t, ok := timingsOf(c.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum.add(t, ok)
}

// End scrapes again and takes the difference, or falls back on the timings.
func (p *probe) End(ctx context.Context) specdec.Stats {
	s := p.stats(ctx)
	if n := p.target.NumSteps; n != nil {
		s.NumSteps = n
	}
	s.Explain(specdec.CodeNotReported, "llama-server does not report it")
	return s
}

func (p *probe) stats(ctx context.Context) specdec.Stats {
	after, err := scrape(ctx, p.client)
	if p.beforeErr != nil {
		err = p.beforeErr
	}
	p.mu.Lock()
	sum := p.sum
	p.mu.Unlock()
	switch {
	case err == nil && p.target.Allows(specdec.SourceCounters):
		return p.fromCounters(ctx, after)
	case sum.answers > 0 && p.target.Allows(specdec.SourceRequest):
		why := "the answers do not tell the number of drafts"
		if err != nil {
			why = fmt.Sprintf("%s, and the counters cannot be had: %s", why, explain(err))
		}
		return p.orOff(ctx, sum.stats(why))
	case err != nil && (p.target.Allows(specdec.SourceCounters) || p.target.Allows(specdec.SourceRequest)):
		return missing(specdec.CodeUnreachable, explain(err)+"; the answers carry no timings either")
	case p.target.Allows(specdec.SourceRequest):
		return missing(specdec.CodeUnreachable, "the answers carry no timings")
	}
	return missing(specdec.CodeNotReported, "accept_sources leaves none of what a llama-server has: counters, request")
}

// explain adds to a failed scrape what to do about it: without --metrics the
// route answers 501, and behind some gateways 404.
func explain(err error) string {
	var status *openai.HTTPError
	if errors.As(err, &status) && (status.Status == http.StatusNotImplemented || status.Status == http.StatusNotFound) {
		return fmt.Sprintf("%v: start llama-server with --metrics", err)
	}
	return err.Error()
}

func missing(code, text string) specdec.Stats {
	s := specdec.Missing(code, text)
	s.ExplainTokensPerStep(code, text)
	return s
}

func (p *probe) fromCounters(ctx context.Context, after snapshot) specdec.Stats {
	d, err := after.Sub(p.before.Counters)
	if err != nil {
		return missing(specdec.CodeCountersFell, err.Error())
	}
	if d.PerPos == nil && d.Accepted == 0 && d.Drafts > 0 {
		d.PerPos = []int64{0} // these series come with the first accepted token
	}
	s := p.orOff(ctx, specdec.FromCounters(specdec.SourceCounters, d))
	if p.before.predicted == nil || after.predicted == nil {
		s.ExplainTokensPerStep(specdec.CodeNotReported, "tokens per step: "+predicted+" is not exposed at /metrics")
		return s
	}
	n := *after.predicted - *p.before.predicted
	if n < 0 {
		s.ExplainTokensPerStep(specdec.CodeNotReported, "tokens per step: "+predicted+" fell during the pass: the server restarted")
		return s
	}
	s.GeneratedTokens = &n
	perStep(&s, n, d.Accepted)
	return s
}

// orOff tells a server that drafted nothing from one that cannot: the counters
// stand at 0 on both.
func (p *probe) orOff(ctx context.Context, s specdec.Stats) specdec.Stats {
	if why, ok := s.Reason(specdec.ColumnAcceptLength); !ok || why.Code != specdec.CodeNothingDrafted {
		return s
	}
	if found, err := readSlots(ctx, p.client); err != nil || found.speculative {
		return s
	}
	off := specdec.Missing(specdec.CodeSpeculationOff, "no slot of the server speculates (GET /slots): it was started without a drafter")
	off.TokensPerStep = s.TokensPerStep
	if why, ok := s.Reason(specdec.ColumnTokensPerStep); ok {
		off.ExplainTokensPerStep(why.Code, why.Text)
	}
	return off
}

// perStep fills in the tokens of a decode step: each step emits its accepted
// tokens and one more, so
//
//	predicted = steps + accepted
//	tokens per step = predicted / (predicted - accepted)
//
// with the prefill, which emits the first token of each request, as one of the
// steps. Undrafted steps are in it.
func perStep(s *specdec.Stats, predicted, accepted int64) {
	switch steps := predicted - accepted; {
	case predicted == 0:
		s.ExplainTokensPerStep(specdec.CodeNotReported, "tokens per step: no token was generated")
	case steps <= 0:
		s.ExplainTokensPerStep(specdec.CodeNotReported,
			fmt.Sprintf("tokens per step: %d tokens generated, %d of them accepted drafts: the counters contradict each other", predicted, accepted))
	default:
		v := float64(predicted) / float64(steps)
		s.TokensPerStep = &v
	}
}
