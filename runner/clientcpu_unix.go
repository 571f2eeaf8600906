//go:build unix

package runner

import (
	"syscall"
	"time"
)

// cpuTime is the user and system time that this process has used; negative: not
// known.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return -1
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
