package main

import (
	"log/slog"

	"github.com/spf13/cobra"
)

const rootLong = `specsweep runs checked-in sweep plans against SGLang and vLLM servers and says what
a speculative-decoding drafter is worth: acceptance length, acceptance rate, output
throughput and the speedup over a server without speculation, as CSV and markdown
tables.

Settings about the machine come from specsweep.yaml (working folder, else the user's
config folder), SPECSWEEP_<SETTING> variables and the flags below. What is measured
stands in the plan alone.`

// newRootCmd builds the whole command line. Nothing is kept in package
// variables, so that tests can build it as often as they like.
func newRootCmd(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "specsweep",
		Short:         "Measure what a speculative-decoding drafter is worth",
		Long:          rootLong,
		SilenceErrors: true, // main reports them, with their exit code
		SilenceUsage:  true,
	}
	root.Version = version
	root.SetVersionTemplate(versionLine())
	addSettingsFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(unknownFlag(cmd, err)) })
	root.AddCommand(
		newRunCmd(e),
		newPlanCmd(e),
		newBenchCmd(e),
		newReportCmd(e),
		newCompareCmd(e),
		newMergeCmd(e),
		newDatasetsCmd(e),
		newSimCmd(e),
		newSchemaCmd(e),
		newVersionCmd(e),
	)
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage(unknownCommand(cmd, args[0]))
		}
		return cmd.Help()
	}
	root.Args = cobra.ArbitraryArgs
	root.SuggestionsMinimumDistance = 2
	return root
}

// exactArgs is cobra's, with the exit code of a usage error.
func exactArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return usage(cobra.ExactArgs(n)(cmd, args)) }
}

// tools are what most commands start with: settings and a logger made of them.
func tools(cmd *cobra.Command, e *env) (settings, *slog.Logger, error) {
	s, err := loadSettings(cmd.Flags())
	if err != nil {
		return s, nil, usage(err)
	}
	log, err := newLogger(e.stderr, s, s.coloured(e.stderrTTY, e.lookup))
	if err != nil {
		return s, nil, usage(err)
	}
	for _, name := range unknownVariables(e.environ) {
		log.Warn("no such setting", "variable", name)
	}
	return s, log, nil
}
