package main

import (
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

// unchangedServers refuses a plan that says something else of a server with ok rows: other
// labels or another launch. Such rows may be of another drafter than those to come. Which
// version and model it serves, the sweep itself finds out.
func unchangedServers(e *earlierSet, rows []result.Row, job *sweepJob, log *slog.Logger) error {
	c := serverCheck{manifest: &e.manifest, job: job, seen: map[string]bool{}}
	for i := range rows {
		row := &rows[i]
		srv := serverNamed(job.plan, row.Server)
		if srv == nil || !row.OK() {
			continue
		}
		if c.before == nil {
			c.before = savedServers(e.Dir(), job, log)
		}
		if err := c.row(row, srv); err != nil {
			return err
		}
	}
	return nil
}

func serverNamed(p *plan.Plan, name string) *plan.Server {
	i := slices.IndexFunc(p.Servers, func(s plan.Server) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Servers[i]
}

type serverCheck struct {
	manifest *result.Manifest
	job      *sweepJob
	before   map[string]*plan.Server // as the run-set's own plan has them; empty: not known
	seen     map[string]bool         // entries that have been compared
}

// row compares what a row says of its server, then the server's entries once.
func (c *serverCheck) row(row *result.Row, srv *plan.Server) error {
	what := "server " + srv.Name
	if err := c.labels(what, row.Labels, srv.Labels, row.RunID); err != nil {
		return err
	}
	was := c.before[srv.Name]
	if !c.seen[what] {
		c.seen[what] = true
		if entry := c.entry(srv, false); entry != nil {
			if err := sameCommand(what, entry.Command, srv.Launch, row.RunID); err != nil {
				return err
			}
		}
		if was != nil {
			if err := sameEnv(what, was.Launch, srv.Launch, row.RunID); err != nil {
				return err
			}
		}
	}
	what = "the baseline_server of " + srv.Name
	if row.BaselineThroughputTokS == nil || srv.Baseline == nil || c.seen[what] {
		return nil
	}
	c.seen[what] = true
	if entry := c.entry(srv, true); entry != nil {
		if err := c.labels(what, entry.Labels, srv.Baseline.Labels, row.RunID); err != nil {
			return err
		}
		if err := sameCommand(what, entry.Command, srv.Baseline.Launch, row.RunID); err != nil {
			return err
		}
	}
	if was != nil && was.Baseline != nil {
		return sameEnv(what, was.Baseline.Launch, srv.Baseline.Launch, row.RunID)
	}
	return nil
}

// entry is what the manifest has of a server. A baseline stands under the first server of
// the session that it belonged to, so any that shares it will do.
func (c *serverCheck) entry(srv *plan.Server, baseline bool) *result.ManifestServer {
	var shared *result.ManifestServer
	for i := range c.manifest.Servers {
		m := &c.manifest.Servers[i]
		if m.Baseline != baseline {
			continue
		}
		if m.Name == srv.Name {
			return m
		}
		other := serverNamed(c.job.plan, m.Name)
		if baseline && shared == nil && other != nil && other.Baseline == srv.Baseline {
			shared = m
		}
	}
	return shared
}

// labels compares label by label. One that holds the node or the GPU may change: it says
// where each row was made.
func (c *serverCheck) labels(what string, was, is map[string]string, runID string) error {
	names := maps.Clone(was)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, hadIt := was[name]
		b, hasIt := is[name]
		if a == b && hadIt == hasIt || c.job.placed[b] {
			continue
		}
		return &runner.ChangedError{What: "label " + name + " of " + what, Was: orNone(a, hadIt), Is: orNone(b, hasIt), RunID: runID}
	}
	return nil
}

func orNone(value string, there bool) string {
	if !there {
		return "not there"
	}
	return fmt.Sprintf("%q", value)
}

// sameCommand compares launch commands as the plan's file has them.
func sameCommand(what string, was []string, launch *plan.Launch, runID string) error {
	var is []string
	if launch != nil {
		is = launch.RawCommand
	}
	if slices.Equal(was, is) {
		return nil
	}
	shown := func(words []string) string {
		if len(words) == 0 {
			return "not there"
		}
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = shellWord(w)
		}
		return strings.Join(quoted, " ")
	}
	return &runner.ChangedError{What: "the launch command of " + what, Was: shown(was), Is: shown(is), RunID: runID}
}

// sameEnv compares launch.env. Its values may be secret: only the names are shown.
func sameEnv(what string, was, is *plan.Launch, runID string) error {
	if was == nil || is == nil {
		return nil // the command tells
	}
	names := maps.Clone(was.Env)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, is.Env)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, hadIt := was.Env[name]
		b, hasIt := is.Env[name]
		if a == b && hadIt == hasIt {
			continue
		}
		word := func(there bool, where string) string {
			if !there {
				return "not there"
			}
			return "that of " + where
		}
		return &runner.ChangedError{
			What: "launch.env " + name + " of " + what, RunID: runID,
			Was: word(hadIt, "the run-set's "+result.PlanFile), Is: word(hasIt, "the plan now (values are not shown)"),
		}
	}
	return nil
}

// savedServers is the servers of the plan that the run-set keeps. One that does not load
// any more is said and compares nothing.
func savedServers(dir string, job *sweepJob, log *slog.Logger) map[string]*plan.Server {
	servers := map[string]*plan.Server{}
	path := filepath.Join(dir, result.PlanFile)
	source, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return servers
	}
	if err == nil {
		var p *plan.Plan
		// In the plan's folder, where its relative paths start.
		p, err = plan.Parse(filepath.Join(job.plan.Dir, result.PlanFile), source, plan.Options{
			Engines: job.engines.Names(), Metrics: metrics(), LookupEnv: job.lookup,
		})
		if err == nil {
			for i := range p.Servers {
				servers[p.Servers[i].Name] = &p.Servers[i]
			}
			return servers
		}
	}
	log.Warn("launch.env is not compared with the run-set's: its plan cannot be read", "plan", path, "error", err)
	return servers
}
