package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset"
)

// showFlags are what `datasets show` is asked for. A field that a flag gives
// replaces the preset's.
type showFlags struct {
	datasetFields
	seed   seedFlag
	n      int
	format string
}

func newDatasetsShowCmd(e *env) *cobra.Command {
	var s showFlags
	cmd := &cobra.Command{
		Use:   "show NAME|PATH",
		Short: "Print the prompts that a run would send",
		Long: `show prints the first prompts of a dataset as a run would send them: of a preset, of a
file or folder, or of org/name on the Hugging Face Hub. It sends nothing to any server.

The same flags in a plan's datasets entry, without their dashes, give the same prompts.`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return showDataset(cmd, e, s, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&s.datasetName, "dataset-name", "", "configuration of a Hub dataset")
	f.StringVar(&s.revision, "revision", "", "branch, tag or commit of a Hub dataset (default main)")
	f.StringVar(&s.split, "split", "", "split, with or without a slice: train[:100] (default train)")
	f.StringVar(&s.messagesColumn, "messages-column", "", "column with lists of messages (default messages)")
	f.StringVar(&s.promptColumn, "prompt-column", "", "column with a prompt, instead of --messages-column")
	f.StringVar(&s.promptContextColumn, "prompt-context-column", "", "column appended to the prompt after a blank line")
	f.StringVar(&s.turns, "turns", "", "first or all of a list in the prompt column (default first)")
	f.StringVar(&s.categoryColumn, "category-column", "", "column kept with each prompt")
	f.Var(&s.seed, "shuffle-seed", "shuffle the rows as Hugging Face datasets does with this seed")
	f.IntVarP(&s.n, "num", "n", 3, "prompts to show")
	f.StringVar(&s.format, "format", "text", "text or json")
	return cmd
}

func showDataset(cmd *cobra.Command, e *env, s showFlags, what string) error {
	set, log, err := tools(cmd, e)
	if err != nil {
		return err
	}
	if s.format != "text" && s.format != "json" {
		return unknownFormat(s.format)
	}
	if s.n < 1 {
		return usage(fmt.Errorf("-n must be at least 1 (have %d)", s.n))
	}
	d, shown, err := s.dataset(cmd.Flags(), what)
	if err != nil {
		return usage(err)
	}
	hubAt, err := hubOptions(e, set, d)
	if err != nil {
		return err
	}
	client := newHub(hubAt, set, log, e.stderr)
	defer closeHub(client)
	prompts, err := dataset.Load(cmd.Context(), d, s.n, dataset.Options{Hub: client})
	if err != nil {
		return err
	}
	for _, w := range prompts.Warnings {
		log.Warn("the dataset is not all that was asked for", "dataset", d.Name, "warning", w)
	}
	if s.format == "json" {
		return writeJSON(e.stdout, shownJSON(d, prompts))
	}
	return writeShown(e.stdout, shown, d, prompts)
}

// dataset is what a plan with these fields would load, and how to name it: presets,
// paths and ids are told apart by the plan's own rules.
func (s showFlags) dataset(f *pflag.FlagSet, what string) (*plan.Dataset, string, error) {
	fields := datasetFields{name: filepath.Base(what), inputData: what}
	word := ""
	if p, ok := plan.PresetNamed(what); ok {
		fields, word = fieldsOf(p), p.Name
		if f.Changed("messages-column") {
			fields.promptColumn, fields.promptContextColumn = "", ""
		}
		if f.Changed("prompt-column") {
			fields.messagesColumn = ""
		}
	}
	for flag, to := range map[string]struct {
		field *string
		value string
	}{
		"dataset-name": {&fields.datasetName, s.datasetName}, "revision": {&fields.revision, s.revision}, "split": {&fields.split, s.split},
		"messages-column": {&fields.messagesColumn, s.messagesColumn}, "prompt-column": {&fields.promptColumn, s.promptColumn},
		"prompt-context-column": {&fields.promptContextColumn, s.promptContextColumn}, "category-column": {&fields.categoryColumn, s.categoryColumn},
		"turns": {&fields.turns, s.turns},
	} {
		if f.Changed(flag) {
			*to.field, word = to.value, ""
		}
	}
	entry := fields.yaml()
	if word != "" {
		entry = word
	}
	text := "version: 1\nname: show\nengine: none\nservers: [{name: none, server: \"http://localhost\"}]\ndatasets:\n  - " + entry + "\n"
	if s.seed.value != nil {
		text += "shuffle_seed: " + s.seed.String() + "\n"
	}
	p, err := plan.Parse("show", []byte(text), plan.Options{Engines: []string{"none"}})
	if err != nil {
		flags := datasetFlagNames()
		flags["datasets[0].input_data"] = what
		err = flagWords(err, flags)
		if !strings.ContainsAny(what, `/\.`) {
			err = errors.Join(err, errors.New("no preset of that name either; see specsweep datasets"))
		}
		return nil, "", err
	}
	shown := fields.inputData // as it was typed: the plan makes paths absolute
	if shown != what {
		shown = what + ": " + shown
	}
	return &p.Datasets[0], shown, nil
}
