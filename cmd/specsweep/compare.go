package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/report"
	"github.com/specsweep/specsweep/report/compare"
	"github.com/specsweep/specsweep/report/gate"
	"github.com/specsweep/specsweep/runner/result"
)

// defaultMinEffect is min_effect where neither a flag nor a manifest says.
const defaultMinEffect = 0.01

func newCompareCmd(e *env) *cobra.Command {
	var (
		format, by string
		failOn     []string
		minEffect  float64
	)
	var names []string
	for _, f := range report.ComparedFormats() {
		names = append(names, f.Name)
	}
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Say what changed between two run-sets, or between two servers of one",
		Long: `compare puts two run-sets side by side, cell by cell: folders, or results.csv files. With
--by server it compares two servers of one run-set. The folder of a plan's shards counts as one. It says what was measured in another way and
what only one side has, and calls nothing better than the samples can carry: the unit of
accept_length is the prompt, that of speedup the repeat.

--fail-on makes it fail (exit 4) when a cell's change is past the limit and the difference is
significant. A cell that only OLD has, one that is not comparable, and a value that one side has
lost count as missed; a metric that is n/a on both sides of a cell, such as speedup at a finite
request_rate, is not judged there, and a log line says so. Where there is no interval, as with one
run a cell, the estimate decides and the output says so. A limit with % is relative to the old
value, one without is absolute.`,
		Example: `  specsweep compare results/demo/20261201T120000Z-ab12cd results/demo/20261202T120000Z-ab12cd
  specsweep compare results/demo/20261201T120000Z-ab12cd --by server ckpt-1000 ckpt-2000
  specsweep compare OLD NEW --fail-on 'speedup<-5%' --fail-on 'accept_length<-0.1' --format markdown`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case by == "" && len(args) != 2:
				return usage(fmt.Errorf("compare takes two run-sets, or one with --by server and two servers (have %d arguments)", len(args)))
			case by == "server" && len(args) != 3:
				return usage(fmt.Errorf("compare --by server takes a run-set and the names of two of its servers (have %d arguments)", len(args)))
			case by != "" && by != "server":
				return usage(fmt.Errorf("--by %q: the only word is server", by))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, log, err := tools(cmd, e)
			if err != nil {
				return err
			}
			if !(minEffect >= 0) || math.IsInf(minEffect, 0) {
				return usage(fmt.Errorf("--min-effect %v: give a number of at least 0, as in 0.01 for 1 %%", minEffect))
			}
			rules, err := parseRules(failOn)
			if err != nil {
				return err
			}
			c, err := compareSides(cmd.Context(), args, by, log)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("min-effect") {
				c.options.MinEffect = minEffect
			}
			compared := compare.Compare(c.old, c.new, c.options)
			out := report.Compared{
				Comparison: compared, Misses: gate.Judge(compared, rules), Rules: len(rules),
				Terminal: onTerminal(report.Set{}, e, s).Terminal,
			}
			if len(rules) > 0 { // what cannot be read cannot be judged
				out.Misses = append(out.Misses, gate.JudgeRows(nil, result.Manifest{}, slices.Concat(c.old.Problems, c.new.Problems))...)
			}
			if err := report.WriteCompared(e.stdout, format, out); err != nil {
				return err
			}
			if len(compared.Cells) == 0 && len(out.Misses) == 0 {
				return usage(fmt.Errorf("no cell stands on both sides: there is nothing to compare"))
			}
			for _, r := range rules {
				if n := r.Unjudged(compared); n > 0 {
					log.Warn("n/a on both sides, so not judged", "metric", r.Metric, "cells", n)
				}
			}
			if format == "csv" { // which has no place for them
				return missed(out.Misses)
			}
			return missedAbove(out.Misses)
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "terminal", strings.Join(names, ", "))
	f.StringVar(&by, "by", "", "server: compare two servers of one run-set")
	f.StringArrayVar(&failOn, "fail-on", nil, "exit 4 when a change is past this limit, as in speedup<-5% or accept_length<-0.1; may be repeated")
	f.Float64Var(&minEffect, "min-effect", 0, "relative change below which there is no verdict (default: the plan's min_effect, 0.01)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"server"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if slices.Contains(names, format) {
			return nil
		}
		return usage(fmt.Errorf("--format: unknown format %q (have %s)", format, strings.Join(names, ", ")))
	}
	return cmd
}

func parseRules(texts []string) ([]gate.Rule, error) {
	var rules []gate.Rule
	var errs []error
	for _, text := range texts {
		r, err := gate.ParseRule(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--fail-on %q: %w", text, err))
		}
		rules = append(rules, r)
	}
	return rules, usage(errors.Join(errs...))
}

// sides is what compare was asked for.
type sides struct {
	old, new compare.Side
	options  compare.Options
}

func compareSides(ctx context.Context, args []string, by string, log *slog.Logger) (sides, error) {
	c := sides{options: compare.Options{MinEffect: defaultMinEffect}}
	var err error
	if c.old, err = readSide(ctx, args[0], log); err != nil {
		return c, err
	}
	last := c.old.Manifest
	if by == "server" {
		c.options.ByServer = [2]string{args[1], args[2]}
		for _, name := range c.options.ByServer {
			if servers := serverNames(c.old.Rows); !slices.Contains(servers, name) {
				return c, usage(fmt.Errorf("%s has no server %q (it has %s)", args[0], name, strings.Join(servers, ", ")))
			}
		}
	} else {
		if c.new, err = readSide(ctx, args[1], log); err != nil {
			return c, err
		}
		last = c.new.Manifest
		if c.old.Name == c.new.Name {
			c.old.Name, c.new.Name = args[0], args[1]
		}
	}
	if last.MinEffect != nil {
		c.options.MinEffect = *last.MinEffect
	}
	return c, nil
}

// serverNames is the rows' servers, in their order.
func serverNames(rows []result.Row) []string {
	var names []string
	for i := range rows {
		if !slices.Contains(names, rows[i].Server) {
			names = append(names, rows[i].Server)
		}
	}
	return names
}

// readSide reads a run-set's folder, or a file of rows as CSV.
func readSide(ctx context.Context, path string, log *slog.Logger) (compare.Side, error) {
	info, err := os.Stat(path)
	if err != nil {
		return compare.Side{}, usage(fmt.Errorf("reading a side of the comparison: %w", err))
	}
	side := compare.Side{Name: filepath.Base(filepath.Clean(path))}
	if !info.IsDir() {
		f, err := os.Open(path)
		if err != nil {
			return side, usage(fmt.Errorf("reading a side of the comparison: %w", err))
		}
		defer func() { _ = f.Close() }() // only read
		if side.Rows, err = result.ReadCSV(f); err != nil {
			return side, usage(fmt.Errorf("%s: %w (compare takes the folder of a run-set, or its results.csv)", path, err))
		}
		log.Info("a CSV file has no counts of single answers: accept_length gets no verdict", "file", path)
		return side, nil
	}
	read, err := readRunSet(ctx, path, log)
	if err != nil {
		return side, err
	}
	side.Rows, side.Manifest, side.Problems = read.rows, read.manifest, read.problems
	side.Requests, err = read.requests(ctx, log)
	return side, err
}
