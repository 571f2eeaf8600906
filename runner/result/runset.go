// Package result keeps what a sweep yields: the Row, and the folder of a run-set
// with its rows, manifest and tables. rows.jsonl is the truth, appended and
// synced row by row; every other file is written whole or not at all.
//
// It computes nothing, and redacts nothing: callers hand it no secrets.
package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// The files of a run-set.
const (
	RowsFile     = "rows.jsonl"
	ManifestFile = "manifest.json"
	PlanFile     = "plan.yaml"
	logFolder    = "logs"
)

// maxSuffix bounds the search for a free folder name.
const maxSuffix = 1000

// RunSet is the folder of one sweep. It is not safe for concurrent use.
type RunSet struct {
	dir  string
	lock *flock.Flock // nil: not locked
}

// Create makes the folder <root>/<plan>/<UTC time>-<short>, as in
// 20260102T150405Z-ab12cd, and its logs folder. A folder that exists is never
// used again: the name gets a suffix -2, -3 and so on. short may be empty.
func Create(root, plan string, started time.Time, short string) (*RunSet, error) {
	name := started.UTC().Format("20060102T150405Z")
	if short != "" {
		name += "-" + short
	}
	for _, part := range []string{plan, name} {
		if !filepath.IsLocal(part) || filepath.Base(part) != part || part == "." {
			return nil, fmt.Errorf("creating a run-set in %s: %q cannot be the name of a folder", root, part)
		}
	}
	parent := filepath.Join(root, plan)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("creating a run-set: %w", err)
	}
	for n := 1; n <= maxSuffix; n++ {
		dir := filepath.Join(parent, name)
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", dir, n)
		}
		err := os.Mkdir(dir, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("creating a run-set: %w", err)
		}
		return prepare(dir)
	}
	return nil, fmt.Errorf("creating a run-set: %s and %d more names after it are taken", filepath.Join(parent, name), maxSuffix-1)
}

// CreateAt makes dir the run-set's folder. It may exist already, but must be
// empty, but for what a process that was killed at once has left there.
func CreateAt(dir string) (*RunSet, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating a run-set: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("creating a run-set: %w", err)
	}
	if !onlyBegun(entries) {
		return nil, fmt.Errorf("creating a run-set in %s: the folder is not empty; name another one", dir)
	}
	return prepare(dir)
}

// onlyBegun tells a folder in which nothing but prepare and Lock has been.
func onlyBegun(entries []os.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != logFolder && e.Name() != lockFile })
}

// prepare makes what every new run-set has and the folder itself durable.
func prepare(dir string) (*RunSet, error) {
	if err := os.MkdirAll(filepath.Join(dir, logFolder), 0o755); err != nil {
		return nil, fmt.Errorf("creating a run-set: %w", err)
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return nil, fmt.Errorf("creating run-set %s: %w", dir, err)
	}
	return &RunSet{dir: dir}, nil
}

// Open names an existing run-set, to append to it.
func Open(dir string) (*RunSet, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("is a file; name the folder of a run-set")
	}
	if err != nil {
		return nil, fmt.Errorf("opening run-set %s: %w", dir, err)
	}
	return &RunSet{dir: dir}, nil
}

// Dir is the run-set's folder.
func (s *RunSet) Dir() string { return s.dir }

// LogDir is the folder for the logs of launched servers. Create makes it.
func (s *RunSet) LogDir() string { return filepath.Join(s.dir, logFolder) }

// Append adds the row to rows.jsonl and returns when it is on the disk.
func (s *RunSet) Append(r Row) error {
	if err := s.append(r); err != nil {
		return fmt.Errorf("appending run %s to %s: %w", r.RunID, filepath.Join(s.dir, RowsFile), err)
	}
	return nil
}

func (s *RunSet) append(r Row) error {
	line, err := encodeRow(r)
	if err != nil {
		return err
	}
	return s.appendTo(RowsFile, line)
}

// appendTo adds whole lines to a file of the run-set and syncs it. When that fails, as on
// a full disk, the file is as long as before.
func (s *RunSet) appendTo(name string, line []byte) (err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	first := info.Size() == 0
	if !first {
		// A killed process may have left half a line: it must not swallow this one.
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if err := writeSynced(f, line); err != nil {
		return errors.Join(err, backTo(f, info))
	}
	if first {
		return syncDir(s.dir)
	}
	return nil
}

func writeSynced(f *os.File, text []byte) error {
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// backTo takes back what was written to a file since info was had. What is no regular
// file keeps nothing.
func backTo(f *os.File, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return nil
	}
	if err := f.Truncate(info.Size()); err != nil {
		return fmt.Errorf("taking the half line back (the next start cuts it off): %w", err)
	}
	return nil
}

// encodeRow is the row's line.
func encodeRow(r Row) ([]byte, error) {
	if err := r.checkNumbers(); err != nil {
		return nil, err
	}
	line, err := json.Marshal(r)
	return append(line, '\n'), err
}

// WriteFile writes a file of the run-set whole or not at all.
func (s *RunSet) WriteFile(name string, data []byte) error {
	return WriteFile(filepath.Join(s.dir, name), data)
}

// WriteReport writes what render writes into a file of the run-set, whole or,
// when render fails, not at all.
func (s *RunSet) WriteReport(name string, render func(io.Writer) error) error {
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(s.dir, name), err)
	}
	return s.WriteFile(name, b.Bytes())
}

// WriteFile writes a file whole or not at all: readers see the old bytes or the
// new ones, also after a crash. On Windows a crash in between may leave the file
// missing. The folder must exist.
func WriteFile(path string, data []byte) error {
	if err := replaceFile(path, data); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
