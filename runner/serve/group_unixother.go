//go:build unix && !linux

package serve

import "syscall"

// setParentDeathSignal does nothing: the guard alone ends the group when this
// program dies.
func setParentDeathSignal(*syscall.SysProcAttr) {}

// groupAlive reports whether the group has members. macOS answers EPERM when
// only zombies are left, so any error means that nothing can be signalled.
func groupAlive(pgid int) bool { return syscall.Kill(-pgid, 0) == nil }

// marked finds nothing: other processes' environments are not shown here.
func marked(string, int) []int { return nil }

func carries(int, string) bool { return false }
