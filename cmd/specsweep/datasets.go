package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/plan"
)

func newDatasetsCmd(e *env) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "datasets",
		Short: "List the built-in datasets, or show what a dataset would send",
		Long: `datasets lists the presets that a plan may name by a bare word, with where each line
comes from. "suite" marks those that stand for datasets left out.

datasets show prints the prompts that a run would send.`,
		Example: `  specsweep datasets
  specsweep datasets show gsm8k --split 'test[:5]'
  specsweep datasets show data/chat.jsonl --shuffle-seed 42 -n 5`,
		Args: exactArgs(0),
		RunE: func(_ *cobra.Command, _ []string) error { return listDatasets(e.stdout, format) },
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.AddCommand(newDatasetsShowCmd(e))
	return cmd
}

// presetJSON is a preset for programs. What is null is not set.
type presetJSON struct {
	Name                string  `json:"name"`
	InputData           string  `json:"input_data"`
	DatasetName         *string `json:"dataset_name"`
	Split               string  `json:"split"`
	MessagesColumn      *string `json:"messages_column"`
	PromptColumn        *string `json:"prompt_column"`
	PromptContextColumn *string `json:"prompt_context_column"`
	CategoryColumn      *string `json:"category_column"`
	MaxNewTokens        *int    `json:"max_new_tokens"`
	Suite               bool    `json:"suite"`
	Source              string  `json:"source"`
}

func listDatasets(w io.Writer, format string) error {
	switch format {
	case "json":
		out := []presetJSON{}
		for _, p := range plan.Presets() {
			out = append(out, presetJSON{
				Name: p.Name, InputData: p.InputData, DatasetName: orNull(p.DatasetName), Split: p.Split,
				MessagesColumn: orNull(p.MessagesColumn), PromptColumn: orNull(p.PromptColumn),
				PromptContextColumn: orNull(p.PromptContextColumn), CategoryColumn: orNull(p.CategoryColumn),
				MaxNewTokens: orNull(p.MaxNewTokens), Suite: p.Suite, Source: p.Source,
			})
		}
		return writeJSON(w, out)
	case "text":
		return listDatasetsText(w)
	}
	return unknownFormat(format)
}

func listDatasetsText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "name\tinput_data\tdataset_name\tsplit\tcolumn\tmax_new_tokens\tsuite\tsource")
	for _, p := range plan.Presets() {
		column := p.MessagesColumn + p.PromptColumn // one of them is empty
		if p.PromptContextColumn != "" {
			column += " + " + p.PromptContextColumn
		}
		limit, suite := "-", "-"
		if p.MaxNewTokens > 0 {
			limit = fmt.Sprint(p.MaxNewTokens)
		}
		if p.Suite {
			suite = "suite"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.Name, p.InputData, orDash(p.DatasetName), p.Split, column, limit, suite, p.Source)
	}
	return tw.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func orNull[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

func unknownFormat(format string) error {
	return usage(fmt.Errorf("--format: unknown format %q (have json, text)", format))
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
