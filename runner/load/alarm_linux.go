package load

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// fineTimer is a timerfd(2). Read through the runtime's poller it parks its goroutine
// as a socket does, is as precise as the kernel's timers, and costs no thread and no
// spinning.
type fineTimer struct {
	fd   int
	file *os.File
}

// newFineTimer is nil when the kernel gives none.
func newFineTimer() *fineTimer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	return &fineTimer{fd, os.NewFile(uintptr(fd), "timerfd")}
}

// wait lets d, more than 0 and short, pass; false: it cannot.
func (t *fineTimer) wait(d time.Duration) bool {
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}
	if unix.TimerfdSettime(t.fd, 0, &at, nil) != nil {
		return false
	}
	var expirations [8]byte
	_, err := t.file.Read(expirations[:])
	return err == nil
}

func (t *fineTimer) close() { _ = t.file.Close() }
