package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
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
