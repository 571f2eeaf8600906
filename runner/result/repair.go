package result

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CutTorn cuts the half line off that a killed process has left at the end of
// rows.jsonl and requests.jsonl, and tells what it has cut. Whole lines are never
// touched, whatever stands in them. Lock the run-set before.
func (s *RunSet) CutTorn() (cut []string, err error) {
	for _, name := range []string{RowsFile, RequestsFile} {
		n, err := cutTorn(filepath.Join(s.dir, name))
		if err != nil {
			return cut, fmt.Errorf("mending %s: %w", filepath.Join(s.dir, name), err)
		}
		if n > 0 {
			cut = append(cut, fmt.Sprintf("%s ended in the middle of a line: %d bytes cut off", name, n))
		}
	}
	return cut, nil
}

// cutTorn cuts what follows the last line break, unless it is a whole JSON value
// whose line break alone is missing.
func cutTorn(path string) (n int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(f)
	if err != nil {
		return 0, err
	}
	whole := int64(bytes.LastIndexByte(text, '\n') + 1)
	tail := text[whole:]
	if len(tail) == 0 {
		return 0, nil
	}
	if _, err := parseRow(tail); err == nil {
		return 0, nil // append adds the line break
	}
	if err := f.Truncate(whole); err != nil {
		return 0, err
	}
	return int64(len(tail)), f.Sync()
}
