package main

import (
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/report"
	"github.com/specsweep/specsweep/runner"
	"github.com/specsweep/specsweep/runner/result"
)

// tablesEvery is how often, at most, the tables are rewritten during a sweep. The
// rows themselves are on disk before the next pass starts.
const tablesEvery = time.Second

// runSink keeps what a sweep yields: each row is appended and synced at once,
// the tables follow.
type runSink struct {
	run      *earlierSet
	manifest result.Manifest
	progress *progress
	log      *slog.Logger
	planDir  string // absolute
	now      func() time.Time

	rows     []result.Row
	unkept   map[string]bool // run_ids of rows that the disk did not take
	unsaved  bool            // the manifest has something that its file has not
	tables   time.Time       // when they were last written
	saved    []result.SavedRequest
	requests []result.Request // both of the run whose row comes next
}

var _ runner.Sink = (*runSink)(nil)

// newRunSink starts with the rows that the run-set has already.
func newRunSink(set *earlierSet, p *progress, log *slog.Logger, e *env, planDir string) *runSink {
	return &runSink{
		run: set, manifest: set.manifest, rows: slices.Clone(set.rows), unkept: map[string]bool{},
		progress: p, log: log, now: e.now, planDir: planDir,
	}
}

func (s *runSink) PassDone(i runner.PassInfo) { s.progress.passDone(i) }
func (s *runSink) RequestDone()               { s.progress.request() }

// PassStarted begins the session on disk with the first pass that sends anything: what
// stops a sweep before, such as a changed server, leaves the run-set as it was.
func (s *runSink) PassStarted(i runner.PassInfo) {
	if i.Prompts > 0 && s.run.started != nil {
		if err := s.begin(); err != nil {
			s.log.Warn("the beginning of the session could not be written; the next row tries again", "error", err)
		}
	}
	s.progress.passStarted(i)
}

// begin writes what is new of this session, if that is still to be done.
func (s *runSink) begin() error {
	if start := s.run.started; start != nil {
		s.unsaved = true
		if err := start(); err != nil {
			return err
		}
	}
	if !s.unsaved {
		return nil
	}
	if err := s.run.WriteManifest(s.manifest); err != nil {
		return err
	}
	s.unsaved = false
	return nil
}

// Probed keeps what is known of a server in the manifest.
func (s *runSink) Probed(r runner.ServerRecord) {
	s.manifest.Servers = putServer(s.manifest.Servers, serverEntry(r))
	s.writeManifest()
	if r.Err != nil {
		role := "server"
		if r.Baseline {
			role = "baseline_server"
		}
		s.log.Error("server cannot be measured", role, r.Server, "error", r.Err)
	}
}

// Loaded keeps what was read of a dataset in the manifest.
func (s *runSink) Loaded(r runner.DatasetRecord) {
	d := r.Dataset
	s.manifest.Datasets = slices.DeleteFunc(s.manifest.Datasets, func(have result.ManifestDataset) bool { return have.Name == d.Name })
	s.manifest.Datasets = append(s.manifest.Datasets, result.ManifestDataset{
		Name: d.Name, InputData: s.shownPath(d), DatasetName: d.DatasetName, Split: d.Split, Revision: r.Revision,
		Prompts: r.Prompts, PromptSet: r.PromptSet, Warnings: r.Warnings,
	})
	s.writeManifest()
}

// shownPath is a dataset's data as the record names it: from the plan's folder, for
// the folder itself is this machine's business.
func (s *runSink) shownPath(d *plan.Dataset) string {
	if d.Hub {
		return d.InputData
	}
	rel, err := filepath.Rel(s.planDir, d.InputData)
	if err != nil {
		return filepath.Base(d.InputData)
	}
	return filepath.ToSlash(rel)
}

// writeManifest only says when it cannot: the next row tries again.
func (s *runSink) writeManifest() {
	s.unsaved = true
	if s.run.started != nil {
		return // nothing is written yet
	}
	if err := s.begin(); err != nil {
		s.log.Warn("the manifest could not be written", "error", err)
	}
}

// Saved and Requests keep what belongs to the row that comes next: whether that row
// counts is known then.
func (s *runSink) Saved(requests []result.SavedRequest) error {
	s.saved = requests
	return nil
}

func (s *runSink) Requests(requests []result.Request) error {
	s.requests = requests
	return nil
}

// Row appends a finished run before anything else happens. A row that the disk does not
// take is still in the tables that go to the screen.
func (s *runSink) Row(r result.Row) error {
	made, had := r, false
	if i := slices.IndexFunc(s.rows, func(have result.Row) bool { return have.RunID == r.RunID }); i >= 0 {
		had = s.rows[i].OK() && !s.unkept[r.RunID]
		var kept bool
		if r, kept = runner.Retried(s.rows[i], r); kept {
			s.saved, s.requests = nil, nil // they are the failed retry's
			s.log.Warn("a retry failed; the ok row stays", "run", r.RunID, "error", made.Error)
		}
	}
	err := s.keep(r)
	s.unkept[r.RunID] = err != nil && !had
	if i := slices.IndexFunc(s.rows, func(have result.Row) bool { return have.RunID == r.RunID }); i >= 0 {
		s.rows[i] = r // made again
	} else {
		s.rows = append(s.rows, r)
	}
	if err != nil {
		return err
	}
	s.progress.row(&made)
	if s.now().Sub(s.tables) >= tablesEvery {
		s.tables = s.now()
		if err := s.writeTables(); err != nil {
			s.log.Warn("the tables could not be written; the rows are safe", "error", err)
		}
	}
	return nil
}

// keep puts a row on disk, and before it all that must not be missing where it stands: what
// its servers were, and its requests.
func (s *runSink) keep(r result.Row) error {
	saved, requests := s.saved, s.requests
	s.saved, s.requests = nil, nil
	if err := s.begin(); err != nil {
		return err
	}
	if err := s.run.AppendSaved(saved); err != nil {
		return err
	}
	if err := s.run.AppendRequests(requests); err != nil {
		return err
	}
	return s.run.Append(r)
}

// anyKept tells whether an ok row is on disk.
func (s *runSink) anyKept() bool {
	return slices.ContainsFunc(s.rows, func(r result.Row) bool { return r.OK() && !s.unkept[r.RunID] })
}

// set is what the reports are made of.
func (s *runSink) set() report.Set {
	return report.NewSet(s.rows, s.manifest)
}

func (s *runSink) writeTables() error {
	var errs []error
	for _, f := range report.RunSetFiles() {
		errs = append(errs, s.run.WriteReport(f.File, func(w io.Writer) error { return report.Write(w, f.Format, s.set()) }))
	}
	return errors.Join(errs...)
}

// finish writes the tables a last time and says in the manifest how the sweep
// ended.
func (s *runSink) finish(sweepErr error) error {
	switch {
	case sweepErr == nil:
		s.manifest.Status = result.StatusFinished
	case errors.Is(sweepErr, errInterrupted), errors.Is(sweepErr, runner.ErrMaxSweep):
		s.manifest.Status = result.StatusInterrupted
	default:
		s.manifest.Status = result.StatusFailed
	}
	ended := s.now().UTC()
	s.manifest.EndedAt = &ended
	s.unsaved = true
	return errors.Join(s.begin(), s.writeTables())
}
