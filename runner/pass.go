package runner

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/specdec"
)

// pass is what one pass over the prompts on one server gave.
type pass struct {
	load     load.Pass
	unwarmed string // what went wrong with the warm-up; empty: nothing
	beyond   int    // answers that report more tokens than they may have
	stats    specdec.Stats
	model    string // that was asked for
	version  string
	prompts  promptInfo
	started  time.Time

	set      []dataset.Prompt // that were sent
	cache    cacheUse
	inFlight *float64             // mean, while there were prompts left to send
	answers  []*[sha256.Size]byte // by prompt; nil: not compared
	warmups  int                  // requests of warm-ups that the server has had since it started

	latency  latency
	oneChunk int           // streamed answers that came in one chunk although they have several tokens
	client   clientUse     // what specsweep itself used
	turns    []int         // of stats.Requests; see turnsOf
	samples  []load.Sample // only when the plan keeps them
	saved    bool          // they are with the Sink
	hashes   map[int]string

	err error // why there is no result

	// restored is the earlier row that a baseline is taken from; nothing else is set then.
	restored *result.Row
}

// promptInfo says which prompts a pass sent.
type promptInfo struct {
	asked, sent int // a conversation of several turns is one prompt
	hash        string
	summary     string // rows read and skipped, when there were fewer than asked
	warnings    []string
}

// pass makes one pass. It never fails: why it has no result stands in its err.
func (s *sweep) pass(ctx context.Context, srv *server, info *PassInfo, baseline bool) *pass {
	p := &pass{started: s.Now()}
	p.err = s.measure(ctx, srv, info, p)
	if p.err == nil && p.load.Completed == 0 {
		p.err = allFailed(&p.load)
	}
	info.Completed, info.Failed = p.load.Completed, p.load.Failed
	info.Wall, info.Throughput, info.Err = p.load.Wall, p.load.Throughput(), p.err
	if info.Prompts == 0 {
		s.Sink.PassStarted(*info) // so that every pass that ends has started
	}
	s.Sink.PassDone(*info)
	return p
}

// measure sends the prompts and watches the server while it answers.
func (s *sweep) measure(ctx context.Context, srv *server, info *PassInfo, p *pass) error {
	run := info.Run
	set, err := s.prompts.get(ctx, run.Dataset)
	if err != nil {
		return err // names the file; the row names the dataset
	}
	if err := s.reach(ctx, srv); err != nil {
		return err
	}
	if err := srv.ensure(ctx, run.Dataset.Name); err != nil {
		return err
	}
	prompts := set.First(run.NumPrompts)
	p.prompts = describePrompts(run, set, prompts)
	p.model, p.version = srv.desc.Model, srv.desc.Version
	p.set = prompts

	if srv.plan.Launch != nil && srv.passes == 0 {
		delete(s.used, srv.client.URL()) // a fresh process, whoever had the port before
	}
	if err := s.warmUp(ctx, srv, run, prompts); err != nil {
		return err
	}
	p.warmups, p.unwarmed = srv.warmups, srv.unwarmed[run.Concurrency]
	body := s.body(srv, run)
	s.chill(ctx, srv, &body, p)
	before := srv.cacheCounts(ctx)
	probe := srv.engine.Begin(ctx, srv.client, engine.Target{
		Model: p.model, NumSteps: srv.plan.NumSteps, Shared: s.used[srv.client.URL()],
		Fresh: srv.plan.Launch != nil && srv.passes == 0, Sources: acceptSources(srv.plan), Flushed: p.cache.reset,
	})
	probe.Request(&body)
	bodies, err := encode(body, prompts)
	if err != nil {
		return err
	}
	var beyond, oneChunks atomic.Int64
	var said *answers
	if run.Temperature == 0 && run.Server.Baseline != nil {
		said = newAnswers(len(prompts))
	}
	options := load.Options{
		Concurrency: run.Concurrency,
		AbortAfter:  s.Plan.AbortAfterFailures,
		MaxDuration: s.Plan.MaxRunDuration,
		Observe: func(c *openai.Completion) {
			probe.Observe(c)
			said.keep(c)
			if c.CompletionTokens != nil && *c.CompletionTokens > run.MaxNewTokens {
				beyond.Add(1)
			}
			if oneChunk(c) {
				oneChunks.Add(1)
			}
			s.Sink.RequestDone()
		},
	}
	srv.passes++
	srv.dataset = run.Dataset.Name
	s.used[srv.client.URL()] = true
	s.arrive(&options, run, len(prompts))
	info.Prompts = follow(&options, body, prompts)
	s.Sink.PassStarted(*info)
	living, stop := srv.whileAlive(ctx)
	defer stop()
	watch := newWatch(srv.client, info.Prompts)
	began := s.readClient()
	p.load, err = load.Run(living, watch, bodies, options)
	p.client = clientBetween(began, s.readClient())
	p.beyond, p.oneChunk = int(beyond.Load()), int(oneChunks.Load())
	if err != nil {
		s.digest(p) // what was counted until then stands in the error row
		return err
	}
	p.stats = probe.End(ctx)
	s.digest(p)
	p.inFlight = watch.body(run.Concurrency)
	p.answers = said.sums()
	s.warmth(srv, p, before, srv.cacheCounts(ctx))
	// A server that died in its last answers, or whose port another one holds.
	if err := srv.alive(); err != nil {
		return err
	}
	for _, f := range p.load.Failures {
		srv.log.Warn("requests failed", "dataset", run.Dataset.Name, "concurrency", run.Concurrency,
			"count", f.Count, "error", f.Example)
	}
	return ctx.Err()
}

