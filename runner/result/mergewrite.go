package result

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

func shortDir(dir string) string { return filepath.Base(filepath.Clean(dir)) }

// Requests is what single answers tell, as ReadRequests has it, of the runs whose rows
// were taken, each from the run-set that its row is of.
func (m *Merged) Requests(ctx context.Context) (byRun map[string][]Request, problems []string, err error) {
	byRun = map[string][]Request{}
	for i := range m.parts {
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		got, more, err := ReadRequests(m.parts[i].dir)
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, more...)
		for id, lines := range got {
			if m.takes(i, id) {
				byRun[id] = lines
			}
		}
	}
	return byRun, problems, nil
}

// takes tells whether the row of a run is of that part.
func (m *Merged) takes(part int, id string) bool {
	from, ok := m.from[id]
	return ok && from == part
}

// Write puts rows, requests, the plan and, last, the manifest into a run-set that
// is new and empty. What cannot be carried over is in problems.
func (m *Merged) Write(ctx context.Context, to *RunSet) (problems []string, err error) {
	rows := func(w io.Writer) error {
		lines := json.NewEncoder(w) // makes what encodeRow does, without a copy of each
		for i := range m.Rows {
			r := &m.Rows[i]
			if err := errors.Join(context.Cause(ctx), r.checkNumbers()); err != nil {
				return fmt.Errorf("run %s: %w", r.RunID, err)
			}
			if err := lines.Encode(r); err != nil {
				return fmt.Errorf("run %s: %w", r.RunID, err)
			}
		}
		return nil
	}
	requests := func(w io.Writer) error { return m.eachPart(ctx, &problems, w, m.copyRequests) }
	saved := func(w io.Writer) error { return m.eachPart(ctx, &problems, w, m.copySaved) }
	for _, f := range []struct {
		name string
		fill func(io.Writer) error
	}{{RowsFile, rows}, {RequestsFile, requests}, {SavedFile, saved}} {
		if err := to.stream(f.name, f.fill); err != nil {
			return problems, fmt.Errorf("writing %s: %w", filepath.Join(to.dir, f.name), err)
		}
	}
	text, err := os.ReadFile(filepath.Join(m.parts[0].dir, PlanFile))
	switch {
	case err == nil:
		err = to.WriteFile(PlanFile, text)
	case errors.Is(err, fs.ErrNotExist):
		problems, err = append(problems, m.parts[0].dir+" has no "+PlanFile), nil
	}
	if err != nil {
		return problems, fmt.Errorf("carrying the plan over: %w", err)
	}
	return problems, to.WriteManifest(m.Manifest)
}

// stream writes a new file without holding it, and syncs it. An empty one is kept only
// of rows.
func (s *RunSet) stream(name string, fill func(io.Writer) error) (err error) {
	path := filepath.Join(s.dir, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(fill(w), w.Flush(), f.Sync())
	info, statErr := f.Stat()
	err = errors.Join(err, statErr, f.Close())
	if err == nil && info.Size() == 0 && name != RowsFile {
		return os.Remove(path)
	}
	return err
}

// eachPart copies something of every part.
func (m *Merged) eachPart(ctx context.Context, problems *[]string, w io.Writer, one func(int, io.Writer) ([]string, error)) error {
	for i := range m.parts {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		more, err := one(i, w)
		if err != nil {
			return err
		}
		*problems = append(*problems, more...)
	}
	return nil
}

// copyRequests copies the lines of the runs that a part has the row of.
func (m *Merged) copyRequests(i int, w io.Writer) (problems []string, err error) {
	path := filepath.Join(m.parts[i].dir, RequestsFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = eachLine(path, f, func(n int, text []byte, _ bool) error {
		q, err := parseRequest(text)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s:%d: not a request and left out: %v", path, n, err))
			return nil
		}
		if !m.takes(i, q.RunID) {
			return nil
		}
		_, err = w.Write(append(text, '\n'))
		return err
	})
	return problems, err
}

// copySaved copies the zstd frames of a part: as they are when all of its rows were
// taken, else without the lines of the runs that another part has the row of.
func (m *Merged) copySaved(i int, w io.Writer) (problems []string, err error) {
	path := filepath.Join(m.parts[i].dir, SavedFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	ends, err := frameEnds(f, info.Size())
	switch {
	case errors.Is(err, errTorn), errors.Is(err, errNoFrame):
		problems = append(problems, fmt.Sprintf("%s: what follows frame %d is left out: %v", path, len(ends), err))
	case err != nil:
		return nil, err
	}
	start := int64(0)
	for n, end := range ends {
		frame := io.NewSectionReader(f, start, end-start)
		start = end
		if !m.parts[i].dropped {
			if _, err := io.Copy(w, frame); err != nil {
				return problems, err
			}
			continue
		}
		lines, bad := readFrame(fmt.Sprintf("%s: frame %d", path, n+1), frame)
		problems = append(problems, bad...)
		kept := lines[:0]
		for _, q := range lines {
			if m.takes(i, q.RunID) {
				kept = append(kept, q)
			}
		}
		if len(kept) == 0 {
			continue
		}
		if err := writeFrame(w, kept); err != nil {
			return problems, err
		}
	}
	return problems, nil
}

// Discard removes a run-set that could not be completed. It is for folders that this
// process has made.
func (s *RunSet) Discard() error {
	if err := errors.Join(s.Unlock(), os.RemoveAll(s.dir)); err != nil {
		return fmt.Errorf("removing the unfinished run-set %s: %w", s.dir, err)
	}
	return nil
}
