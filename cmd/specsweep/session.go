package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/result"
)

// begin notes a further session in the manifest that it holds; nothing is written before
// started is called, which the sweep does once it has passed its checks. What the
// manifest says of the plan is then of the plan as it is now.
func (s *earlierSet) begin(e *env, job *sweepJob, log *slog.Logger) error {
	now := newManifest(e, job)
	m := &s.manifest
	m.Resumed = append(m.Resumed, result.Session{
		StartedAt: now.StartedAt, ToolVersion: now.ToolVersion, GitCommit: now.GitCommit, Host: now.Host, Command: now.Command,
		Kept: len(job.runs) - len(s.goOn(job)),
	})
	m.Status, m.EndedAt = result.StatusRunning, nil
	m.Description, m.PlanPath, m.PlanSHA256 = now.Description, now.PlanPath, now.PlanSHA256
	m.Labels, m.DatasetAxes, m.MinEffect = now.Labels, now.DatasetAxes, now.MinEffect
	m.Overrides = joinedOverrides(m.Overrides, now.Overrides)
	all := job.plan.Expand()
	m.Thresholds = encodeLimits(limitsOf(job.plan, s.inSet(all, job.runs)))
	s.ask(all, now.Cells)
	if now.Shard != nil {
		m.Shard, m.Whole, m.RunIDs = now.Shard, now.Whole, now.RunIDs
	}
	if err := s.makeLogs(job); err != nil {
		return err
	}
	source := job.plan.Source
	s.started = func() error {
		s.started = nil
		cut, err := s.CutTorn()
		if err != nil {
			return err
		}
		warnProblems(log, s.Dir(), cut)
		return s.keepPlan(source)
	}
	return nil
}

// inSet is the runs of the plan that have a row, or that this session was asked for.
func (s *earlierSet) inSet(all, asked []plan.Run) []plan.Run {
	in := map[string]bool{}
	for i := range s.rows {
		in[s.rows[i].RunID] = true
	}
	for i := range asked {
		in[asked[i].RunID] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(r plan.Run) bool { return !in[r.RunID] })
}

// ask adds the cells of this session to those that were asked for, takes away those
// that the plan no longer has, and counts their runs.
func (s *earlierSet) ask(all []plan.Run, cells map[string]json.RawMessage) {
	there := map[string]bool{} // by cell_id
	runs := map[string]bool{}  // by run_id
	for i := range s.rows {
		runs[s.rows[i].RunID] = true
	}
	for i := range all {
		there[all[i].CellID] = true
	}
	asked := maps.Clone(s.manifest.Cells)
	if asked == nil {
		asked = map[string]json.RawMessage{}
	}
	maps.Copy(asked, cells)
	maps.DeleteFunc(asked, func(id string, _ json.RawMessage) bool { return !there[id] })
	for i := range all {
		if asked[all[i].CellID] != nil {
			runs[all[i].RunID] = true
		}
	}
	s.manifest.Cells, s.manifest.Runs = asked, len(runs)
}

// joinedOverrides is the workload flags of all sessions. They are the same but for
// --only, which is dropped unless it always chose the same cells.
func joinedOverrides(was, is map[string]string) map[string]string {
	is = maps.Clone(is)
	if was["only"] != is["only"] {
		delete(is, "only")
	}
	return is
}

// keepPlan writes the plan as it is now. The one that was there stays as plan-<n>.yaml,
// n counting from 1, unless it is the same.
func (s *earlierSet) keepPlan(source []byte) error {
	was, err := os.ReadFile(filepath.Join(s.Dir(), result.PlanFile))
	switch {
	case errors.Is(err, fs.ErrNotExist): // it died in between
		return s.WriteFile(result.PlanFile, source)
	case err != nil:
		return fmt.Errorf("reading the plan of the run-set: %w", err)
	case bytes.Equal(was, source):
		return nil
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("plan-%d.yaml", n)
		if _, err := os.Lstat(filepath.Join(s.Dir(), name)); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("looking for a free name for the earlier plan: %w", err)
		}
		if err := s.WriteFile(name, was); err != nil {
			return err
		}
		return s.WriteFile(result.PlanFile, source)
	}
}

// makeLogs makes the folder of this session's server logs, where the plan launches any:
// the logs of an earlier session stay as they are.
func (s *earlierSet) makeLogs(job *sweepJob) error {
	s.logs = s.LogDir()
	launches := func(r plan.Run) bool {
		return r.Server.Launch != nil || r.Server.Baseline != nil && r.Server.Baseline.Launch != nil
	}
	if !slices.ContainsFunc(s.goOn(job), launches) {
		return nil
	}
	if err := os.MkdirAll(s.LogDir(), 0o755); err != nil {
		return fmt.Errorf("making the folder for server logs: %w", err)
	}
	for n := len(s.manifest.Resumed); ; n++ {
		dir := filepath.Join(s.LogDir(), fmt.Sprintf("resumed-%d", n))
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			s.logs = dir
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making the folder for server logs: %w", err)
		}
	}
}

// refused takes away what a session that was refused has made: its logs.
func (s *earlierSet) refused() error {
	if s.logs == s.LogDir() {
		return nil
	}
	if err := os.RemoveAll(s.logs); err != nil {
		return fmt.Errorf("taking the logs of the refused session away: %w", err)
	}
	return nil
}
