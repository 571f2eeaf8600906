// Package runner carries out a plan's runs. It decides the order of passes,
// shares each block's baseline between the pairs that name it, keeps launched
// servers alive as long as they are needed and turns two passes into one row.
//
//	runs → schedule → passes (one at a time) → rows → Sink
//
// It writes no file and draws no progress: finished rows and events go to a Sink
// that the caller passes in. A request, a pass or a server that fails becomes a
// number, a reason or an error row; only a cancelled context and a Sink that
// cannot take a row end a sweep early.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/result"
)

// Options is what a sweep needs beside the plan.
type Options struct {
	Plan    *plan.Plan
	Runs    []plan.Run // of Plan, in the order of Expand; maybe not all of them
	Engines *engine.Registry
	Sink    Sink
	Log     *slog.Logger

	Datasets dataset.Options // how to reach datasets that are no local files

	ToolVersion string
	LogDir      string                      // where launched servers' logs go; must exist when the plan launches any
	Environ     []string                    // base environment of launched servers
	LookupEnv   func(string) (string, bool) // for api_key_env
	Now         func() time.Time            // the wall clock, for started_at

	// Earlier is the rows of the run-set that this sweep goes on with: its finished
	// rows lend their baselines, and what they were measured with must not have changed.
	Earlier []result.Row

	// ServerFirst measures each block's servers before its baseline and does not
	// rotate, as the Python tools do.
	ServerFirst bool
}

// Sink takes what a sweep yields, one call at a time except RequestDone.
type Sink interface {
	// Probed tells what is known of a server: after preflight and after each
	// (re)start.
	Probed(ServerRecord)
	// Loaded tells what was read of a dataset, once for each that could be read.
	Loaded(DatasetRecord)
	// PassStarted and PassDone enclose a pass.
	PassStarted(PassInfo)
	PassDone(PassInfo)
	// RequestDone is called for every answered request, from many goroutines.
	RequestDone()
	// Saved takes every request of a run's passes, where the plan asks for them, before
	// the run's Requests and Row. An error ends the sweep.
	Saved([]result.SavedRequest) error
	// Requests takes what the answers of a run's server pass tell one by one, where
	// they do, before the run's Row. An error ends the sweep.
	Requests([]result.Request) error
	// Row takes a finished run. An error ends the sweep.
	Row(result.Row) error
}

// ServerRecord is one server as the record keeps it.
type ServerRecord struct {
	Server   string // name in the plan; of the first server that names it, for a baseline
	Baseline bool
	Endpoint *plan.Endpoint
	engine.Description
	Err error // why it cannot be measured
}

// DatasetRecord is one dataset as the record keeps it.
type DatasetRecord struct {
	Dataset   *plan.Dataset
	Revision  string   // the commit on the Hub; empty: a dataset of this machine
	Prompts   int      // loaded; a run may send fewer of them
	PromptSet string   // hash of these
	Warnings  []string // what makes them less than what was asked for
}

// PassInfo is one pass in the order of the sweep.
type PassInfo struct {
	Index, Total int // position in the sweep, from 1, and number of passes
	Server       string
	Baseline     bool
	Run          *plan.Run // for a baseline: the first run of the block
	Prompts      int       // requests of this pass, 0 when it could not start

	// Set by PassDone:
	Completed, Failed int
	Wall              time.Duration
	Throughput        *float64 // tok/s
	Err               error
}

// ErrNoRuns says that there is nothing to do.
var ErrNoRuns = errors.New("no runs to carry out")

// Sweep carries out the runs. It returns nil when every run has its row, error
// rows included; the context's error when it was interrupted, and ErrMaxSweep when its
// time was up, each after handing the rows whose server pass is finished to the Sink; or
// the Sink's error.
// Launched servers have ended when it returns.
func Sweep(ctx context.Context, o Options) (err error) {
	if len(o.Runs) == 0 {
		return ErrNoRuns
	}
	s, err := newSweep(o)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := s.close(); cerr != nil && err == nil {
			err = cerr
		}
	}()
	return s.bounded(ctx)
}

// sweep is the state of one Sweep. Only its own goroutine touches it.
type sweep struct {
	Options
	schedule schedule
	servers  []*server // by endpoint number of the schedule
	prompts  *promptCache

	used    map[string]bool // URLs of servers that a pass of this sweep has used since they started
	pending map[int]*pass   // finished server passes by position in Runs, waiting for their baseline
	bases   map[baseKey]*pass
	written map[int]bool
	left    int // runs without a row, or without their baseline, when the sweep ended

	firstShare map[cacheKey]float64 // of the first pass over the prompts on the server

	readClient func() clientState // what this process has used so far
	earlier    earlier
	changed    error            // what must not have changed since the earlier rows; ends the sweep
	lost       map[*server]bool // attached servers that were waited for in vain since they last answered
}

// baseKey names the pass of one baseline in one block.
type baseKey struct{ block, endpoint int }

