package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/report"
	"github.com/specsweep/specsweep/report/gate"
	"github.com/specsweep/specsweep/runner/result"
)

func newReportCmd(e *env) *cobra.Command {
	var (
		format       string
		check, merge bool
	)
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	cmd := &cobra.Command{
		Use:   "report DIR...",
		Short: "Render the tables of a run-set again, offline",
		Long: `report reads the rows of run-sets and prints their tables. It needs neither the plan nor
a server. What cannot be read of a run-set is named on stderr and left out. The folder that shards
of one plan share (run --shard) counts as one run-set, as merge would make it.

With --merge, and for html and svg always, several run-sets make one report: checkpoints that were
measured on different days side by side, or over a label such as step.

--check judges the thresholds that the run-set's plan had, and exits with 4 when one is missed.
Runs that were asked for and have no row, and rows that cannot be read, count as missed.`,
		Example: `  specsweep report results/demo/20261201T120000Z-ab12cd
  specsweep report results/demo/* --format markdown > table.md
  specsweep report results/demo/* --format html > checkpoints.html
  specsweep report results/demo/20261201T120000Z-ab12cd --check`,
		Args: func(cmd *cobra.Command, args []string) error { return usage(cobra.MinimumNArgs(1)(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			s, log, err := tools(cmd, e)
			if err != nil {
				return err
			}
			if _, ok := report.FormatNamed(format); !ok {
				return usage(fmt.Errorf("--format: unknown format %q (have %s)", format, strings.Join(names, ", ")))
			}
			if err := eachOnce(args); err != nil {
				return err
			}
			sets, misses, err := readSets(cmd.Context(), args, log, check)
			if err != nil {
				return err
			}
			if len(sets) > 1 && oneDocument(format) && !merge && !alwaysMerged(format) {
				return usage(fmt.Errorf("--format %s takes one run-set at a time, or several with --merge", format))
			}
			if len(sets) > 1 && (merge || alwaysMerged(format)) {
				sets = []report.Set{report.Merge(sets)}
			}
			for i, set := range sets {
				if i > 0 {
					fmt.Fprintln(e.stdout)
				}
				if err := report.Write(e.stdout, format, onTerminal(set, e, s)); err != nil {
					return err
				}
			}
			return missed(misses)
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "terminal", strings.Join(names, ", "))
	f.BoolVar(&check, "check", false, "judge the plan's thresholds; exit 4 when one is missed")
	f.BoolVar(&merge, "merge", false, "one report over all the run-sets")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// oneDocument tells the formats of which two in a row are none.
func oneDocument(format string) bool { return format != "terminal" && format != "markdown" }

// alwaysMerged tells the formats that are made to show many checkpoints at once.
func alwaysMerged(format string) bool { return format == "html" || format == "svg" }

// readSets reads run-sets, whatever can be read of them, and judges each when asked.
func readSets(ctx context.Context, dirs []string, log *slog.Logger, check bool) ([]report.Set, []gate.Miss, error) {
	var sets []report.Set
	var misses []gate.Miss
	for _, dir := range dirs {
		read, err := readRunSet(ctx, dir, log)
		if err != nil {
			return nil, nil, err
		}
		set := report.NewSet(read.rows, read.manifest)
		set.Name = filepath.Base(filepath.Clean(dir))
		sets = append(sets, set)
		if !check {
			continue
		}
		missed, err := judgeSet(&read)
		if err != nil {
			return nil, nil, err
		}
		misses = append(misses, missed...)
	}
	return sets, misses, nil
}

// eachOnce refuses a folder that is named twice, also by another path: its rows would
// count twice.
func eachOnce(dirs []string) error {
	var seen []os.FileInfo
	for i, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			return usage(fmt.Errorf("reading a run-set: %w", err))
		}
		for j, other := range seen {
			if os.SameFile(info, other) {
				return usage(fmt.Errorf("%s and %s are the same folder; name each run-set once", dirs[j], dirs[i]))
			}
		}
		seen = append(seen, info)
	}
	return nil
}

// judgeSet judges a run-set by its own thresholds, and whether its rows are all there: a
// limit cannot see a cell that is lost. One without thresholds is an error: a check that
// can only pass checks nothing.
func judgeSet(read *runSetData) ([]gate.Miss, error) {
	limits, err := gate.LimitsOf(read.manifest)
	if err != nil {
		return nil, usage(fmt.Errorf("%s: %w", read.dir, err))
	}
	if len(limits) == 0 {
		return nil, usage(fmt.Errorf("--check: %s has no thresholds: its plan named none, or its manifest.json is missing", read.dir))
	}
	misses := gate.JudgeRows(read.rows, read.manifest, read.problems)
	return append(misses, gate.JudgeLimits(read.rows, limits)...), nil
}

// onTerminal tells the terminal format how wide and colourful it may be.
func onTerminal(set report.Set, e *env, s settings) report.Set {
	set.Terminal = report.Terminal{Width: e.width, Color: s.coloured(e.stdoutTTY, e.lookup)}
	return set
}

// manifestOf is the run-set's manifest, or none: the rows alone make tables too.
func manifestOf(dir string, log *slog.Logger) result.Manifest {
	m, err := result.ReadManifest(dir)
	if err != nil {
		log.Warn("tables are made without the manifest", "error", err)
	}
	return m
}
