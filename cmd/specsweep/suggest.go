package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unknownCommand names the commands there are, and the nearest one.
func unknownCommand(cmd *cobra.Command, word string) error {
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return fmt.Errorf("unknown command %q (did you mean %s?)", word, strings.Join(near, " or "))
	}
	var have []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			have = append(have, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q (have %s)", word, strings.Join(have, ", "))
}

// unknownFlag adds the nearest flag to an error of a flag that a command does not have.
func unknownFlag(cmd *cobra.Command, err error) error {
	missing := new(pflag.NotExistError)
	if !errors.As(err, &missing) || missing.GetSpecifiedShortnames() != "" {
		return err
	}
	// cobra counts the edits, but between commands: each flag is one here.
	flags := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	near := flags.SuggestionsFor(missing.GetSpecifiedName())
	if len(near) == 0 {
		return fmt.Errorf("%w; %s --help lists the flags", err, cmd.CommandPath())
	}
	return fmt.Errorf("%w (did you mean --%s?)", err, strings.Join(near, " or --"))
}
