// Package dataset reads the prompts of a dataset from local files, JSON lines, a
// JSON list, CSV, TSV, a parquet file or a folder of parquet files, or from the
// Hugging Face Hub. It finds the split and the slice that are asked for, shuffles
// as the Python tools do, turns each row into the messages of a chat request, and
// says how many rows were of no use and why.
//
// It reads no further than it must, changes no text, repeats no prompt to reach
// a number, and leaves the network to package hub.
package dataset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset/hub"
)

// ErrNoPrompts is the error of a dataset that was read without fault and yet
// gave no prompt. The error that wraps it says what became of the rows.
var ErrNoPrompts = errors.New("no usable prompts loaded")

// Prompt is what one row of the data asks.
type Prompt struct {
	// Messages is the JSON array of the chat request's messages, without
	// insignificant blanks. A message's fields are as they were read.
	Messages json.RawMessage
	// Next are the user messages that follow, each to be sent after the answer to
	// the one before: with turns all, the rest of the prompt column's list.
	Next []json.RawMessage
	// Row is the row's place in the data, from 0: in the file, or in all files of
	// the split one after the other. Blank lines are no rows. Neither a slice nor
	// a shuffle changes it.
	Row int
	// Category is the row's text in the dataset's category column, a number or
	// true and false as JSON spells them; empty: there is none.
	Category string
}

// Set is what Load found.
type Set struct {
	Prompts []Prompt // in the order of the data, or of the shuffle
	Rows    int      // rows looked at, the skipped ones included; not the size of the data
	Skipped []Skip   // the most frequent reason first, then by reason

	// Revision is the commit that the prompts are of, for a dataset on the Hub; else
	// empty.
	Revision string
	// Warnings are for the user: a dataset that the Hub has converted in part only, a
	// cached copy for want of a network.
	Warnings []string
}

// Skip counts the rows that were no use for the same reason.
type Skip struct {
	Reason string
	Count  int
}

// First is the first n prompts, or all of them when there are fewer.
func (s *Set) First(n int) []Prompt {
	n = min(max(n, 0), len(s.Prompts))
	return s.Prompts[:n:n]
}

// shownReasons is how many reasons a summary names.
const shownReasons = 3

// Summary says in one line what became of the rows that were looked at, such as
// "2 rows, 2 skipped: blank prompt 2".
func (s *Set) Summary() string {
	skipped := 0
	var reasons []string
	for i, k := range s.Skipped {
		skipped += k.Count
		if i < shownReasons {
			reasons = append(reasons, fmt.Sprintf("%s %d", k.Reason, k.Count))
		}
	}
	if more := len(s.Skipped) - shownReasons; more > 0 {
		reasons = append(reasons, fmt.Sprintf("%d more reasons", more))
	}
	unit := "rows"
	if s.Rows == 1 {
		unit = "row"
	}
	text := fmt.Sprintf("%d %s, %d skipped", s.Rows, unit, skipped)
	if len(reasons) > 0 {
		text += ": " + strings.Join(reasons, ", ")
	}
	return text
}

// Options is what Load needs beside the dataset.
type Options struct {
	Hub *hub.Client // for datasets on the Hub; nil: they are refused
}

// Load reads the first n usable prompts of d, or as many as there are: in order,
// or as d.ShuffleSeed shuffles them (see permutation). It stops reading at the n-th, so a fault further on is not found. An empty
// d.Split stands for train.
//
// The error names the file and, where there is one, the line or row: a file that
// is missing, empty, cut or of another kind; a split that is not there; a row
// without the messages column; a context column that no row has. A dataset
// without one usable prompt is ErrNoPrompts. When ctx ends, so does Load, with
// ctx's error.
//
// A dataset on the Hub (d.Hub) is read as far as it must be: parquet by ranges,
// other files whole. When it cannot be decoded, cached copies of it that are not
// what the Hub has are fetched again, once. Errors of the Hub are package hub's.
func Load(ctx context.Context, d *plan.Dataset, n int, o Options) (*Set, error) {
	if n < 1 {
		return nil, fmt.Errorf("loading %d prompts of %s: ask for at least 1", n, d.InputData)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading prompts: %s: %w", d.InputData, err)
	}
	split, err := ParseSplit(cmp.Or(d.Split, trainSplit))
	if err != nil {
		return nil, fmt.Errorf("reading prompts: %s: %w", d.InputData, err)
	}
	src, err := openDataset(ctx, d, split, o)
	if err != nil {
		return nil, err
	}
	set, err := loadFrom(ctx, src, d, split, n)
	if err == nil || !d.Hub || !worthChecking(ctx, err) {
		return set, err
	}
	broken, discardErr := src.discardBroken(ctx)
	if discardErr != nil {
		return nil, fmt.Errorf("%w (and checking the cached copies: %w)", err, discardErr)
	}
	if !broken {
		return nil, err
	}
	return loadFrom(ctx, src, d, split, n)
}

