package serve

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// setParentDeathSignal makes the kernel end the first process when this program
// dies, however it dies. Only that process: the guard sees to the others.
// SIGTERM and not SIGKILL, so that it can still end its own workers.
func setParentDeathSignal(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// groupAlive reports whether a process of the group still runs. Zombies do not
// count: in a container whose process 1 reaps nothing, the orphans of a server
// stay zombies for ever, and hold neither port nor memory.
func groupAlive(pgid int) bool {
	if errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH) {
		return false
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return true // no /proc: the kernel's answer, zombies and all
	}
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // ended since it was listed
		}
		state, group, ok := parseStat(b)
		if ok && group == pgid && state != 'Z' && state != 'X' {
			return true
		}
	}
	return false
}

// parseStat reads a process's state and process group from /proc/<pid>/stat
// (proc_pid_stat(5)): "pid (name) state ppid pgrp …", where the name may hold
// blanks and brackets.
func parseStat(b []byte) (state byte, pgrp int, ok bool) {
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 3 || len(fields[0]) != 1 {
		return 0, 0, false
	}
	pgrp, err := strconv.Atoi(string(fields[2]))
	return fields[0][0], pgrp, err == nil
}
