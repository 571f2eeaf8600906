package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
)

// table is a file whose rows can be read in any order.
type table interface {
	// count is how many rows there are.
	count() int
	// pick gives the rows of these numbers, which ascend without repeats and are
	// below count. It ends after an error.
	pick(ctx context.Context, numbers []int) iter.Seq2[row, error]
	// close is for what was only read from: it has no error to tell.
	close()
}

// textTable is a text in which every row begins at a known byte. The index costs 8
// bytes a row; rows are read when they are wanted.
type textTable struct {
	path   string // as errors name it
	data   *content
	starts []int64  // a row's first byte; blank lines may come before it
	lined  bool     // rows are named by their line, not by their number
	schema []string // see row
	// parse reads the row at the start of raw, which goes on to the next row's
	// start. Its values are copies.
	parse func(raw []byte) (map[string]json.RawMessage, error)
}

func (t *textTable) count() int { return len(t.starts) }

func (t *textTable) close() { _ = t.data.close() }

func (t *textTable) pick(ctx context.Context, numbers []int) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		var buf []byte
		for _, i := range numbers {
			if err := ctx.Err(); err != nil {
				yield(row{}, fmt.Errorf("reading %s: %w", t.path, err))
				return
			}
			end := t.data.size
			if i+1 < len(t.starts) {
				end = t.starts[i+1]
			}
			buf = resized(buf, int(end-t.starts[i]))
			if _, err := io.ReadFull(io.NewSectionReader(t.data, t.starts[i], int64(len(buf))), buf); err != nil {
				yield(row{}, fmt.Errorf("reading %s: row %d: %w", t.path, i, err))
				return
			}
			r := row{path: t.path, index: i, schema: t.schema}
			if t.lined {
				r.lineOf = func() int { return t.line(i) }
			}
			columns, err := t.parse(buf)
			if err != nil {
				yield(row{}, fmt.Errorf("%s: %w", r.where(), err))
				return
			}
			r.columns = columns
			if !yield(r, nil) {
				return
			}
		}
	}
}

// line is the line of a row, or 0 when it cannot be found. It costs a look at the
// text before the row, which only errors pay.
func (t *textTable) line(i int) int {
	start, b := t.starts[i], make([]byte, 1)
	for ; ; start++ { // over blank lines
		if _, err := t.data.ReadAt(b, start); err != nil {
			return 0
		}
		if b[0] != '\n' && b[0] != '\r' {
			break
		}
	}
	line, err := countLines(t.data.text(), start)
	if err != nil {
		return 0
	}
	return line
}

func resized(buf []byte, n int) []byte {
	if cap(buf) < n {
		return make([]byte, n)
	}
	return buf[:n]
}
