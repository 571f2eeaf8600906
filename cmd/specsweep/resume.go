package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	rows, problems, err := result.Read(e.Dir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a sweep that died before its first row has none
		return err
	}
	if err := unchangedCells(e.manifest.Cells, rows, job.runs); err != nil {
		return fmt.Errorf("resuming %s: %w", e.Dir(), err)
	}
	cut, err := e.CutTorn()
	if err != nil {
		return err
	}
	for _, p := range append(problems, cut...) {
		log.Warn("run-set read in part", "dir", e.Dir(), "problem", p)
	}
	e.reindex(rows, job.plan.Expand())
	return nil
}

// sameOverrides compares the workload flags; --only may differ: it chooses among
// the same cells.
func sameOverrides(was, is map[string]string) error {
	a, b := maps.Clone(was), maps.Clone(is)
	delete(a, "only")
	delete(b, "only")
	if maps.Equal(a, b) {
		return nil
	}
	shown := func(m map[string]string) string {
		if len(m) == 0 {
			return "no workload flags"
		}
		var words []string
		for _, name := range slices.Sorted(maps.Keys(m)) {
			words = append(words, "--"+strings.ReplaceAll(name, "_", "-")+" "+m[name])
		}
		return strings.Join(words, " ")
	}
	return fmt.Errorf("the run-set was made with %s, now there is %s: give the same", shown(a), shown(b))
}

// unchangedCells refuses a plan with another cell at the place of one that has rows.
func unchangedCells(was map[string]json.RawMessage, rows []result.Row, runs []plan.Run) error {
	measured := map[string]bool{}
	for i := range rows {
		measured[rows[i].CellID] = true
	}
	placed := map[string]string{} // place → id of the cell that has rows there
	for id, cell := range was {
		place, err := plan.CellPlace(cell)
		if err != nil {
			return err
		}
		if measured[id] {
			placed[place] = id
		}
	}
	for i := range runs {
		place, err := plan.CellPlace(runs[i].Cell)
		if err != nil {
			return err
		}
		id, ok := placed[place]
		if !ok || id == runs[i].CellID || measured[runs[i].CellID] {
			continue
		}
		diff, err := plan.DiffCells(was[id], runs[i].Cell)
		if err != nil {
			return err
		}
		return fmt.Errorf("the plan has changed: %s was cell %s and is %s:\n  %s\nstart a new run-set, or undo the change",
			place, id, runs[i].CellID, strings.Join(diff, "\n  "))
	}
	return nil
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