func openDataset(ctx context.Context, d *plan.Dataset, split Split, o Options) (*source, error) {
	if d.Hub {
		return openHub(ctx, o.Hub, d, split)
	}
	return openSource(d.InputData)
}

func loadFrom(ctx context.Context, src *source, d *plan.Dataset, split Split, n int) (_ *Set, err error) {
	l := newLoader(d, n)
	l.set.Revision, l.set.Warnings = src.revision, src.warnings
	if d.ShuffleSeed != nil {
		err = l.shuffled(ctx, src, split, *d.ShuffleSeed)
	} else {
		err = l.inOrder(ctx, src, split)
	}
	if err != nil {
		return nil, err
	}
	return l.finish(split)
}

// loader gathers the prompts of one Load.
type loader struct {
	conv    *converter
	n       int
	set     Set
	skipped map[string]int
}

func newLoader(d *plan.Dataset, n int) *loader {
	return &loader{conv: newConverter(d), n: n, skipped: map[string]int{}}
}

// missing is how many prompts are still to be found.
func (l *loader) missing() int { return l.n - len(l.set.Prompts) }

// inOrder takes the rows of the split's slices, one after the other.
func (l *loader) inOrder(ctx context.Context, src *source, split Split) error {
	for _, part := range split {
		files, err := src.split(part.Name)
		if err != nil {
			return err
		}
		if err := l.read(ctx, files, part); err != nil {
			return err
		}
	}
	return nil
}

// read takes the rows of one slice until there are n prompts.
func (l *loader) read(ctx context.Context, files []file, part Slice) error {
	if l.missing() == 0 {
		return nil
	}
	for r, err := range part.rows(ctx, files, l.conv.wants()) {
		if err != nil {
			return err
		}
		if err := l.take(r); err != nil {
			return err
		}
		if l.missing() == 0 {
			return nil
		}
	}
	return nil
}

// take makes a prompt of a row, or counts why it is none.
func (l *loader) take(r row) error {
	l.set.Rows++
	messages, skip, err := l.conv.convert(r)
	var next []json.RawMessage
	if err == nil && skip == "" {
		next, skip = l.conv.furtherTurns(r)
	}
	switch {
	case err != nil:
		return err
	case skip != "":
		l.skipped[skip]++
	default:
		l.set.Prompts = append(l.set.Prompts, Prompt{Messages: messages, Next: next, Row: r.number, Category: l.conv.categoryOf(r)})
	}
	return nil
}

// finish sorts the reasons and makes the error of a set without prompts.
func (l *loader) finish(split Split) (*Set, error) {
	for reason, count := range l.skipped {
		l.set.Skipped = append(l.set.Skipped, Skip{reason, count})
	}
	slices.SortFunc(l.set.Skipped, func(a, b Skip) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	if len(l.set.Prompts) > 0 {
		if err := errors.Join(l.conv.missingContext(), l.conv.missingCategory()); err != nil {
			return nil, err
		}
		return &l.set, nil
	}
	err := fmt.Errorf("%w (%s)", ErrNoPrompts, l.set.Summary())
	switch missing := l.conv.missingPrompt(); {
	case l.set.Rows == 0:
		err = fmt.Errorf("%w: the split %s holds no rows", err, split)
	case missing != nil:
		err = fmt.Errorf("%w: %w", err, missing)
	}
	return nil, err
}
