package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/report"
	"github.com/specsweep/specsweep/report/gate"
	"github.com/specsweep/specsweep/runner"
	"github.com/specsweep/specsweep/runner/dataset"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/all"
	"github.com/specsweep/specsweep/runner/result"
)

func newRunCmd(e *env) *cobra.Command {
	var (
		o      overrideFlags
		out    string
		dryRun bool
		resume resumeFlags
		shard  string
	)
	cmd := &cobra.Command{
		Use:   "run PLAN",
		Short: "Carry out a plan and leave its tables",
		Long: `run carries out a plan: it makes the passes one at a time, keeps every finished row at
once, and writes results.csv, results.md and results.json beside the rows. The table
goes to stdout, logs and progress to stderr.

The first Ctrl-C starts nothing new, keeps every finished row and writes the tables;
the second kills. SIGTERM, SIGHUP and SIGUSR1 do the same as the first, however often they come.

--resume goes on with a run-set, whatever ended it: runs that are finished stay as they
are, the others are made. It refuses to mix: when the plan's cells, the prompts, or a server's
model, version, labels or launch have changed since, it stops with both values and changes nothing.
A run that has a row keeps it when making it again fails.

--shard i/n makes the i-th of n parts of the plan, counted from 1, into DIR/shard-<i> of the --out
DIR that all parts share; merge puts them together. All runs of a server are in one part, with a
baseline of their own. --shard auto takes i and n from a Slurm job array or a Kubernetes Indexed
Job. {node} and {gpu} in labels stand for where the sweep runs.

` + exitCodesHelp,
		Example: `  specsweep run plans/example.yaml
  specsweep run plans/example.yaml --only server=ckpt-2000 --only concurrency=1,8
  specsweep run plans/example.yaml --num-prompts 16 --dry-run
  specsweep run plans/example.yaml --resume last
  specsweep run plans/checkpoints.yaml --shard 2/8 --out /shared/checkpoints --resume auto`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, log, err := tools(cmd, e)
			if err != nil {
				return err
			}
			engines := all.Engines()
			var places map[string]bool
			m, err := loadMatrix(cmd, e, args[0], engines, &o, func(p *plan.Plan) *plan.Plan {
				p, places = placed(p, e.lookup, log)
				return p
			})
			if err != nil {
				return err
			}
			part, err := parseShard(shard, e.lookup)
			if err != nil {
				return err
			}
			job := sweepJob{
				matrix: m, engines: engines, settings: s, out: out, command: e.args, overrides: o.given(cmd.Flags()),
				resume: resume, placed: places, lookup: e.lookup,
			}
			if err := part.cut(&job); err != nil {
				return err
			}
			if dryRun {
				datasets := runner.CheckDatasets(cmd.Context(), job.runs)
				return errors.Join(writePlan(e.stdout, job.matrix, datasets, nil, "text"), datasetErrors(datasets))
			}
			return runSweep(cmd.Context(), e, job, log)
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "folder of this run-set (default <results-dir>/<plan>/<time>-<hash>)")
	f.BoolVar(&dryRun, "dry-run", false, "print the matrix and do nothing")
	f.StringVar(&resume.dir, "resume", "", "go on with this run-set: its folder, last (the newest of the plan), or auto (last, or a new one)")
	f.BoolVar(&resume.retryFailed, "retry-failed", true, "with --resume: make runs again that have an error or lack their baseline")
	f.StringVar(&shard, "shard", "", "make one part of the plan: i/n, counted from 1, or auto (from the scheduler)")
	o.add(f)
	return cmd
}

// sweepJob is what `run` carries out.
type sweepJob struct {
	matrix
	engines   *engine.Registry
	settings  settings
	out       string
	command   []string // as it was typed, for the record
	overrides map[string]string
	resume    resumeFlags
	shard     *shardJob       // nil: the whole plan
	placed    map[string]bool // values of labels that say where this process runs
	lookup    lookupFunc      // for the plan that a run-set keeps
}

