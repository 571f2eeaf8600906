//go:build unix

package result

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// smallEnv makes TestAppendOnAFullDisk its own child, which may write small files only.
const smallEnv = "SPECSWEEP_TEST_SMALL_FILES"

// A disk that fills up in the middle of a line leaves whole lines only, and names the
// file. The limit on the size of files stands for it: it cuts a write short just so. It
// holds for a whole process, so a child has it.
func TestAppendOnAFullDisk(t *testing.T) {
	if dir := os.Getenv(smallEnv); dir != "" {
		appendInSmallFiles(t, dir)
		return
	}
	s := newRunSet(t)
	if err := s.Append(Row{SchemaVersion: SchemaVersion, RunID: "a-r0"}); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendRequests([]Request{{RunID: "a-r0", Drafts: 1}}); err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, s.Dir())
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run", "^TestAppendOnAFullDisk$")
	cmd.Env = append(os.Environ(), smallEnv+"="+s.Dir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if diff := cmp.Diff(before, filesOf(t, s.Dir())); diff != "" {
		t.Errorf("what was there (-before +after):\n%s", diff)
	}
	if err := s.Append(Row{SchemaVersion: SchemaVersion, RunID: "b-r0"}); err != nil {
		t.Fatal(err)
	}
	rows, problems, err := Read(s.Dir())
	if err != nil || len(rows) != 2 || len(problems) > 0 {
		t.Errorf("with room again: %d rows, %v, %v; want 2 whole ones", len(rows), problems, err)
	}
}

// appendInSmallFiles appends where there is room for a few bytes more.
func appendInSmallFiles(t *testing.T, dir string) {
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, appending := range map[string]func() error{
		RowsFile:     func() error { return s.Append(Row{SchemaVersion: SchemaVersion, RunID: "b-r0"}) },
		RequestsFile: func() error { return s.AppendRequests([]Request{{RunID: "b-r0"}, {RunID: "b-r0", Prompt: 1}}) },
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		limit.Cur = uint64(info.Size()) + 10
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		if err := appending(); !errors.Is(err, syscall.EFBIG) || !strings.Contains(fmt.Sprint(err), filepath.Join(dir, name)) {
			t.Errorf("%s: %v; want an error that names the file and says that it is too large", name, err)
		}
		limit.Cur = limit.Max
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
}

// A folder that nothing can be written to is named, and what it holds stays.
func TestAppendNowhere(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, dir string)
		want  error
	}{
		{"the folder has vanished", func(t *testing.T, dir string) {
			if err := os.Rename(dir, dir+"-elsewhere"); err != nil {
				t.Fatal(err)
			}
		}, os.ErrNotExist},
		{"the folder is a file now", func(t *testing.T, dir string) {
			if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}, syscall.ENOTDIR},
		{"the file is a folder", func(t *testing.T, dir string) {
			path := filepath.Join(dir, RowsFile)
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
				t.Fatal(err)
			}
		}, syscall.EISDIR},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newRunSet(t)
			if err := s.Append(Row{SchemaVersion: SchemaVersion, RunID: "a-r0"}); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, s.Dir())
			err := s.Append(Row{SchemaVersion: SchemaVersion, RunID: "b-r0"})
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), filepath.Join(s.Dir(), RowsFile)) || !strings.Contains(err.Error(), "b-r0") {
				t.Errorf("Append = %v, want %v with the run and the file", err, tt.want)
			}
		})
	}
}

// filesOf is the contents of a folder's files.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{RowsFile, RequestsFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}
