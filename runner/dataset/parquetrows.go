package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// parquetBatch is how many rows are decoded at once: few, since a dataset's first
// 64 prompts are often all that is wanted.
const parquetBatch = 32

// readGroup gives the rows of a row group, whose first is row number before of the
// file, from its own row number skip on. It returns false when the iteration is over.
func (p *parquetFile) readGroup(ctx context.Context, group parquet.RowGroup, before, skip int, yield func(row, error) bool) bool {
	fetch, closeGroup, err := openGroup(group, p.schema, skip)
	if err != nil {
		yield(row{}, fmt.Errorf("reading %s: %w", p.path, err))
		return false
	}
	defer closeGroup()
	next := before + skip
	for batch := make([]any, parquetBatch); ; {
		n, err := fetch(batch)
		for _, value := range batch[:n] {
			if ctx.Err() != nil {
				yield(row{}, fmt.Errorf("reading %s: %w", p.path, ctx.Err()))
				return false
			}
			columns, convErr := jsonColumns(value)
			if convErr != nil {
				yield(row{}, fmt.Errorf("%s: row %d: %w", p.path, next, convErr))
				return false
			}
			if !yield(row{path: p.path, index: next, columns: columns, schema: p.names}, nil) {
				return false
			}
			next++
		}
		if err == nil && n == 0 {
			err = io.ErrNoProgress
		}
		if end := before + int(group.NumRows()); errors.Is(err, io.EOF) && next < end {
			err = io.ErrUnexpectedEOF
		}
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			yield(row{}, fmt.Errorf("reading %s: row %d: %w", p.path, next, err))
			return false
		}
	}
}

// rowReader fills a batch with rows, each a map[string]any or nil, and ends with
// io.EOF.
type rowReader func(batch []any) (int, error)

// openGroup reads a row group from its row number skip on.
func openGroup(group parquet.RowGroup, schema *parquet.Schema, skip int) (fetch rowReader, closeGroup func(), err error) {
	if schema == nil {
		return noColumns(int(group.NumRows()) - skip), func() {}, nil
	}
	var r *parquet.GenericReader[any]
	err = guard(func() error {
		r = parquet.NewGenericRowGroupReader[any](group, schema)
		if skip == 0 {
			return nil
		}
		return r.SeekToRow(int64(skip))
	})
	if err != nil {
		return nil, nil, err
	}
	fetch = func(batch []any) (n int, err error) {
		clear(batch)
		err = guard(func() (err error) { n, err = r.Read(batch); return err })
		return n, err
	}
	return fetch, func() { _ = r.Close() }, nil // only read from
}

// noColumns are n rows of a file that has none of the columns: they are counted
// and skipped like the rows of any other format.
func noColumns(n int) rowReader {
	return func(batch []any) (int, error) {
		k := min(n, len(batch))
		clear(batch[:k])
		if n -= k; n == 0 {
			return k, io.EOF
		}
		return k, nil
	}
}

// guard turns a panic of the parquet library, which broken files can cause, into
// an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("broken parquet data: %v", p)
		}
	}()
	return f()
}
