package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/report"
	"github.com/specsweep/specsweep/runner"
	"github.com/specsweep/specsweep/runner/dataset"
	"github.com/specsweep/specsweep/runner/engine/all"
	"github.com/specsweep/specsweep/runner/result"
)

const benchLong = `bench does what bench_sglang, bench_vllm and bench_sweep do, by the same flag names.

With --input-data it measures one dataset and prints bench_sglang's or bench_vllm's
JSON; with --datasets-config it measures every dataset of that file, and with neither
the built-in suite (see specsweep datasets), and prints bench_sweep's table, its JSON
going to --output-json. The server is measured before its
baseline, with no warm-up and the cache as it is; a server that refuses connections is
not waited for. docs/migration.md maps the old commands to this one.

Exit codes: 0 when something completed, 1 when nothing did, 2 on flags.`

func newBenchCmd(e *env) *cobra.Command {
	var b benchFlags
	cmd := &cobra.Command{
		Use:   "bench --engine E --server URL --model M --input-data FILE",
		Short: "Measure one server from flags, as the Python scripts do",
		// What the scripts were called.
		SuggestFor: []string{"bench_vllm", "bench_sglang", "bench_sweep"},
		Long:       benchLong,
		Example: `  specsweep bench --engine vllm --server http://localhost:8000 --baseline-server http://localhost:8001 \
      --model m --input-data data/chat.jsonl --num-prompts 64
  specsweep bench --engine sglang --server http://localhost:30000 --model m \
      --datasets-config suite.yaml --datasets house_chat house_code --output-json out.json`,
		Args: cobra.ArbitraryArgs, // words after --datasets
		RunE: func(cmd *cobra.Command, args []string) error { return runBench(cmd, e, &b, args) },
	}
	b.add(cmd.Flags())
	return cmd
}

func runBench(cmd *cobra.Command, e *env, b *benchFlags, args []string) error {
	s, log, err := tools(cmd, e)
	if err != nil {
		return err
	}
	if err := b.check(cmd.Flags(), args); err != nil {
		return usage(err)
	}
	engines := all.Engines()
	if b.writePlan != "" {
		return b.savePlan(e, engines.Names())
	}
	p, err := b.plan(".", engines.Names(), e.lookup)
	if err != nil {
		return usage(err)
	}
	runs := p.Expand()
	if runs, err = b.narrow(runs); err != nil {
		return usage(err)
	}
	hubAt, err := hubOptions(e, s, datasetsOf(runs)...)
	if err != nil {
		return err
	}
	bar := newProgress(e.stderr, s, e.stderrTTY, runner.CostOf(runs, p.Order), 0)
	if bar.bar != nil {
		if log, err = newLogger(bar.out, s, s.coloured(e.stderrTTY, e.lookup)); err != nil {
			return err
		}
	}
	client := newHub(hubAt, s, log, bar.out)
	defer closeHub(client)
	sink := &collectSink{progress: bar}
	err = runner.Sweep(cmd.Context(), runner.Options{
		Plan: p, Runs: runs, Engines: engines, Sink: sink, Log: log,
		Datasets:    dataset.Options{Hub: client},
		ToolVersion: version, Environ: e.environ, LookupEnv: e.lookup, Now: e.now, ServerFirst: true,
	})
	bar.close()
	return errors.Join(b.print(e, sink.rows), err, completed(sink.rows))
}

// completed is bench's own rule for the exit code.
func completed(rows []result.Row) error {
	for i := range rows {
		if rows[i].OK() {
			return nil
		}
	}
	if len(rows) == 1 {
		return &codeError{exitFailed, errors.New(rows[0].Error)}
	}
	return &codeError{exitFailed, fmt.Errorf("nothing completed (%d datasets)", len(rows))}
}

// print writes what the Python scripts print and write.
func (b *benchFlags) print(e *env, rows []result.Row) error {
	if len(rows) == 0 {
		return nil
	}
	if b.inputData != "" {
		if rows[0].Completed == nil {
			return nil // nothing was sent: the error alone says it
		}
		text, err := report.BenchJSON(&rows[0])
		if err != nil {
			return err
		}
		if _, err := e.stdout.Write(text); err != nil {
			return err
		}
		return b.save(text)
	}
	if err := report.BenchTable(e.stdout, rows); err != nil {
		return err
	}
	text, err := report.BenchSweepJSON(rows)
	if err != nil {
		return err
	}
	return b.save(text)
}

// collectSink keeps rows in memory: bench leaves no run-set.
type collectSink struct {
	progress *progress
	rows     []result.Row
}

func (c *collectSink) Probed(runner.ServerRecord)    {}
func (c *collectSink) Loaded(runner.DatasetRecord)   {}
func (c *collectSink) PassStarted(i runner.PassInfo) { c.progress.passStarted(i) }
func (c *collectSink) PassDone(i runner.PassInfo)    { c.progress.passDone(i) }
func (c *collectSink) RequestDone()                  { c.progress.request() }

func (c *collectSink) Saved([]result.SavedRequest) error { return nil } // leaves no run-set

func (c *collectSink) Requests([]result.Request) error { return nil } // the scripts' JSON has no place for them

func (c *collectSink) Row(r result.Row) error {
	c.rows = append(c.rows, r)
	c.progress.row(&r)
	return nil
}

var _ runner.Sink = (*collectSink)(nil)

// narrow keeps the named datasets, in the order in which they are declared.
func (b *benchFlags) narrow(runs []plan.Run) ([]plan.Run, error) {
	if len(b.datasets) == 0 {
		return runs, nil
	}
	var args []string
	for _, name := range b.datasets {
		args = append(args, "dataset="+name)
	}
	only, err := plan.ParseOnly(args)
	if err != nil {
		return nil, err
	}
	return only.Filter(runs)
}
