//go:build unix

package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// guardScript reads the group's id and then waits for the end of its standard
// input, which comes when this program dies. Then it does what Stop would have
// done, to the group and to what carries the mark ($2) in its environment: a
// program that died before it could name the group has started one all the same.
// $1 is the grace in seconds. Where there is no /proc nothing carries a mark.
const guardScript = `grace=$1 mark=$2
signal() {
	sig=$1 some=1
	if [ -n "$pgid" ]; then kill -s "$sig" -- "-$pgid" 2>/dev/null && some=0; fi
	for file in $(grep -l -F -e "$mark" /proc/[0-9]*/environ 2>/dev/null); do
		pid=${file#/proc/} pid=${pid%/environ}
		read -r stat 2>/dev/null <"/proc/$pid/stat" || continue
		set -- ${stat##*) } # state ppid pgrp: see parseStat
		if [ "$3" != "$pgid" ]; then kill -s "$sig" "$pid" 2>/dev/null && some=0; fi
	done
	return $some
}
read -r pgid && read -r _
signal TERM
while [ "$grace" -gt 0 ] && signal 0; do sleep 1; grace=$((grace - 1)); done
signal KILL`

// guardName is how the guard is listed. It does not hold this program's name:
// who kills every process of that name by pattern would kill the guard too.
const guardName = "guard-of-launched-server"

// guard is a shell that outlives this program by a moment, to end the group
// when nobody else can: after SIGKILL, a crash, or the second Ctrl-C. The
// parent-death signal of Linux reaches the first process only, and where that
// is a shell script, the server itself would run on. nil: there is no guard.
type guard struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser // nothing else holds this end: Go opens files close-on-exec
}

// startGuard starts the guard before there is anything to guard, so that no
// moment is left uncovered. Without /bin/sh (a bare container) there is none.
func startGuard(grace time.Duration, mark string) (*guard, error) {
	seconds := int((grace + time.Second - 1) / time.Second)
	cmd := &exec.Cmd{
		Path: "/bin/sh",
		Args: []string{"sh", "-c", guardScript, guardName, strconv.Itoa(seconds), mark},
		Env:  []string{"PATH=/usr/bin:/bin"},
		Dir:  "/",
		// Its own group: what ends this program from the terminal must not end
		// the guard first.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the guard of its process group: %w", err)
	}
	err = cmd.Start() // closes stdin when it fails
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("starting the guard of its process group: %w", err)
	}
	return &guard{cmd: cmd, stdin: stdin}, nil
}

// watch names the group. When the guard has been killed by somebody the write
// fails; the server is none the worse for it.
func (g *guard) watch(pgid int) {
	if g != nil {
		_, _ = fmt.Fprintln(g.stdin, pgid)
	}
}

// dismiss ends the guard. Killed first: the end of its input would be its sign
// to act.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait() // always "signal: killed"; closes stdin
}
