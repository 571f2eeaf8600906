package result

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"
)

// lockFile stands in a run-set's folder while somebody writes to it.
const lockFile = ".lock"

// ErrLocked says that another process writes to the run-set.
var ErrLocked = errors.New("another specsweep writes to it; wait for it to end, or stop it")

// Lock makes sure that nobody else writes to the run-set, until Unlock or the end
// of the process, however it ends. The error matches ErrLocked when somebody does. A file
// system that knows no locks is no error: whoever shares such a folder between
// machines gives each process a run-set of its own.
func (s *RunSet) Lock() error {
	path := filepath.Join(s.dir, lockFile)
	for {
		l := flock.New(path)
		ok, err := l.TryLock()
		switch {
		case err != nil && lockless(err):
			return errors.Join(l.Close(), os.Remove(path))
		case err != nil:
			return fmt.Errorf("locking run-set %s: %w", s.dir, err)
		case !ok:
			return fmt.Errorf("run-set %s: %w", s.dir, ErrLocked)
		}
		// Whoever had the lock before may have removed the file between our opening and
		// our locking it: then ours is a lock on nothing.
		mine, err := l.Stat()
		if err != nil {
			return errors.Join(fmt.Errorf("locking run-set %s: %w", s.dir, err), l.Close())
		}
		if there, err := os.Stat(path); err == nil && os.SameFile(mine, there) {
			s.lock = l
			return nil
		}
		if err := l.Close(); err != nil {
			return fmt.Errorf("locking run-set %s: %w", s.dir, err)
		}
	}
}

// lockless tells the errors of file systems without locks.
func lockless(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK)
}

// Unlock lets others write. It does nothing when there is no lock.
func (s *RunSet) Unlock() error {
	if s.lock == nil {
		return nil
	}
	l := s.lock
	s.lock = nil
	// Removed while it is still ours; Windows wants it the other way round, and there
	// nobody can have opened it in between and still lock it.
	removed := os.Remove(l.Path())
	closed := l.Close()
	if removed != nil {
		removed = os.Remove(l.Path())
	}
	if errors.Is(removed, os.ErrNotExist) {
		removed = nil
	}
	return errors.Join(removed, closed)
}
