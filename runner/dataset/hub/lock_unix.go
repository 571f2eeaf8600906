//go:build !windows

package hub

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock uses flock, as the Hub's Python library does, so the two respect each
// other.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOLCK):
			// Some network file systems have no locks. Without one two processes may both
			// fetch; the content is checked all the same.
			return true, nil
		default:
			return false, os.NewSyscallError("flock", err)
		}
	}
}
