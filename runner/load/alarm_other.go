//go:build !linux

package load

import "time"

// fineTimer exists on Linux only.
type fineTimer struct{}

func newFineTimer() *fineTimer             { return nil }
func (*fineTimer) wait(time.Duration) bool { return false }
func (*fineTimer) close()                  {}
