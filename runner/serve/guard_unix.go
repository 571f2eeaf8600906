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
// done. $1 is the grace in seconds.
const guardScript = `read -r pgid || exit 0
read -r _
kill -s TERM -- "-$pgid" 2>/dev/null
n=$1
while [ "$n" -gt 0 ] && kill -s 0 -- "-$pgid" 2>/dev/null; do sleep 1; n=$((n - 1)); done
kill -s KILL -- "-$pgid" 2>/dev/null`

// guard is a shell that outlives this program by a moment, to end the group
// when nobody else can: after SIGKILL, a crash, or the second Ctrl-C. The
// parent-death signal of Linux reaches the first process only, and where that
// is a shell script, the server itself would run on. nil: there is no guard.
type guard struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser // nothing else holds this end: Go opens files close-on-exec
}

// startGuard starts the guard before there is anything to guard, so that no
// moment is left uncovered but the one between fork and watch. Without
// /bin/sh (a bare container) there is none.
func startGuard(grace time.Duration) (*guard, error) {
	seconds := int((grace + time.Second - 1) / time.Second)
	cmd := &exec.Cmd{
		Path: "/bin/sh",
		Args: []string{"sh", "-c", guardScript, "specsweep-guard", strconv.Itoa(seconds)},
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
