package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/parquet-go/parquet-go"
)

func indexParquet(ctx context.Context, f file, columns []string) (table, error) {
	return openParquet(ctx, f, columns)
}

// pick reads only the row groups that hold a wanted row and, where the file says
// which pages hold which rows, only those pages.
func (p *parquetFile) pick(ctx context.Context, numbers []int) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		before := 0
		for i, group := range p.data.RowGroups() {
			end := before + int(group.NumRows())
			n := 0
			for n < len(numbers) && numbers[n] < end {
				n++
			}
			if n > 0 && !p.pickGroup(ctx, i, before, numbers[:n], yield) {
				return
			}
			numbers, before = numbers[n:], end
		}
	}
}

// pickGroup gives the rows of these numbers out of a row group, whose first is row
// number before of the file. It returns false when the iteration is over.
func (p *parquetFile) pickGroup(ctx context.Context, i, before int, numbers []int, yield func(row, error) bool) bool {
	group := p.data.RowGroups()[i]
	if err := p.checkCodecs(i); err != nil {
		yield(row{}, err)
		return false
	}
	p.findPages(group)
	fetch, closeGroup, err := openPicked(group, p.schema)
	if err != nil {
		yield(row{}, fmt.Errorf("reading %s: %w", p.path, err))
		return false
	}
	defer closeGroup()
	for _, number := range numbers {
		if err := ctx.Err(); err != nil {
			yield(row{}, fmt.Errorf("reading %s: %w", p.path, err))
			return false
		}
		value, err := fetch(number - before)
		if err != nil {
			yield(row{}, fmt.Errorf("reading %s: row %d: %w", p.path, number, err))
			return false
		}
		columns, err := jsonColumns(value)
		if err != nil {
			yield(row{}, fmt.Errorf("%s: row %d: %w", p.path, number, err))
			return false
		}
		if !yield(row{path: p.path, index: number, columns: columns, schema: p.names}, nil) {
			return false
		}
	}
	return true
}

// findPages loads the page index of the columns that are read, by which a seek
// skips pages. Without one, which is allowed, a seek reads over them.
func (p *parquetFile) findPages(group parquet.RowGroup) {
	if p.schema == nil {
		return
	}
	chunks := group.ColumnChunks()
	for _, path := range p.data.Schema().Columns() {
		leaf, ok := p.data.Schema().Lookup(path...)
		if !ok || !p.reads(path[0]) || leaf.ColumnIndex >= len(chunks) {
			continue
		}
		// An index that is missing or broken costs time, no rows.
		_ = guard(func() error {
			_, err := chunks[leaf.ColumnIndex].OffsetIndex()
			return err
		})
	}
}

// openPicked reads single rows of a row group by their number in it, which must
// ascend.
func openPicked(group parquet.RowGroup, schema *parquet.Schema) (fetch func(number int) (any, error), closeGroup func(), err error) {
	if schema == nil {
		return func(int) (any, error) { return nil, nil }, func() {}, nil
	}
	var r *parquet.GenericReader[any]
	err = guard(func() error {
		r = parquet.NewGenericRowGroupReader[any](group, schema)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	next, one := 0, make([]any, 1)
	fetch = func(number int) (any, error) {
		clear(one)
		err := guard(func() error {
			if number != next {
				if err := r.SeekToRow(int64(number)); err != nil {
					return err
				}
			}
			n, err := r.Read(one)
			if n == 1 {
				return nil
			}
			if err == nil || errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		})
		next = number + 1
		return one[0], err
	}
	return fetch, func() { _ = r.Close() }, nil // only read from
}
