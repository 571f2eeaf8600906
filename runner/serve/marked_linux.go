package serve

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// marked is the ids of the processes outside a group that have the mark, a name=value,
// in their environment: what a server has started, and that in turn, in groups and
// sessions of its own. It misses what has cleared its environment and what belongs to
// another user. Those in the group are left out, so that no signal reaches one twice:
// to many servers a second SIGTERM is the order to drop everything. Zombies have no
// environment.
func marked(mark string, group int) []int {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var found []int
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || !carries(pid, mark) {
			continue
		}
		if pgid, err := syscall.Getpgid(pid); err == nil && pgid != group {
			found = append(found, pid)
		}
	}
	return found
}

// carries reads a process's environment as the kernel shows it (proc_pid_environ(5)).
func carries(pid int, mark string) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // ended since it was listed, or another user's
	}
	for entry := range bytes.SplitSeq(b, []byte{0}) {
		if string(entry) == mark {
			return true
		}
	}
	return false
}
