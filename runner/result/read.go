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
//
// A folder with a manifest alone is a run-set that ended before its first row: no rows
// and no error. Where the manifest names the cells that were asked for, rows of other
// cells are left out: they are of a plan that has changed since, and tables of both would
// be tables of neither.
func Read(dir string) (rows []Row, problems []string, err error) {
	rows, problems, err = ReadAll(dir)
	return askedFor(rows, dir), problems, err
}

// ReadAll is Read with the rows of cells that are no longer asked for.
func ReadAll(dir string) (rows []Row, problems []string, err error) {
	path := filepath.Join(dir, RowsFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if _, noManifest := os.Stat(filepath.Join(dir, ManifestFile)); noManifest == nil {
			return nil, nil, nil
		}
		return nil, nil, fmt.Errorf("%s is no run-set (%w): name a folder such as results/<plan>/<time>-<hash>", dir, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading run-set %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readRows(path, f)
}

// askedFor leaves out the rows of cells that the manifest does not name. A manifest that
// cannot be read, or names no cells, leaves nothing out: rows are the truth.
func askedFor(rows []Row, dir string) []Row {
	if len(rows) == 0 {
		return rows
	}
	m, err := ReadManifest(dir)
	if err != nil || len(m.Cells) == 0 {
		return rows
	}
	return slices.DeleteFunc(rows, func(r Row) bool {
		_, asked := m.Cells[r.CellID]
		return !asked
	})
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

// parseRow decodes a line once. Only what is then no row of this version is looked at
// again for its version: another one may have given a field another type.
func parseRow(text []byte) (Row, error) {
	var row Row
	err := json.Unmarshal(text, &row)
	if err != nil || row.SchemaVersion != SchemaVersion {
		if err := checkVersion(text); err != nil {
			return Row{}, err
		}
	}
	if err != nil {
		return Row{}, err
	}
	if row.RunID == "" {
		return Row{}, errors.New("no run_id")
	}
	return row, nil
}

// checkVersion looks at a line's schema_version alone.
func checkVersion(text []byte) error {
	var head struct {
		SchemaVersion *int `json:"schema_version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	switch {
	case head.SchemaVersion == nil:
		return errors.New("no schema_version")
	case *head.SchemaVersion != SchemaVersion:
		return fmt.Errorf("%w: the row has %d, this specsweep reads %d; use the version that wrote the run-set",
			errSchema, *head.SchemaVersion, SchemaVersion)
	}
	return nil
}
