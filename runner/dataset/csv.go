package dataset

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
)

// csvFormat is comma-separated values as RFC 4180 has them. The first line names
// the columns and every value is a text. As encoding/csv reads them, blank lines
// are no rows and a line break inside a value is \n.
func csvFormat() Format { return separated("CSV", ".csv", ',') }

// tsvFormat is CSV with tabs instead of commas.
func tsvFormat() Format { return separated("TSV", ".tsv", '\t') }

func separated(name, ending string, comma rune) Format {
	return Format{
		Name:       name,
		Extensions: []string{ending},
		Packed:     true,
		read: func(ctx context.Context, f file, _ []string, from int) iter.Seq2[row, error] {
			return func(yield func(row, error) bool) {
				text, err := f.text(ctx)
				if err != nil {
					yield(row{}, err)
					return
				}
				defer func() { _ = text.Close() }() // only read from
				csvRows(ctx, text, f.path, comma, from)(yield)
			}
		},
		count: func(ctx context.Context, f file) (int, error) {
			text, err := f.text(ctx)
			if err != nil {
				return 0, err
			}
			defer func() { _ = text.Close() }() // only read from
			records, err := newCSV(text, f.path, comma)
			for n := 0; ; n++ {
				if err == nil {
					_, err = records.next(ctx)
				}
				if errors.Is(err, io.EOF) {
					return n, nil
				}
				if err != nil {
					return 0, err
				}
			}
		},
		index: func(ctx context.Context, f file, _ []string) (table, error) { return indexCSV(ctx, f, comma) },
	}
}

// csvRows reads rows out of a text with a header. Records before row number from
// are only looked at for their form.
func csvRows(ctx context.Context, r io.Reader, path string, comma rune, from int) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		records, err := newCSV(r, path, comma)
		for index := 0; ; index++ {
			var values []string
			if err == nil {
				values, err = records.next(ctx)
			}
			if errors.Is(err, io.EOF) {
				return
			}
			var columns map[string]json.RawMessage
			if err == nil && index >= from {
				columns, err = records.columns(values)
			}
			if err != nil {
				yield(row{}, err)
				return
			}
			if index < from {
				continue
			}
			if !yield(row{path: path, line: records.line(), index: index, columns: columns, schema: records.header}, nil) {
				return
			}
		}
	}
}

// indexCSV reads the text once for the places of its records.
func indexCSV(ctx context.Context, f file, comma rune) (table, error) {
	data, start, err := f.unpacked(ctx)
	if err != nil {
		return nil, err
	}
	t := &textTable{path: f.path, data: data, lined: true}
	records, err := newCSV(io.NewSectionReader(data, start, data.size-start), f.path, comma)
	for err == nil {
		at := start + records.InputOffset()
		if _, err = records.next(ctx); err == nil {
			t.starts = append(t.starts, at)
		}
	}
	if !errors.Is(err, io.EOF) {
		_ = data.close() // only read from
		return nil, err
	}
	t.schema = records.header
	t.parse = func(raw []byte) (map[string]json.RawMessage, error) {
		r := csv.NewReader(strings.NewReader(string(raw)))
		r.Comma, r.FieldsPerRecord = comma, len(t.schema)
		values, err := r.Read()
		if err != nil {
			return nil, &badData{err: err}
		}
		return csvColumns(t.schema, values)
	}
	return t, nil
}
