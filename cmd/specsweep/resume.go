package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner"
	"github.com/specsweep/specsweep/runner/result"
)

// The words of --resume that are no folder.
const (
	resumeLast = "last" // the newest run-set of the plan
	resumeAuto = "auto" // the same, or a new one when there is none
)

// resumeFlags are the flags of run that go on with a run-set.
type resumeFlags struct {
	dir         string // --resume
	retryFailed bool
}

// earlierSet is a run-set that a sweep goes on with, locked.
type earlierSet struct {
	*result.RunSet
	manifest result.Manifest
	rows     []result.Row
	moved    map[string]bool // run_ids of rows whose run_index on disk is an old one

	// started writes the beginning of this session; nil: it is written, or the run-set is
	// new. Until then no file of the run-set has changed.
	started func() error
	logs    string // folder of this session's server logs
}

// resumeDir is the folder that --resume stands for; empty: a new one is to be made.
func resumeDir(job *sweepJob) (string, error) {
	switch word := job.resume.dir; word {
	case "", resumeLast, resumeAuto:
		if word == "" {
			return "", nil
		}
		if job.out != "" {
			if _, err := os.Stat(filepath.Join(job.out, result.ManifestFile)); errors.Is(err, fs.ErrNotExist) && word == resumeAuto {
				return "", nil
			}
			return job.out, nil
		}
		dir, err := newestRunSet(filepath.Join(job.settings.ResultsDir, job.plan.Name))
		if err != nil {
			return "", err
		}
		if dir == "" && word == resumeLast {
			return "", usage(fmt.Errorf("--resume last: there is no run-set of plan %s in %s", job.plan.Name, job.settings.ResultsDir))
		}
		return dir, nil
	default:
		if job.out != "" && filepath.Clean(job.out) != filepath.Clean(word) {
			return "", usage(fmt.Errorf("--resume %s and --out %s name two folders: give one", word, job.out))
		}
		return word, nil
	}
}

// newestRunSet is the last folder with a manifest by its name, which begins with the
// time; empty when there is none.
func newestRunSet(parent string) (string, error) {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("looking for the newest run-set: %w", err)
	}
	for _, e := range slices.Backward(entries) {
		dir := filepath.Join(parent, e.Name())
		if _, err := os.Stat(filepath.Join(dir, result.ManifestFile)); err == nil {
			return dir, nil
		}
	}
	return "", nil
}

// openEarlier locks and reads a run-set, and refuses it when it is not one of this
// plan as it stands. Every error of it leaves the run-set as it was.
func openEarlier(dir string, job *sweepJob, log *slog.Logger) (*earlierSet, error) {
	set, err := result.Open(dir)
	if err != nil {
		return nil, usage(err)
	}
	// Read before anything is written, and the manifest first: a folder that is no
	// run-set gets no lock file.
	m, err := result.ReadManifest(dir)
	if err != nil {
		return nil, usage(fmt.Errorf("%w; nothing was changed", err))
	}
	if err := set.Lock(); err != nil {
		return nil, usage(err)
	}
	e := &earlierSet{RunSet: set, manifest: m}
	if err := e.read(job, log); err != nil {
		return nil, usage(errors.Join(err, set.Unlock()))
	}
	return e, nil
}

func (e *earlierSet) read(job *sweepJob, log *slog.Logger) error {
	if e.manifest.Plan != job.plan.Name {
		return fmt.Errorf("%s is a run-set of plan %s, not of %s", e.Dir(), e.manifest.Plan, job.plan.Name)
	}
	if err := sameOverrides(e.manifest.Overrides, job.overrides); err != nil {
		return fmt.Errorf("resuming %s: %w", e.Dir(), err)
	}
	if err := sameShard(&e.manifest, job.shard); err != nil {
		return fmt.Errorf("resuming %s: %w", e.Dir(), err)
	}
	rows, problems, err := result.ReadAll(e.Dir())
	if err != nil {
		return err
	}
	if err := unchangedCells(e.manifest.Cells, rows, job.runs); err != nil {
		return fmt.Errorf("resuming %s: %w", e.Dir(), err)
	}
	if err := unchangedServers(e, rows, job, log); err != nil {
		return fmt.Errorf("resuming %s: %w", e.Dir(), err)
	}
	warnProblems(log, e.Dir(), problems)
	runs := job.plan.Expand()
	e.reindex(withoutGone(rows, runs, e.Dir(), log), runs)
	return nil
}

// withoutGone leaves out the rows of cells that the plan no longer has, and says how many
// there are: tables of two plans would be tables of neither.
func withoutGone(rows []result.Row, runs []plan.Run, dir string, log *slog.Logger) []result.Row {
	keep := map[string]bool{} // by cell_id
	for i := range runs {
		keep[runs[i].CellID] = true
	}
	gone, all := map[string]bool{}, len(rows)
	rows = slices.DeleteFunc(rows, func(r result.Row) bool {
		if !keep[r.CellID] {
			gone[r.CellID] = true
		}
		return !keep[r.CellID]
	})
	if len(gone) > 0 {
		log.Warn("the run-set has cells that the plan no longer has: their rows stay in rows.jsonl, the tables leave them out",
			"dir", dir, "cells", len(gone), "rows", all-len(rows))
	}
	return rows
}

// reindex gives every row the place that its run has in the plan now. Rows of cells
// that the plan no longer has come after all others.
func (e *earlierSet) reindex(rows []result.Row, runs []plan.Run) {
	at := map[string]int{}
	for i := range runs {
		at[runs[i].RunID] = runs[i].Index
	}
	gone := len(runs)
	e.rows, e.moved = rows, map[string]bool{}
	for i := range rows {
		index, ok := at[rows[i].RunID]
		if !ok {
			index = gone
			gone++
		}
		if rows[i].RunIndex != index {
			rows[i].RunIndex = index
			e.moved[rows[i].RunID] = true
		}
	}
}

// move puts rows with their new places on disk; of two with one run_id the last counts.
func (e *earlierSet) move(rows []result.Row) error {
	for i := range rows {
		if !e.moved[rows[i].RunID] {
			continue
		}
		if err := e.Append(rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// goOn is the job's runs that are left to make.
func (e *earlierSet) goOn(job *sweepJob) []plan.Run {
	return runner.Pending(job.runs, e.rows, job.resume.retryFailed)
}
