package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset"
)

// shownSet is the answer for programs: the messages are what the body of the
// request would hold.
type shownSet struct {
	Name        string        `json:"name"`
	InputData   string        `json:"input_data"`
	DatasetName *string       `json:"dataset_name"`
	Revision    *string       `json:"revision"` // the commit on the Hub; null: no dataset of the Hub
	Split       string        `json:"split"`
	ShuffleSeed *uint64       `json:"shuffle_seed"`
	PromptSet   string        `json:"prompt_set"` // of the prompts shown
	Rows        int           `json:"rows"`       // looked at
	Skipped     []shownSkip   `json:"skipped"`
	Warnings    []string      `json:"warnings"`
	Prompts     []shownPrompt `json:"prompts"`
}

type shownSkip struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

type shownPrompt struct {
	Row      int               `json:"row"`
	Category *string           `json:"category"`
	Messages json.RawMessage   `json:"messages"`
	Next     []json.RawMessage `json:"next,omitempty"` // further turns, each after the answer to the one before
}

func shownJSON(d *plan.Dataset, set *dataset.Set) shownSet {
	out := shownSet{
		Name: d.Name, InputData: d.InputData, DatasetName: orNull(d.DatasetName), Revision: orNull(set.Revision), Split: d.Split, ShuffleSeed: d.ShuffleSeed,
		PromptSet: dataset.Hash(set.Prompts), Rows: set.Rows, Skipped: []shownSkip{}, Prompts: []shownPrompt{},
		Warnings: append([]string{}, set.Warnings...),
	}
	for _, k := range set.Skipped {
		out.Skipped = append(out.Skipped, shownSkip(k))
	}
	for _, p := range set.Prompts {
		out.Prompts = append(out.Prompts, shownPrompt{Row: p.Row, Category: orNull(p.Category), Messages: p.Messages, Next: p.Next})
	}
	return out
}

func writeShown(w io.Writer, name string, d *plan.Dataset, set *dataset.Set) error {
	if d.DatasetName != "" {
		name += " (" + d.DatasetName + ")"
	}
	if set.Revision != "" {
		name += ", revision " + set.Revision
	}
	order := "in order"
	if d.ShuffleSeed != nil {
		order = fmt.Sprintf("shuffled with seed %d", *d.ShuffleSeed)
	}
	unit := "prompts"
	if len(set.Prompts) == 1 {
		unit = "prompt"
	}
	fmt.Fprintf(w, "%s, split %s, %s\n", clean(name), clean(d.Split), order)
	fmt.Fprintf(w, "%d %s with prompt_set %s; %s\n", len(set.Prompts), unit, dataset.Hash(set.Prompts), clean(set.Summary()))
	for i, p := range set.Prompts {
		head := fmt.Sprintf("\n[%d] row %d", i+1, p.Row)
		if p.Category != "" {
			head += ", category " + clean(p.Category)
		}
		if _, err := fmt.Fprintln(w, head); err != nil {
			return err
		}
		if err := writeMessages(w, p.Messages); err != nil {
			return err
		}
		for _, turn := range p.Next {
			if err := writeMessages(w, slices.Concat([]byte("["), turn, []byte("]"))); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeMessages writes each message as its role and then its content, indented.
// What is no plain text, such as parts of content and calls of tools, is written as
// the JSON that it is.
func writeMessages(w io.Writer, raw json.RawMessage) error {
	var messages []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &messages); err != nil {
		return fmt.Errorf("reading the messages of a prompt: %w", err)
	}
	for _, m := range messages {
		role := plainText(m["role"])
		text := plainText(m["content"])
		delete(m, "role")
		delete(m, "content")
		if _, err := fmt.Fprintf(w, "%s:\n    %s\n", clean(role), strings.ReplaceAll(clean(text), "\n", "\n    ")); err != nil {
			return err
		}
		if len(m) == 0 {
			continue
		}
		rest, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("encoding a message: %w", err)
		}
		if _, err := fmt.Fprintf(w, "    %s\n", clean(string(rest))); err != nil {
			return err
		}
	}
	return nil
}

// plainText is a JSON string's value, or other JSON as it stands.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}
