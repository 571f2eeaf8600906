package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/report"
	"github.com/specsweep/specsweep/runner/result"
)

func newReportCmd(e *env) *cobra.Command {
	var format string
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	cmd := &cobra.Command{
		Use:   "report DIR...",
		Short: "Render the tables of a run-set again, offline",
		Long: `report reads the rows of run-sets and prints their tables. It needs neither the plan nor
a server. What cannot be read of a run-set is named on stderr and left out.`,
		Example: `  specsweep report results/demo/20261201T120000Z-ab12cd
  specsweep report results/demo/* --format markdown > table.md`,
		Args: func(cmd *cobra.Command, args []string) error { return usage(cobra.MinimumNArgs(1)(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			s, log, err := tools(cmd, e)
			if err != nil {
				return err
			}
			if _, ok := report.FormatNamed(format); !ok {
				return usage(fmt.Errorf("--format: unknown format %q (have %s)", format, strings.Join(names, ", ")))
			}
			if format == "csv" || format == "json" {
				args, err = oneSet(args, format)
				if err != nil {
					return err
				}
			}
			for i, dir := range args {
				rows, problems, err := result.Read(dir)
				if err != nil {
					return usage(err)
				}
				for _, p := range problems {
					log.Warn("run-set read in part", "dir", dir, "problem", p)
				}
				if i > 0 {
					fmt.Fprintln(e.stdout)
				}
				if err := report.Write(e.stdout, format, onTerminal(report.NewSet(rows, manifestOf(dir, log)), e, s)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "terminal", strings.Join(names, ", ")+"; csv and json take one run-set")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// oneSet refuses what would make two documents of one file.
func oneSet(args []string, format string) ([]string, error) {
	if len(args) > 1 {
		return nil, usage(fmt.Errorf("--format %s takes one run-set at a time", format))
	}
	return args, nil
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
