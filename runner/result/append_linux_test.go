package result

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A device that is always full takes no line, and is not cut to its length.
func TestAppendToAFullDevice(t *testing.T) {
	s := newRunSet(t)
	path := filepath.Join(s.Dir(), RowsFile)
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	err := s.Append(Row{SchemaVersion: SchemaVersion, RunID: "a-r0"})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "half line") {
		t.Errorf("Append = %v, want no space left and the file's name", err)
	}
}

// A read-only folder is named, and the rows in it stay as they are.
func TestAppendReadOnly(t *testing.T) {
	s := newRunSet(t)
	if err := s.Append(Row{SchemaVersion: SchemaVersion, RunID: "a-r0"}); err != nil {
		t.Fatal(err)
	}
	dir := s.Dir()
	if err := errors.Join(os.Chmod(filepath.Join(dir, RowsFile), 0o444), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	t.Chdir(dir) // nobody may not pass through the folders above it
	var rowErr, requestErr error
	asNobody(t, func() {
		here := &RunSet{dir: "."}
		rowErr = here.Append(Row{SchemaVersion: SchemaVersion, RunID: "b-r0"})
		requestErr = here.AppendRequests([]Request{{RunID: "b-r0"}})
	})
	if !errors.Is(rowErr, os.ErrPermission) || !strings.Contains(rowErr.Error(), RowsFile) {
		t.Errorf("Append = %v, want no permission and the file's name", rowErr)
	}
	if !errors.Is(requestErr, os.ErrPermission) || !strings.Contains(requestErr.Error(), RequestsFile) {
		t.Errorf("AppendRequests = %v, want no permission and the file's name", requestErr)
	}
	if rows, problems, err := Read(dir); err != nil || len(rows) != 1 || len(problems) > 0 {
		t.Errorf("%d rows, %v, %v; want the one that was there", len(rows), problems, err)
	}
}

// asNobody calls f without the rights of root, which may write anywhere: of this thread
// alone, and for files alone.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	const nobody = 65534
	if os.Geteuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set := func(uid uintptr) {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETFSUID, uid, 0, 0); int(errno) != 0 {
			t.Fatal(errno)
		}
	}
	set(nobody)
	defer set(0)
	f()
}
