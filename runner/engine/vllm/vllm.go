// Package vllm measures vLLM servers. Acceptance is the difference of the
// spec-decode counters at /metrics over a pass; where the state before the pass is
// not known, the counters as they stand, marked. Where answers carry counts of
// their own these are kept per request; the headline stays that of the counters.
//
// A pass sends nothing but GETs and adds no field to requests. Speculative settings
// are known of servers in developer mode only: others tell just their version.
package vllm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// Engine is a vLLM server as the sweep sees it.
type Engine struct {
	pause time.Duration // between two tries of Reset; 0: resetPause
}

var _ engine.Engine = Engine{}

// Name is vllm.
func (Engine) Name() string { return "vllm" }

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

	mu       sync.Mutex
	models   []string // that answers named, each once
	requests []specdec.Request
}

func (*probe) Request(*openai.Body) {}

// Observe keeps the name that answers carry: the label of the counters is the
// primary name of a model, which may have been asked for by an alias. It keeps
// their own counts, too, where they have some.
func (p *probe) Observe(c *openai.Completion) {
	if c.Err != nil {
		return
	}
	r, counted := requestOf(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	if counted {
		p.requests = append(p.requests, r)
	}
	if c.Model != "" && !slices.Contains(p.models, c.Model) {
		p.models = append(p.models, c.Model)
	}
}

// End scrapes again and takes the difference.
func (p *probe) End(ctx context.Context) specdec.Stats {
	after, err := scrape(ctx, p.client)
	s := p.stats(after, err)
	p.addTraffic(&s, after.traffic, err)
	p.mu.Lock()
	s.Requests = slices.Clone(p.requests)
	p.mu.Unlock()
	if n := p.target.NumSteps; n != nil {
		s.NumSteps = n
	}
	s.Explain(specdec.CodeNotReported, "a vLLM server does not report it")
	return s
}

func (p *probe) stats(after snapshot, err error) specdec.Stats {
	if err != nil {
		return specdec.Missing(specdec.CodeUnreachable, afterFailed(err))
	}
	if len(p.before.engines) == 0 && len(after.engines) == 0 {
		return silent(after)
	}
	models, err := p.measured(append(p.before.models(), after.models()...), after.traffic.models())
	if err != nil {
		return specdec.Missing(specdec.CodeModelNotFound, err.Error())
	}
	before, after := p.before.of(models), after.of(models)
	if p.beforeErr != nil && p.target.Allows(specdec.SourceCumulative) || !p.target.Allows(specdec.SourceCounters) && p.target.Allows(specdec.SourceCumulative) {
		return cumulative(after, p.beforeErr)
	}
	if !p.target.Allows(specdec.SourceCounters) {
		return specdec.Missing(specdec.CodeNotReported, "accept_sources leaves none of what a vLLM server has: counters, cumulative")
	}
	if p.beforeErr != nil {
		return specdec.Missing(specdec.CodeUnreachable, beforeFailed(p.beforeErr))
	}
	d, err := after.since(before)
	if err != nil {
		return specdec.Missing(specdec.CodeCountersFell, err.Error())
	}
	return specdec.FromCounters(specdec.SourceCounters, d)
}

// cumulative is the counters as they stand.
func cumulative(after snapshot, beforeErr error) specdec.Stats {
	why := "accept_sources asks for it"
	if beforeErr != nil {
		why = beforeFailed(beforeErr)
	}
	s := specdec.FromCounters(specdec.SourceCumulative, after.total())
	s.Doubt(specdec.CodeCumulative, why+": this covers all that the server did since it started")
	return s
}

func beforeFailed(err error) string {
	return fmt.Sprintf("the scrape before the pass failed (%v)", err)
}

func afterFailed(err error) string {
	return fmt.Sprintf("the scrape after the pass failed: %v", err)
}

// addTraffic adds what the server generated during the pass: by this model a
// step, and by any model in all.
func (p *probe) addTraffic(s *specdec.Stats, after traffic, err error) {
	before := p.before.traffic
	switch {
	case err != nil:
		noSteps(s, specdec.CodeUnreachable, afterFailed(err))
		return
	case p.beforeErr != nil:
		noSteps(s, specdec.CodeUnreachable, beforeFailed(p.beforeErr))
		return
	}
	if n, err := after.since(before, generated); err == nil {
		s.GeneratedTokens = &n
	}
	models, err := p.measured(append(before.models(), after.models()...), nil)
	if err != nil {
		noSteps(s, specdec.CodeModelNotFound, err.Error())
		return
	}
	v, err := after.of(models).perStep(before.of(models))
	switch {
	case errors.Is(err, specdec.ErrCountersFell):
		noSteps(s, specdec.CodeCountersFell, err.Error())
	case errors.Is(err, errNotExposed):
		noSteps(s, specdec.CodeStatisticsOff, "tokens per step: "+err.Error())
	case err != nil:
		noSteps(s, specdec.CodeNotReported, "tokens per step: "+err.Error())
	default:
		s.TokensPerStep = &v
	}
}

// noSteps says why there are no tokens per step. Only a reason that acceptance
// has as well keeps its code: the others say something about speculation, and a
// server without it can lack this value all the same.
func noSteps(s *specdec.Stats, code, text string) {
	if why, ok := s.Reason(specdec.ColumnAcceptLength); ok && s.AcceptLength == nil && why.Code == code {
		s.ExplainTokensPerStep(why.Code, why.Text)
		return
	}
	s.ExplainTokensPerStep(specdec.CodeNotReported, text)
}

// silent says why a readable scrape holds no spec-decode counters.
func silent(s snapshot) specdec.Stats {
	if !s.vllm {
		return specdec.Missing(specdec.CodeStatisticsOff,
			"/metrics has no vllm: series at all: the server was started with --disable-log-stats, or it is no vLLM server")
	}
	return specdec.Missing(specdec.CodeSpeculationOff, "the server exposes no spec-decode counters (speculation off?)")
}

// measured is which of the label sets' models the pass is about: those that
// answered. Where all are of one model they are that model's, whatever it is
// called, unless others, the models that the server has further series of, hold
// one that answered: then that one does not draft.
func (p *probe) measured(labels, others []string) ([]string, error) {
	labels = slices.Compact(slices.Sorted(slices.Values(labels)))
	p.mu.Lock()
	wanted := slices.Clone(p.models)
	p.mu.Unlock()
	if len(wanted) == 0 {
		wanted = []string{p.target.Model} // no answer named any
	}
	known := slices.ContainsFunc(others, func(o string) bool { return slices.Contains(wanted, o) })
	if len(labels) <= 1 && !known {
		return labels, nil
	}
	if !slices.ContainsFunc(labels, func(l string) bool { return slices.Contains(wanted, l) }) {
		return nil, fmt.Errorf("the counters are of the models %s; the answers came from %s",
			strings.Join(labels, ", "), strings.Join(wanted, ", "))
	}
	return wanted, nil
}
