package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/specsweep/specsweep/plan"
)

// datasetFields are the fields of one datasets entry that flags can give. Empty
// ones are not set.
type datasetFields struct {
	name, inputData, datasetName, revision string
	split, messagesColumn, promptColumn    string
	promptContextColumn, categoryColumn    string
	turns                                  string
}

// yaml is the fields as a mapping on one line. Every rule about them is the
// plan's.
func (d *datasetFields) yaml() string {
	text := ""
	for _, f := range []struct{ key, value string }{
		{"name", d.name}, {"input_data", d.inputData}, {"dataset_name", d.datasetName}, {"revision", d.revision}, {"split", d.split},
		{"messages_column", d.messagesColumn}, {"prompt_column", d.promptColumn},
		{"prompt_context_column", d.promptContextColumn}, {"category_column", d.categoryColumn}, {"turns", d.turns},
	} {
		if f.value == "" {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += f.key + ": " + quote(f.value)
	}
	return "{" + text + "}"
}

// fieldsOf is a preset as flags start from it.
func fieldsOf(p plan.Preset) datasetFields {
	return datasetFields{
		name: p.Name, inputData: p.InputData, datasetName: p.DatasetName, split: p.Split,
		messagesColumn: p.MessagesColumn, promptColumn: p.PromptColumn,
		promptContextColumn: p.PromptContextColumn, categoryColumn: p.CategoryColumn,
	}
}

// datasetFlagNames are the flags by the plan's key, for errors: who has typed
// flags has no file to look at.
func datasetFlagNames() map[string]string {
	names := map[string]string{"shuffle_seed": "--shuffle-seed"}
	for key, flag := range map[string]string{
		"input_data": "--input-data", "dataset_name": "--dataset-name", "revision": "--revision", "split": "--split",
		"messages_column": "--messages-column", "prompt_column": "--prompt-column",
		"prompt_context_column": "--prompt-context-column", "category_column": "--category-column", "turns": "--turns",
	} {
		names["datasets[0]."+key] = flag
	}
	return names
}

// flagWords puts the names of flags for the paths of a plan's problems.
func flagWords(err error, flags map[string]string) error {
	var problems plan.Problems
	if !errors.As(err, &problems) {
		return err
	}
	var errs []error
	for _, p := range problems {
		name := p.Path
		if flag, ok := flags[p.Path]; ok {
			name = flag
		}
		errs = append(errs, fmt.Errorf("%s: %s", name, p.Text))
	}
	return errors.Join(errs...)
}

// seedFlag is --shuffle-seed: a flag that is not given is no seed, and 0 is one.
type seedFlag struct{ value *uint64 }

var _ pflag.Value = (*seedFlag)(nil)

func (s *seedFlag) String() string {
	if s.value == nil {
		return ""
	}
	return strconv.FormatUint(*s.value, 10)
}

// Set takes what numpy takes for one word of entropy, in decimal digits.
func (s *seedFlag) Set(text string) error {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("want an integer from 0 to 18446744073709551615 (have %q)", text)
	}
	s.value = &v
	return nil
}

// Type names the value in the help.
func (s *seedFlag) Type() string { return "uint" }