// digest sums up what is known of single requests and lets go of what nobody needs any
// more.
func (s *sweep) digest(p *pass) {
	p.latency = newLatency(&p.load, s.Plan.SLO)
	p.turns = turnsOf(len(p.set), p.load.Samples, p.stats.Requests)
	if s.keepsRequests() {
		p.samples = p.load.Samples
	}
	p.load.Samples, p.load.Gaps = nil, nil
}

// acceptSources are the sources that the plan allows.
func acceptSources(e *plan.Endpoint) []specdec.Source {
	var out []specdec.Source
	for _, name := range e.AcceptSources {
		out = append(out, specdec.Source(name))
	}
	return out
}

// body is what all requests of a pass share. Fields of the dataset win over
// those of the server.
func (s *sweep) body(srv *server, run *plan.Run) openai.Body {
	extra := maps.Clone(srv.plan.ExtraBody)
	if extra == nil {
		extra = map[string]any{}
	}
	maps.Copy(extra, run.Dataset.ExtraBody)
	return openai.Body{
		Model:       srv.desc.Model,
		MaxTokens:   run.MaxNewTokens,
		Temperature: run.Temperature,
		TopP:        s.Plan.TopP,
		TopK:        s.Plan.TopK,
		Stream:      s.Plan.Stream,
		Extra:       extra,
	}
}

// encode makes the bytes of every prompt's first request before the clock starts.
func encode(b openai.Body, prompts []dataset.Prompt) ([][]byte, error) {
	bodies := make([][]byte, len(prompts))
	for i, p := range prompts {
		body, err := b.Encode(p.Messages)
		if err != nil {
			return nil, fmt.Errorf("encoding the request of row %d: %w", p.Row, err)
		}
		bodies[i] = body
	}
	return bodies, nil
}

func describePrompts(run *plan.Run, set *dataset.Set, prompts []dataset.Prompt) promptInfo {
	info := promptInfo{asked: run.NumPrompts, sent: len(prompts), hash: dataset.Hash(prompts), warnings: set.Warnings}
	if info.sent < info.asked {
		info.summary = set.Summary()
	}
	return info
}

// allFailed is the error of a pass without one completed request, with the
// commonest reason.
func allFailed(l *load.Pass) error {
	if len(l.Failures) == 0 {
		return errors.New("all requests failed (0 completed)")
	}
	f := l.Failures[0]
	hint := ""
	if strings.Contains(f.Example, "cache_salt") {
		hint = " (specsweep adds cache_salt so that no pass profits from an earlier one; prefix_cache: as_is leaves it out)"
	}
	return fmt.Errorf("all requests failed (0 completed): %d of %d: %s%s", f.Count, l.Failed, f.Example, hint)
}
