package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/specsweep/specsweep/runner/result"
)

// runSetData is what is read of a run-set's folder, or of the folder that its shards
// share: these are merged in memory.
type runSetData struct {
	rows     []result.Row
	manifest result.Manifest
	dir      string
	merged   *result.Merged // nil: one run-set
	problems []string       // lines of its rows that could not be read
}

// readRunSet reads a folder for report and compare. What cannot be read is logged and
// left out; so is the manifest when there is none, for the rows alone make tables too.
func readRunSet(ctx context.Context, dir string, log *slog.Logger) (runSetData, error) {
	dirs, parent, err := shardsOf(dir)
	if err != nil {
		return runSetData{}, usage(err)
	}
	if !parent {
		rows, problems, err := result.Read(dir)
		if err != nil {
			return runSetData{}, usage(err)
		}
		warnProblems(log, dir, problems)
		return runSetData{rows: rows, manifest: manifestOf(dir, log), dir: dir, problems: problems}, nil
	}
	m, err := result.Merge(ctx, dirs)
	if err != nil {
		return runSetData{}, mergeError(ctx, err)
	}
	warnProblems(log, dir, m.Manifest.Notes)
	var missing *codeError
	if errors.As(complete(m.Manifest.Missing), &missing) {
		log.Warn("the shards are not complete", "dir", dir, "problem", missing.Error())
	}
	return runSetData{rows: m.Rows, manifest: m.Manifest, dir: dir, merged: m}, nil
}

// requests is what single answers told.
func (d *runSetData) requests(ctx context.Context, log *slog.Logger) (map[string][]result.Request, error) {
	var byRun map[string][]result.Request
	var problems []string
	var err error
	if d.merged != nil {
		byRun, problems, err = d.merged.Requests(ctx)
	} else {
		byRun, problems, err = result.ReadRequests(d.dir)
	}
	if err != nil {
		return nil, mergeError(ctx, err)
	}
	warnProblems(log, d.dir, problems)
	return byRun, nil
}

func warnProblems(log *slog.Logger, dir string, problems []string) {
	for _, p := range problems {
		log.Warn("run-set read in part", "dir", dir, "problem", p)
	}
}
