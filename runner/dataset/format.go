package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Format is one kind of file that rows are read from.
type Format struct {
	Name       string   // as errors call it
	Extensions []string // endings that mean it, lower case, with the dot
	Packed     bool     // also read behind a further .gz or .zst

	// read gives the rows of a file from row number from on (0 is the first), and
	// ends after an error. It opens the file when the iteration starts and closes
	// it when that ends. columns are the only ones that will be looked at.
	read func(ctx context.Context, f file, columns []string, from int) iter.Seq2[row, error]
	// count is the number of rows of a file.
	count func(ctx context.Context, f file) (int, error)
	// index looks at a file once so that its rows can be read in any order. columns
	// are as for read. The caller closes the table.
	index func(ctx context.Context, f file, columns []string) (table, error)
}

// Formats lists every format. A file of another ending is read as JSON.
func Formats() []Format {
	return []Format{
		jsonlFormat(),
		jsonFormat(),
		parquetFormat(),
		csvFormat(),
		tsvFormat(),
	}
}

// row is one row of a file, as JSON.
type row struct {
	path    string
	line    int        // from 1; 0 where the format has no lines, or lineOf knows it
	lineOf  func() int // finds the line, which takes a while; nil: see line
	index   int        // in the file, from 0
	number  int        // in the split, from 0
	columns map[string]json.RawMessage
	schema  []string // every column's name, when columns holds only those that were asked for
}

// where names the row in an error.
func (r row) where() string {
	line := r.line
	if r.lineOf != nil {
		line = r.lineOf()
	}
	if line > 0 {
		return fmt.Sprintf("%s:%d", r.path, line)
	}
	return fmt.Sprintf("%s: row %d", r.path, r.index)
}

// names are the columns that the row has.
func (r row) names() []string {
	if r.schema != nil {
		return r.schema
	}
	return slices.Sorted(maps.Keys(r.columns))
}

// packings are the endings of packed files.
var packings = [...]string{".gz", ".zst"}

// packing is the ending that says a file is packed, or empty.
func packing(path string) string {
	if ending := strings.ToLower(filepath.Ext(path)); slices.Contains(packings[:], ending) {
		return ending
	}
	return ""
}

// fileAt finds a file's format by its ending.
func fileAt(path string) (file, error) {
	packed := packing(path) != ""
	ending := strings.ToLower(filepath.Ext(path[:len(path)-len(packing(path))]))
	for _, f := range Formats() {
		if !slices.Contains(f.Extensions, ending) {
			continue
		}
		if packed && !f.Packed {
			return file{}, fmt.Errorf("%s: a packed %s file cannot be read: unpack it first", path, f.Name)
		}
		return file{path: path, format: f}, nil
	}
	return file{path: path, format: otherFormat()}, nil
}

// otherFormat reads a file of an unknown ending as JSON, and says so when that
// fails.
func otherFormat() Format {
	f := jsonFormat()
	note := func(err error) error {
		return fmt.Errorf("%w (read as JSON for want of a known ending: %s)", err, strings.Join(endings(), " "))
	}
	read, count, index := f.read, f.count, f.index
	f.read = func(ctx context.Context, in file, columns []string, from int) iter.Seq2[row, error] {
		return func(yield func(row, error) bool) {
			for r, err := range read(ctx, in, columns, from) {
				if isBadData(err) {
					err = note(err)
				}
				if !yield(r, err) {
					return
				}
			}
		}
	}
	f.count = func(ctx context.Context, in file) (int, error) {
		n, err := count(ctx, in)
		if isBadData(err) {
			err = note(err)
		}
		return n, err
	}
	f.index = func(ctx context.Context, in file, columns []string) (table, error) {
		t, err := index(ctx, in, columns)
		if isBadData(err) {
			err = note(err)
		}
		return t, err
	}
	return f
}

// endings lists what Formats knows.
func endings() []string {
	var all []string
	for _, f := range Formats() {
		all = append(all, f.Extensions...)
	}
	return all
}
