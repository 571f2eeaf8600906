// Package vllm measures vLLM servers. Acceptance is the difference of the
// spec-decode counters at /metrics over a pass; where the state before the pass is
// not known, the counters as they stand, marked.
//
// It sends nothing but GETs and adds no field to requests. It does not ask for
// settings: outside of developer mode a vLLM server tells its version only.
package vllm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// Engine is a vLLM server as the sweep sees it.
type Engine struct{}

var _ engine.Engine = Engine{}

// Name is vllm.
func (Engine) Name() string { return "vllm" }

// Describe asks GET /version.
func (Engine) Describe(ctx context.Context, c *openai.Client) (engine.Description, error) {
	body, err := engine.Fetch(ctx, c, "/version", "")
	if err != nil {
		return engine.Description{}, err
	}
	var v struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return engine.Description{}, fmt.Errorf("GET %s/version: not the JSON of a vLLM server: %w", c.URL(), err)
	}
	return engine.Description{Version: v.Version}, nil
}

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

	mu     sync.Mutex
	models []string // that answers named, each once
}

func (*probe) Request(*openai.Body) {}

// Observe keeps the name that answers carry: the label of the counters is the
// primary name of a model, which may have been asked for by an alias.
func (p *probe) Observe(c *openai.Completion) {
	if c.Err != nil || c.Model == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.models, c.Model) {
		p.models = append(p.models, c.Model)
	}
}

// End scrapes again and takes the difference.
func (p *probe) End(ctx context.Context) specdec.Stats {
	s := p.stats(scrape(ctx, p.client))
	if n := p.target.NumSteps; n != nil {
		s.NumSteps = n
	}
	s.Explain(specdec.CodeNotReported, "a vLLM server does not report it")
	return s
}

func (p *probe) stats(after snapshot, err error) specdec.Stats {
	if err != nil {
		return specdec.Missing(specdec.CodeUnreachable, fmt.Sprintf("the scrape after the pass failed: %v", err))
	}
	if len(p.before.engines) == 0 && len(after.engines) == 0 {
		return silent(after)
	}
	before, after, err := p.ofModel(p.before, after)
	if err != nil {
		return specdec.Missing(specdec.CodeModelNotFound, err.Error())
	}
	if p.beforeErr != nil {
		s := specdec.FromCounters(specdec.SourceCumulative, after.total())
		s.Doubt(specdec.CodeCumulative, fmt.Sprintf("the scrape before the pass failed (%v): this covers all that the server did since it started", p.beforeErr))
		return s
	}
	d, err := after.since(before)
	if err != nil {
		return specdec.Missing(specdec.CodeCountersFell, err.Error())
	}
	return specdec.FromCounters(specdec.SourceCounters, d)
}

// silent says why a readable scrape holds no spec-decode counters.
func silent(s snapshot) specdec.Stats {
	if !s.vllm {
		return specdec.Missing(specdec.CodeStatisticsOff,
			"/metrics has no vllm: series at all: the server was started with --disable-log-stats, or it is no vLLM server")
	}
	return specdec.Missing(specdec.CodeSpeculationOff, "the server exposes no spec-decode counters (speculation off?)")
}

// ofModel leaves the counters of the model that answered. Where all counters are
// of one model they are that model's, whatever it is called.
func (p *probe) ofModel(before, after snapshot) (b, a snapshot, err error) {
	labels := slices.Compact(slices.Sorted(slices.Values(append(before.models(), after.models()...))))
	if len(labels) == 1 {
		return before, after, nil
	}
	p.mu.Lock()
	wanted := slices.Clone(p.models)
	p.mu.Unlock()
	if len(wanted) == 0 {
		wanted = []string{p.target.Model} // no answer named any
	}
	if !slices.ContainsFunc(labels, func(l string) bool { return slices.Contains(wanted, l) }) {
		return b, a, fmt.Errorf("the counters are of the models %s; the answers came from %s",
			strings.Join(labels, ", "), strings.Join(wanted, ", "))
	}
	return before.of(wanted), after.of(wanted), nil
}
