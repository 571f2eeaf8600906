// Package sglang measures SGLang servers. Acceptance is the average that
// /server_info tells, which covers all that the server did since it started: the
// source is cumulative, and from the second pass on one server it is marked.
//
// It never empties a cache or restarts a server to reset that average, and it
// adds no field to requests.
package sglang

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// Engine is an SGLang server as the sweep sees it.
type Engine struct{}

var _ engine.Engine = Engine{}

// Name is sglang.
func (Engine) Name() string { return "sglang" }

// Describe takes version and speculative settings from the server's info.
func (Engine) Describe(ctx context.Context, c *openai.Client) (engine.Description, error) {
	i, err := fetch(ctx, c)
	if err != nil {
		return engine.Description{}, err
	}
	d := engine.Description{Spec: map[string]string{}}
	d.Version, _ = text(i.server["version"])
	for _, key := range []string{keyAlgorithm, keyDraftModel, keyNumSteps, keyTopK, keyNumDraftTokens} {
		if v := scalar(i.setting(key)); v != "" {
			d.Spec[key] = v
		}
	}
	return d, nil
}

// Begin asks nothing: there is no difference to take of an average without its
// weight.
func (Engine) Begin(_ context.Context, c *openai.Client, t engine.Target) engine.Probe {
	return &probe{client: c, target: t}
}

// probe watches one pass.
type probe struct {
	client *openai.Client
	target engine.Target
}

func (*probe) Request(*openai.Body)       {}
func (*probe) Observe(*openai.Completion) {}

// End reads the average after the pass.
func (p *probe) End(ctx context.Context) specdec.Stats {
	i, err := fetch(ctx, p.client)
	if err != nil {
		s := specdec.Missing(specdec.CodeUnreachable, fmt.Sprintf("the server's statistics could not be read: %v", err))
		return p.finish(s, p.target.NumSteps)
	}
	steps := i.numSteps()
	if steps == nil {
		steps = p.target.NumSteps
	}
	average, reason := i.average()
	if reason != nil {
		return p.finish(specdec.Missing(reason.Code, reason.Text), steps)
	}
	s := specdec.FromAverage(specdec.SourceCumulative, average, steps)
	p.doubt(&s, i)
	return p.finish(s, steps)
}

// doubt marks what makes the average less than what it seems to be.
func (p *probe) doubt(s *specdec.Stats, i info) {
	if p.target.Shared {
		s.Doubt(specdec.CodeContaminated,
			"contaminated: the server's average is cumulative and blends in the earlier passes of this sweep; restart the server to part them")
	}
	if n := len(i.decode); n > 1 {
		s.Doubt(specdec.CodeRanks, fmt.Sprintf("of the first of %d decode servers: the others are not in it", n))
	}
	if k := integer(i.setting(keyTopK)); k != nil && *k > 1 && s.AcceptanceRate != nil {
		s.Notes = append(s.Notes, specdec.Note{
			Code: specdec.CodeDepthFraction, Columns: []string{specdec.ColumnAcceptanceRate},
			Text: fmt.Sprintf("drafts are trees (topk %d): (accept_length - 1) / num_steps is the accepted share of the depth, not of the proposed tokens", *k),
		})
	}
}

// finish gives a reason to what /server_info never tells.
func (*probe) finish(s specdec.Stats, steps *int) specdec.Stats {
	s.NumSteps = steps
	s.Explain(specdec.CodeNotReported, "SGLang's /server_info does not tell it")
	return s
}

// fetch reads GET /server_info, which versions before 0.5.6 and routers call
// /get_server_info.
func fetch(ctx context.Context, c *openai.Client) (info, error) {
	path := "/server_info"
	body, err := engine.Fetch(ctx, c, path, "")
	var status *openai.HTTPError
	if errors.As(err, &status) && status.Status == http.StatusNotFound {
		path = "/get_server_info"
		body, err = engine.Fetch(ctx, c, path, "")
	}
	if err != nil {
		return info{}, err
	}
	i, err := parse(body)
	if err != nil {
		return info{}, fmt.Errorf("GET %s%s: %w", c.URL(), path, err)
	}
	return i, nil
}
