package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"runtime"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner"
	"github.com/specsweep/specsweep/runner/result"
)

// openRunSet opens the run-set to go on with, or makes a new one with the plan's
// bytes and a first manifest in it, so that a sweep that dies in its first pass is still
// explained. It is locked.
func openRunSet(e *env, job *sweepJob, log *slog.Logger) (*earlierSet, error) {
	dir, err := resumeDir(job)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		set, err := openEarlier(dir, job, log)
		if err != nil {
			return nil, err
		}
		if err := set.begin(e, job, log); err != nil {
			return nil, errors.Join(err, set.Unlock())
		}
		return set, nil
	}
	run, err := createRunSet(e, job)
	if err != nil {
		return nil, err
	}
	return &earlierSet{RunSet: run, manifest: newManifest(e, job), logs: run.LogDir()}, nil
}

func createRunSet(e *env, job *sweepJob) (*result.RunSet, error) {
	hash := sha256.Sum256(job.plan.Source)
	var set *result.RunSet
	var err error
	if job.out != "" {
		set, err = result.CreateAt(job.out)
		err = usage(err)
	} else {
		set, err = result.Create(job.settings.ResultsDir, job.plan.Name, e.now(), hex.EncodeToString(hash[:])[:6])
	}
	if err != nil {
		return nil, err
	}
	if err := set.Lock(); err != nil {
		return nil, err
	}
	if err := writeFirst(set, newManifest(e, job), job.plan.Source); err != nil {
		return nil, errors.Join(err, set.Unlock())
	}
	return set, nil
}

// writeFirst writes what a new run-set has before its first row. The manifest comes
// first: with it the run-set can be gone on with, whatever happens next.
func writeFirst(set *result.RunSet, m result.Manifest, source []byte) error {
	if err := set.WriteManifest(m); err != nil {
		return err
	}
	if m.Shard != nil && len(m.RunIDs) == 0 { // no row will ever make the file
		if err := set.WriteFile(result.RowsFile, nil); err != nil {
			return err
		}
	}
	return set.WriteFile(result.PlanFile, source)
}

func newManifest(e *env, job *sweepJob) result.Manifest {
	p := job.plan
	hash := sha256.Sum256(p.Source)
	m := result.Manifest{
		Plan: p.Name, Description: p.Description, PlanPath: p.Path, PlanSHA256: hex.EncodeToString(hash[:]),
		ToolVersion: version, GitCommit: buildCommit(),
		Host:    result.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()},
		Command: job.command, Overrides: job.overrides, Labels: p.Labels, DatasetAxes: ownAxes(p.Datasets),
		StartedAt: e.now().UTC(), Status: result.StatusRunning,
		Cells: map[string]json.RawMessage{}, Runs: len(job.runs), Thresholds: encodeLimits(limitsOf(p, job.runs)), MinEffect: &p.MinEffect,
	}
	for _, r := range job.runs {
		m.Cells[r.CellID] = r.Cell
	}
	job.shard.describe(&m, e.lookup)
	return m
}

// ownAxes is which axes each dataset replaces with a value of its own.
func ownAxes(datasets []plan.Dataset) map[string][]string {
	own := map[string][]string{}
	for _, d := range datasets {
		if d.MaxNewTokens != nil {
			own[d.Name] = append(own[d.Name], "max_new_tokens")
		}
		if d.NumPrompts != nil {
			own[d.Name] = append(own[d.Name], "num_prompts")
		}
	}
	return own
}

// serverEntry is a server without anything secret: no keys and no headers, the
// URL without a password, the launch command as it stands in the plan.
func serverEntry(r runner.ServerRecord) result.ManifestServer {
	s := result.ManifestServer{
		Name: r.Server, Baseline: r.Baseline, URL: redactURL(r.Endpoint.URL), Engine: r.Endpoint.Engine,
		Model: r.Model, Models: r.Models, Version: r.Version, Speculation: r.Spec,
		Labels: r.Endpoint.Labels, Notes: r.Notes,
	}
	if r.Endpoint.Proxy != "" {
		s.Proxy = redactURL(r.Endpoint.Proxy)
	}
	s.NotVerified = r.Endpoint.TLS != nil && r.Endpoint.TLS.InsecureSkipVerify
	if r.Endpoint.Launch != nil {
		s.Command = r.Endpoint.Launch.RawCommand
	}
	if r.Err != nil {
		s.Error = r.Err.Error()
	}
	return s
}

// redactURL drops a password, or a user without one, which is a token. A URL that does not parse is not shown at all,
// since nobody knows where its password is; {port} is no part of a URL yet.
func redactURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(launched)"
	}
	if _, ok := u.User.Password(); u.User != nil && !ok {
		u.User = url.User("xxxxx") // the word of Redacted
	}
	return u.Redacted()
}

// putServer replaces the entry of a server that has been probed before.
func putServer(have []result.ManifestServer, s result.ManifestServer) []result.ManifestServer {
	for i := range have {
		if have[i].Name == s.Name && have[i].Baseline == s.Baseline {
			have[i] = s
			return have
		}
	}
	return append(have, s)
}
