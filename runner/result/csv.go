package result

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/gocarina/gocsv"
)

const (
	labelPrefix = "label_"
	maxFloat    = math.MaxFloat64
	bom         = "\ufeff"
)

// WriteCSV writes one line a row under a header with the columns' names: the
// fields of Row in their order, then one label_<name> column for every label
// that any row has, sorted. Numbers keep their full precision and a value that is
// not available is an empty cell. A text that a spreadsheet would run as a formula
// gets a leading apostrophe, which ReadCSV takes off again. Control characters are
// spelled out as in \x1b, and stay so: rows.jsonl keeps them.
func WriteCSV(w io.Writer, rows []Row) error {
	for i := range rows {
		if err := rows[i].checkNumbers(); err != nil {
			return fmt.Errorf("writing CSV: run %s: %w", rows[i].RunID, err)
		}
	}
	out := &csvWriter{w: csv.NewWriter(w), rows: rows, labels: labelNames(rows)}
	if err := gocsv.MarshalCSV(rows, out); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

// ReadCSV reads what WriteCSV writes, an older file too: columns are found by
// name, a missing one leaves its field empty, an unknown one is ignored, and an
// empty cell of a value that may be missing is nil, never 0. The errors name the
// row (from 1, the header not counted) and the column. A label without a value counts as not there.
func ReadCSV(r io.Reader) ([]Row, error) {
	in := &csvReader{r: csv.NewReader(r)}
	var rows []Row
	if err := gocsv.UnmarshalCSV(in, &rows); err != nil {
		return nil, fmt.Errorf("reading CSV: %w", in.explain(err))
	}
	for i := range rows {
		rows[i].Labels = in.labels(i)
	}
	return rows, nil
}

// labelNames is every label that any row has, sorted.
func labelNames(rows []Row) []string {
	names := map[string]bool{}
	for i := range rows {
		for name := range rows[i].Labels {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// csvWriter adds the label columns to what gocsv makes of the struct's fields:
// gocsv cannot write maps.
type csvWriter struct {
	w      *csv.Writer
	rows   []Row
	labels []string
	types  []reflect.Type // of the columns; set by the header
	line   int            // 0: the header comes next
}

var _ gocsv.CSVWriter = (*csvWriter)(nil)

// Write takes the header first and then one record a row, in order. gocsv uses
// one slice for all of them.
func (c *csvWriter) Write(record []string) error {
	cells := slices.Clone(record)
	if c.line == 0 {
		c.types = columnTypes(record)
	}
	for i, cell := range cells {
		if c.line > 0 && isText(c.types[i]) {
			cells[i] = neutralise(cell)
		}
	}
	for _, name := range c.labels {
		cell := visible(newlines(labelPrefix + name))
		if c.line > 0 {
			cell = neutralise(c.rows[c.line-1].Labels[name])
		}
		cells = append(cells, cell)
	}
	c.line++
	return c.w.Write(cells)
}

func (c *csvWriter) Flush()       { c.w.Flush() }
func (c *csvWriter) Error() error { return c.w.Error() }

// csvReader checks header and cells and keeps the label columns.
type csvReader struct {
	r       *csv.Reader
	records [][]string
}

var _ gocsv.CSVReader = (*csvReader)(nil)

// Read is not used: gocsv reads a slice with ReadAll.
func (c *csvReader) Read() ([]string, error) { return c.r.Read() }

// ReadAll reads the whole file. encoding/csv refuses a line with another number
// of cells than the header.
func (c *csvReader) ReadAll() ([][]string, error) {
	records, err := c.r.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, errors.New("no header line: the file is empty")
	}
	header := records[0]
	header[0] = strings.TrimPrefix(header[0], bom)
	seen := map[string]bool{}
	for i, name := range header {
		name = visible(newlines(name))
		header[i] = name
		if seen[name] {
			return nil, fmt.Errorf("line 1: column %q stands there twice", name)
		}
		seen[name] = true
	}
	types := columnTypes(header)
	for n, record := range records[1:] {
		for i, cell := range record {
			if record[i], err = readCell(cell, types[i]); err != nil {
				return nil, fmt.Errorf("row %d, column %s: %w", n+1, header[i], err)
			}
		}
	}
	c.records = records
	return records, nil
}

// labels is the labels of row i.
func (c *csvReader) labels(i int) map[string]string {
	var labels map[string]string
	for j, name := range c.records[0] {
		name, ok := strings.CutPrefix(name, labelPrefix)
		if !ok || c.records[i+1][j] == "" {
			continue
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[name] = c.records[i+1][j]
	}
	return labels
}

// explain names the column of an error that gocsv found in a cell.
func (c *csvReader) explain(err error) error {
	var perr *csv.ParseError
	if c.records == nil || !errors.As(err, &perr) || perr.Column < 1 || perr.Column > len(c.records[0]) {
		return err
	}
	return fmt.Errorf("row %d, column %s: %w", perr.Line-1, c.records[0][perr.Column-1], perr.Err)
}