func newSweep(o Options) (*sweep, error) {
	s := &sweep{
		Options:  o,
		schedule: newSchedule(o.Runs, o.Plan.Order, o.ServerFirst),
		prompts:  newPromptCache(o.Runs, o.Datasets),
		used:     map[string]bool{},
		pending:  map[int]*pass{},
		bases:    map[baseKey]*pass{},
		written:  map[int]bool{},

		firstShare: map[cacheKey]float64{},
		readClient: readClient,
		lost:       map[*server]bool{},
		earlier:    newEarlier(&o),
	}
	s.prompts.loaded = s.loaded
	s.earlier.kept(func(run *plan.Run, _ *result.Row) bool {
		s.prompts.alsoFor(run)
		return true
	})
	conns := 1
	for _, r := range o.Runs {
		conns = max(conns, min(r.Concurrency, r.NumPrompts))
	}
	for _, e := range s.schedule.endpoints {
		srv, err := newServer(e, conns, &s.Options)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		srv.found = func() error { return s.unchanged(srv) }
		s.servers = append(s.servers, srv)
	}
	s.restore()
	return s, nil
}

// run makes the runs. cut is what rows say that an early end leaves without baseline.
func (s *sweep) run(ctx context.Context, cut string) error {
	// Data first: what does not load is known before a server has been started or
	// waited for.
	s.prompts.load(ctx, s.Log)
	if err := s.earlier.samePrompts(s.prompts.of); err != nil {
		return err
	}
	s.prepare(ctx)
	for i, st := range s.schedule.steps {
		if ctx.Err() != nil || s.changed != nil {
			break
		}
		if err := s.step(ctx, i, st); err != nil {
			return err
		}
	}
	s.left = len(s.Runs) - len(s.written)
	if err := s.flush(cut); err != nil {
		return err
	}
	if s.changed != nil {
		return s.changed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// unchanged is told of a server that preflight has found. What it finds changed ends the sweep.
func (s *sweep) unchanged(srv *server) error {
	err := s.earlier.sameServer(srv)
	if err != nil && s.changed == nil {
		s.changed = err
	}
	return err
}

// restore takes the baselines over that finished rows hold.
func (s *sweep) restore() {
	for _, st := range s.schedule.steps {
		if !st.baseline {
			continue
		}
		if row, _ := s.earlier.baseline(&s.Runs[st.runs[0]]); row != nil {
			s.bases[baseKey{st.block, st.endpoint}] = &pass{restored: row}
		}
	}
}

// step makes one pass and hands over every row that it completes.
func (s *sweep) step(ctx context.Context, i int, st step) error {
	srv := s.servers[st.endpoint]
	if s.Plan.Order == plan.OrderByServer {
		s.stopOthers(srv)
	}
	info := PassInfo{
		Index: i + 1, Total: len(s.schedule.steps),
		Server: srv.name, Baseline: st.baseline, Run: &s.Runs[st.runs[0]],
	}
	if st.baseline && !s.wanted(st) {
		return nil // it is there already, or every run that it would serve has its (error) row
	}
	p := s.pass(ctx, srv, &info, st.baseline)
	if (ctx.Err() != nil || s.changed != nil) && p.err != nil {
		return nil // an unfinished pass is no result; run tells why
	}
	if st.baseline {
		s.bases[baseKey{st.block, st.endpoint}] = p
	} else {
		s.pending[st.runs[0]] = p
	}
	return s.settle(st)
}

// wanted tells whether any run of a baseline's step still needs it.
func (s *sweep) wanted(st step) bool {
	if s.bases[baseKey{st.block, st.endpoint}] != nil {
		return false
	}
	for _, r := range st.runs {
		if s.written[r] {
			continue
		}
		own := s.servers[s.schedule.serverOf[r]]
		if own.err == nil && s.prompts.failed(s.Runs[r].Dataset) == nil {
			return true
		}
	}
	return false
}

// settle writes the rows of a step's runs that have all they wait for.
func (s *sweep) settle(st step) error {
	for _, r := range st.runs {
		p, ok := s.pending[r]
		if !ok {
			continue
		}
		base, ready := s.baselineOf(r)
		if !ready && p.err == nil {
			continue
		}
		if err := s.write(r, p, base, ""); err != nil {
			return err
		}
	}
	return nil
}

// baselineOf is the finished baseline pass of a run; ready also when there is
// none to wait for.
func (s *sweep) baselineOf(r int) (*pass, bool) {
	e := s.schedule.baselineOf[r]
	if e < 0 {
		return nil, true
	}
	p, ok := s.bases[baseKey{s.schedule.blockOf[r], e}]
	return p, ok
}

// write hands over a run's row. missing says why there is no baseline pass
// although the plan has one.
func (s *sweep) write(r int, p, base *pass, missing string) error {
	delete(s.pending, r)
	s.written[r] = true
	row := s.row(&s.Runs[r], r, p, base, missing)
	s.tidy(&row, r)
	if err := s.save(&s.Runs[r], p, base); err != nil {
		return fmt.Errorf("saving the requests of run %s: %w", row.RunID, err)
	}
	if lines := requestLines(&s.Runs[r], p); len(lines) > 0 {
		if err := s.Sink.Requests(lines); err != nil {
			return fmt.Errorf("keeping the requests of run %s: %w", row.RunID, err)
		}
	}
	if err := s.Sink.Row(row); err != nil {
		return fmt.Errorf("keeping the row of run %s: %w", row.RunID, err)
	}
	return nil
}
