// Package dataset reads the prompts of a dataset from local files: JSON lines,
// a JSON list, a parquet file or a folder of parquet files. It finds the split
// and the slice that are asked for, turns each row into the messages of a chat
// request, and says how many rows were of no use and why.
//
// It reads no further than it must, changes no text, repeats no prompt to reach
// a number, downloads nothing and sends nothing.
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
)

// ErrNoPrompts is the error of a dataset that was read without fault and yet
// gave no prompt. The error that wraps it says what became of the rows.
var ErrNoPrompts = errors.New("no usable prompts loaded")

// Prompt is what one row of the data asks.
type Prompt struct {
	// Messages is the JSON array of the chat request's messages, without
	// insignificant blanks. A message's fields are as they were read.
	Messages json.RawMessage
	// Row is the row's place in the data, from 0: in the file, or in all files of
	// the split one after the other. Blank lines are no rows. A slice does not
	// shift it.
	Row int
}

// Set is what Load found.
type Set struct {
	Prompts []Prompt // in the order of the data
	Rows    int      // rows looked at, the skipped ones included; not the size of the data
	Skipped []Skip   // the most frequent reason first, then by reason
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

// Load reads the first n usable prompts of d, in order, or as many as there are.
// It stops reading at the n-th, so a fault further on is not found. An empty
// d.Split stands for train.
//
// The error names the file and, where there is one, the line or row: a file that
// is missing, empty, cut or of another kind; a split that is not there; a row
// without the messages column; a context column that no row has. A dataset
// without one usable prompt is ErrNoPrompts. When ctx ends, so does Load, with
// ctx's error.
func Load(ctx context.Context, d *plan.Dataset, n int) (*Set, error) {
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
	src, err := openSource(d.InputData)
	if err != nil {
		return nil, err
	}
	l := newLoader(d, n)
	for _, part := range split {
		files, err := src.split(part.Name)
		if err != nil {
			return nil, err
		}
		if err := l.read(ctx, files, part); err != nil {
			return nil, err
		}
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

// read takes the rows of one slice until there are n prompts.
func (l *loader) read(ctx context.Context, files []file, part Slice) error {
	if len(l.set.Prompts) >= l.n {
		return nil
	}
	for r, err := range part.rows(ctx, files, l.conv.wants()) {
		if err != nil {
			return err
		}
		l.set.Rows++
		messages, skip, err := l.conv.convert(r)
		switch {
		case err != nil:
			return err
		case skip != "":
			l.skipped[skip]++
		default:
			l.set.Prompts = append(l.set.Prompts, Prompt{Messages: messages, Row: r.number})
		}
		if len(l.set.Prompts) >= l.n {
			return nil
		}
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
		if err := l.conv.missingContext(); err != nil {
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
