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
	run      *result.RunSet
	manifest result.Manifest
	progress *progress
	log      *slog.Logger
	planDir  string // absolute
	now      func() time.Time

	rows   []result.Row
	tables time.Time // when they were last written
}

var _ runner.Sink = (*runSink)(nil)

// newRunSink starts with the rows that the run-set has already.
func newRunSink(set *earlierSet, p *progress, log *slog.Logger, e *env, planDir string) *runSink {
	return &runSink{run: set.RunSet, manifest: set.manifest, rows: slices.Clone(set.rows), progress: p, log: log, now: e.now, planDir: planDir}
}

func (s *runSink) PassStarted(i runner.PassInfo) { s.progress.passStarted(i) }
func (s *runSink) PassDone(i runner.PassInfo)    { s.progress.passDone(i) }
func (s *runSink) RequestDone()                  { s.progress.request() }

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

// writeManifest only says when it cannot: no row depends on the manifest.
func (s *runSink) writeManifest() {
	if err := s.run.WriteManifest(s.manifest); err != nil {
		s.log.Warn("the manifest could not be written", "error", err)
	}
}

// Saved appends every request of a run, where the plan asks for them, before its row.
func (s *runSink) Saved(requests []result.SavedRequest) error { return s.run.AppendSaved(requests) }

// Requests appends what single answers told, before their row.
func (s *runSink) Requests(requests []result.Request) error { return s.run.AppendRequests(requests) }

// Row appends a finished run before anything else happens. A row that the disk does not
// take is still in the tables that go to the screen.
func (s *runSink) Row(r result.Row) error {
	err := s.run.Append(r)
	if i := slices.IndexFunc(s.rows, func(have result.Row) bool { return have.RunID == r.RunID }); i >= 0 {
		s.rows[i] = r // made again
	} else {
		s.rows = append(s.rows, r)
	}
	if err != nil {
		return err
	}
	s.progress.row(&r)
	if s.now().Sub(s.tables) >= tablesEvery {
		s.tables = s.now()
		if err := s.writeTables(); err != nil {
			s.log.Warn("the tables could not be written; the rows are safe", "error", err)
		}
	}
	return nil
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
	return errors.Join(s.writeTables(), s.run.WriteManifest(s.manifest))
}
