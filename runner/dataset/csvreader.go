package dataset

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// csvReader is a text with a header, of which each record must have as many values.
type csvReader struct {
	*csv.Reader
	path   string // as errors name it
	header []string
}

// newCSV reads the header.
func newCSV(text io.Reader, path string, comma rune) (*csvReader, error) {
	r := &csvReader{Reader: csv.NewReader(text), path: path}
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = comma, -1, true
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, &badData{err: errors.New("the file has no header: its first line must name the columns")})
	}
	if err != nil {
		return nil, r.fault(err)
	}
	r.header = slices.Clone(header)
	for i, name := range r.header {
		switch {
		case !utf8.ValidString(name):
			return nil, r.bad(errNotUTF8)
		case name != "" && slices.Contains(r.header[:i], name):
			return nil, r.bad(fmt.Errorf("the column %q stands twice in the header%s", name, listed(" (columns: ", r.header, ")")))
		}
	}
	return r, nil
}

// next gives the values of the next record, valid until the call after, or io.EOF.
func (r *csvReader) next(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", r.path, err)
	}
	values, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, err
	}
	if err != nil {
		return nil, r.fault(err)
	}
	if len(values) != len(r.header) {
		return nil, r.bad(fmt.Errorf("the row has another number of values (%d) than the header (%d%s)", len(values), len(r.header), listed(": ", r.header, "")))
	}
	return values, nil
}

func (r *csvReader) columns(values []string) (map[string]json.RawMessage, error) {
	columns, err := csvColumns(r.header, values)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", r.path, r.line(), err)
	}
	return columns, nil
}

// line is where the last record began.
func (r *csvReader) line() int {
	line, _ := r.FieldPos(0)
	return line
}

func (r *csvReader) bad(err error) error {
	return fmt.Errorf("%s:%d: %w", r.path, r.line(), &badData{err: err})
}

// fault tells faults of the form from those of reading the file.
func (r *csvReader) fault(err error) error {
	parse, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		return fmt.Errorf("reading %s: %w", r.path, err)
	}
	hint := ""
	if errors.Is(err, csv.ErrQuote) || errors.Is(err, csv.ErrBareQuote) {
		hint = fmt.Sprintf(" (a value with a quote in it stands in quotes, with the quote doubled; this one begins on line %d)", parse.StartLine)
	}
	return fmt.Errorf("%s:%d: %w", r.path, parse.Line, &badData{err: fmt.Errorf("bad %s: %w%s", r.kind(), parse.Err, hint)})
}

func (r *csvReader) kind() string {
	if r.Comma == '\t' {
		return "TSV"
	}
	return "CSV"
}

// csvColumns makes a row of a record.
func csvColumns(header, values []string) (map[string]json.RawMessage, error) {
	columns := make(map[string]json.RawMessage, len(header))
	for i, name := range header {
		if !utf8.ValidString(values[i]) {
			return nil, &badData{err: errNotUTF8}
		}
		raw, err := marshal(values[i])
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
		columns[name] = raw
	}
	return columns, nil
}
