package main

import (
	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/plan"
)

func newSchemaCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of plans, for editors",
		Long: `schema prints the JSON Schema of a plan. Editors that speak YAML check a plan with it
while it is written; put this on the plan's first line:

  # yaml-language-server: $schema=plan.schema.json`,
		Args: exactArgs(0),
		RunE: func(*cobra.Command, []string) error {
			schema, err := plan.Schema()
			if err != nil {
				return err
			}
			_, err = e.stdout.Write(append(schema, '\n'))
			return err
		},
	}
}
