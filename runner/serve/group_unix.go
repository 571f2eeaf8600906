//go:build unix

package serve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// markName is the variable that tells the processes of one start of a server.
const markName = "SPECSWEEP_LAUNCH"

// group is a server's process group, whose id is the pid of the first process.
// The id stays taken while the group has members, so it cannot mean others
// before the group is empty. What a server starts outside its group (setsid, a
// shell with job control) belongs to it by the mark in its environment, where the
// system shows environments.
type group struct {
	pgid   int
	mark   string
	leader *os.Process
	guard  *guard
}

// startGroup starts the command as the leader of a new group, on the calling
// thread. Terminal signals (Ctrl-C) do not reach the group: it is ended in
// order, after the requests in flight.
func startGroup(cmd *exec.Cmd, grace time.Duration) (*group, error) {
	mark := markName + "=" + rand.Text()
	guard, err := startGuard(grace, mark)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(slices.Clip(cmd.Env), mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	setParentDeathSignal(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		guard.dismiss()
		return nil, err
	}
	guard.watch(cmd.Process.Pid)
	return &group{pgid: cmd.Process.Pid, mark: mark, leader: cmd.Process, guard: guard}, nil
}

func (g *group) terminate() error { return g.signal(syscall.SIGTERM) }

// kill also aims at the first process itself, which may have moved to another
// group. When that fails nothing is lost: the wait that follows finds it alive.
func (g *group) kill() error {
	_ = g.leader.Kill()
	return g.signal(syscall.SIGKILL)
}

func (g *group) alive() bool { return groupAlive(g.pgid) || len(marked(g.mark, g.pgid)) > 0 }

// release gives back what the group needed here; it must have ended.
func (g *group) release() { g.guard.dismiss() }

// signal reaches the group, and then what has left it.
func (g *group) signal(sig syscall.Signal) error {
	err := g.signalGroup(sig)
	for _, pid := range marked(g.mark, g.pgid) {
		if e := signalMarked(pid, g.mark, sig); e != nil {
			err = errors.Join(err, fmt.Errorf("sending signal %q to process %d: %w", sig, pid, e))
		}
	}
	return err
}

// signalMarked makes sure that the id still means the process that was found.
func signalMarked(pid int, mark string, sig syscall.Signal) error {
	p, err := os.FindProcess(pid) // a handle, where the kernel has them
	if err != nil {
		return err
	}
	defer func() { _ = p.Release() }()
	if !carries(pid, mark) {
		return nil
	}
	if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func (g *group) signalGroup(sig syscall.Signal) error {
	err := syscall.Kill(-g.pgid, sig)
	if err == nil || errors.Is(err, syscall.ESRCH) { // no such group: it ended first
		return nil
	}
	return fmt.Errorf("sending signal %q to process group %d: %w", sig, g.pgid, err)
}
