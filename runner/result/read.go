package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Read returns the rows of the run-set in dir, sorted by run_index; of rows with
// one run_id the last counts. A line that is no row, such as the half line of a
// killed process, is left out and named in problems: the run that it stood for
// has no row. A run-set of another schema_version is an error.
func Read(dir string) (rows []Row, problems []string, err error) {
	path := filepath.Join(dir, RowsFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil, fmt.Errorf("%s is no run-set (%w): name a folder such as results/<plan>/<time>-<hash>", dir, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading run-set %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readRows(path, f)
}

func readRows(path string, r io.Reader) ([]Row, []string, error) {
	var (
		rows     []Row
		problems []string
		at       = map[string]int{} // run_id → position in rows
	)
	err := eachLine(path, r, func(n int, text []byte, whole bool) error {
		row, err := parseRow(text)
		switch {
		case errors.Is(err, errSchema):
			return fmt.Errorf("%s:%d: %w", path, n, err)
		case err != nil && !whole:
			problems = append(problems, fmt.Sprintf("%s:%d: the last line is cut off and left out: %v", path, n, err))
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s:%d: not a row and left out: %v", path, n, err))
		default:
			if i, ok := at[row.RunID]; ok {
				rows[i] = row
			} else {
				at[row.RunID] = len(rows)
				rows = append(rows, row)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return a.RunIndex - b.RunIndex })
	return rows, problems, nil
}

var errSchema = errors.New("another schema_version")

func parseRow(text []byte) (Row, error) {
	// The version alone first: another one may have given a field another type.
	var head struct {
		SchemaVersion *int `json:"schema_version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return Row{}, err
	}
	switch {
	case head.SchemaVersion == nil:
		return Row{}, errors.New("no schema_version")
	case *head.SchemaVersion != SchemaVersion:
		return Row{}, fmt.Errorf("%w: the row has %d, this specsweep reads %d; use the version that wrote the run-set",
			errSchema, *head.SchemaVersion, SchemaVersion)
	}
	var row Row
	if err := json.Unmarshal(text, &row); err != nil {
		return Row{}, err
	}
	if row.RunID == "" {
		return Row{}, errors.New("no run_id")
	}
	return row, nil
}