// runSweep makes or opens the run-set, carries out the sweep and prints its table.
func runSweep(ctx context.Context, e *env, job sweepJob, log *slog.Logger) (err error) {
	hubAt, err := hubOptions(e, job.settings, datasetsOf(job.runs)...)
	if err != nil {
		return err
	}
	set, err := openRunSet(e, &job, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Unlock()) }()
	todo := set.goOn(&job)
	bar := newProgress(e.stderr, job.settings, e.stderrTTY, runner.CostOf(todo, job.plan.Order), len(job.runs)-len(todo))
	log, err = newLogger(bar.out, job.settings, job.settings.coloured(e.stderrTTY, e.lookup))
	if err != nil {
		bar.close()
		return err
	}
	if left := len(job.plan.Thresholds) - len(limitsOf(job.plan, set.inSet(job.plan.Expand(), job.runs))); left > 0 {
		log.Warn("thresholds that speak of none of the cells that are run here are not judged", "thresholds", left)
	}
	client := newHub(hubAt, job.settings, log, bar.out)
	defer closeHub(client)
	sink := newRunSink(set, bar, log, e, job.plan.Dir)
	sweepErr := error(nil)
	if len(job.runs) == 0 {
		log.Warn("this shard has no runs: there are more shards than servers", "shard", job.shard.String(), "servers", len(job.shard.whole.Servers))
	} else if len(todo) > 0 {
		sweepErr = runner.Sweep(ctx, runner.Options{
			Plan: job.plan, Runs: todo, Earlier: set.rows, Engines: job.engines, Sink: sink, Log: log,
			Datasets:    dataset.Options{Hub: client},
			ToolVersion: version, LogDir: set.logs, Environ: e.environ, LookupEnv: e.lookup, Now: e.now,
		})
	} else {
		log.Info("nothing to do: every run of the plan has its row", "rows", len(set.rows))
	}
	// The tables come even after an interrupt or a fault: the rows are there.
	bar.close()
	changed := new(runner.ChangedError)
	if errors.As(sweepErr, &changed) && set.started != nil {
		return usage(errors.Join(sweepErr, set.refused()))
	}
	sweepErr = errors.Join(sweepErr, sink.finish(sweepErr), set.move(sink.rows))
	if len(sink.rows) > 0 {
		sweepErr = errors.Join(sweepErr, report.Write(e.stdout, "terminal", onTerminal(sink.set(), e, job.settings)))
	}
	fmt.Fprintf(e.stderr, "results: %s\npictures: %s\n", set.Dir(), filepath.Join(set.Dir(), report.HTMLFile))
	limits, err := gate.LimitsOf(set.manifest) // over all runs of the run-set, as report --check
	if err != nil {
		return err
	}
	verdict := outcome(sink.rows, gate.JudgeLimits(sink.rows, limits))
	switch {
	case errors.Is(sweepErr, runner.ErrMaxSweep) && ctx.Err() == nil:
		return outOfTime(sweepErr, verdict)
	case errors.Is(sweepErr, errInterrupted):
		return fmt.Errorf("%w; %s goes on", sweepErr, goOnCommand(&job, set.Dir()))
	case sweepErr != nil && sink.anyKept():
		return &codeError{exitSomeFailed, sweepErr} // as with a full disk: what was made before is kept
	case sweepErr != nil:
		return sweepErr
	case len(job.runs) == 0:
		return nil // a shard that the plan's servers leave nothing for
	}
	return verdict
}

// outOfTime is the exit code of a sweep that max_duration_s ended: that of its rows, but
// never of a sweep that made all of them.
func outOfTime(sweepErr, verdict error) error {
	code := exitSomeFailed
	coded := new(codeError)
	if errors.As(verdict, &coded) {
		code = coded.code
	}
	return &codeError{code, sweepErr}
}

// outcome is the exit code of the rows and of the thresholds that they miss.
func outcome(rows []result.Row, misses []gate.Miss) error {
	failed := 0
	for i := range rows {
		if !rows[i].OK() {
			failed++
		}
	}
	switch {
	case failed == len(rows):
		return &codeError{exitFailed, fmt.Errorf("every run failed (%d of %d)", failed, len(rows))}
	case len(misses) > 0:
		return missed(misses)
	case failed > 0:
		return &codeError{exitSomeFailed, fmt.Errorf("%d of %d runs failed", failed, len(rows))}
	}
	return nil
}
