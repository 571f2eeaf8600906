//go:build unix

package serve

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// group is a server's process group, whose id is the pid of the first process.
// The id stays taken while the group has members, so it cannot mean others
// before the group is empty.
type group struct {
	pgid   int
	leader *os.Process
	guard  *guard
}

// startGroup starts the command as the leader of a new group, on the calling
// thread. Terminal signals (Ctrl-C) do not reach the group: it is ended in
// order, after the requests in flight.
func startGroup(cmd *exec.Cmd, grace time.Duration) (*group, error) {
	guard, err := startGuard(grace)
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	setParentDeathSignal(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		guard.dismiss()
		return nil, err
	}
	guard.watch(cmd.Process.Pid)
	return &group{pgid: cmd.Process.Pid, leader: cmd.Process, guard: guard}, nil
}

func (g *group) terminate() error { return g.signal(syscall.SIGTERM) }

// kill also aims at the first process itself, which may have moved to another
// group. When that fails nothing is lost: the wait that follows finds it alive.
func (g *group) kill() error {
	_ = g.leader.Kill()
	return g.signal(syscall.SIGKILL)
}

func (g *group) alive() bool { return groupAlive(g.pgid) }

// release gives back what the group needed here; it must have ended.
func (g *group) release() { g.guard.dismiss() }

func (g *group) signal(sig syscall.Signal) error {
	err := syscall.Kill(-g.pgid, sig)
	if err == nil || errors.Is(err, syscall.ESRCH) { // no such group: it ended first
		return nil
	}
	return fmt.Errorf("sending signal %q to process group %d: %w", sig, g.pgid, err)
}
