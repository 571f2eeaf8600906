package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

const (
	// pollInterval is how often a group that was told to end is looked at: no
	// system tells us when a group is empty.
	pollInterval = 20 * time.Millisecond
	// killWait bounds the wait after SIGKILL. A process that holds hundreds of
	// gigabytes of pinned memory takes many seconds to be torn down.
	killWait = 60 * time.Second
)

// Process is a started server. Its methods may be called from several
// goroutines at once.
type Process struct {
	name  string
	grace time.Duration
	cmd   *exec.Cmd
	group *group
	log   serverLog
	out   *output

	stopOnce sync.Once
	stop     chan struct{} // closed by Stop

	exited chan struct{} // closed when the first process has ended, after err is set
	err    error

	gone    chan struct{} // closed when the group has ended, after stopErr is set
	stopErr error
}

// PID is the process id of the server's first process, and on Unix the id of
// its process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the server's first process has ended, by itself or by
// Stop. What else is in its group is being ended then; Stop waits for that.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Err says how the first process ended: nil for status 0, else usually an
// *exec.ExitError, also when Stop ended it. It is nil before Exited is closed.
func (p *Process) Err() error {
	select {
	case <-p.exited:
		return p.err
	default:
		return nil
	}
}

// Stop asks the whole group to end (SIGTERM), kills what is left after
// Options.StopGrace (SIGKILL), and returns when nothing of it runs any more, so
// that its port and its memory are free. It may be called again, and after the
// server has died: the answer is the same. An error means that something of the
// group still runs.
func (p *Process) Stop() error {
	p.stopOnce.Do(func() { close(p.stop) })
	<-p.gone
	return p.stopErr
}

// launch starts the process and the two goroutines that look after it.
func launch(ctx context.Context, o *Options) (*Process, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	env := o.environ()
	path, err := lookPath(o.Command[0], o.Dir, env)
	if err != nil {
		return nil, err
	}
	file, log, err := openLog(o.LogPath)
	if err != nil {
		return nil, err
	}
	out, err := newOutput(file, o.Secrets)
	if err != nil {
		return nil, err
	}
	p := &Process{
		name: o.Name, grace: o.stopGrace(), log: log, out: out,
		// Files, which a pipe's end is too: os/exec waits for no copying.
		cmd:    &exec.Cmd{Path: path, Args: o.Command, Env: env, Dir: o.Dir, Stdout: out.server, Stderr: out.server},
		stop:   make(chan struct{}),
		exited: make(chan struct{}),
		gone:   make(chan struct{}),
	}
	started := make(chan error)
	go p.lead(started)
	err = <-started
	out.started()
	if err != nil {
		out.drain()
		return nil, explain(err, path, o.Dir)
	}
	go p.supervise(ctx)
	return p, nil
}

// lead starts the first process and waits for it. Linux sends the parent-death
// signal when the *thread* that started the child ends, not the process, so
// both happen on one locked thread that lives exactly as long as the child: the
// caller's own thread may end with its goroutine.
func (p *Process) lead(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	p.group, err = startGroup(p.cmd, p.grace)
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.exited)
}

// supervise ends the group on the first reason to: Stop, the context, or the
// end of the first process, which may leave workers behind.
func (p *Process) supervise(ctx context.Context) {
	defer close(p.gone)
	select {
	case <-p.stop:
	case <-ctx.Done():
	case <-p.exited:
	}
	p.stopErr = p.end()
	p.group.release()
	p.out.drain()
}

func (p *Process) end() error {
	termErr := p.group.terminate()
	if p.waitGone(p.grace) {
		return nil
	}
	killErr := p.group.kill()
	if p.waitGone(killWait) {
		return nil
	}
	err := fmt.Errorf("server %s: process group %d still runs %s after it was killed; end it by hand",
		p.name, p.PID(), killWait)
	return errors.Join(err, termErr, killErr)
}

// waitGone reports whether the first process and its group end within d.
func (p *Process) waitGone(d time.Duration) bool {
	timeout := time.NewTimer(d)
	defer timeout.Stop()
	select {
	case <-p.exited:
	case <-timeout.C:
		return false
	}
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for p.group.alive() {
		select {
		case <-poll.C:
		case <-timeout.C:
			return false
		}
	}
	return true
}

// explain adds what the system's "no such file or directory" leaves open when
// the command's file was found a moment ago.
func explain(err error, path, dir string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if dir != "" {
		if _, statErr := os.Stat(dir); statErr != nil {
			return fmt.Errorf("its working folder: %w", statErr)
		}
	}
	return fmt.Errorf("%w (the file %s is there: is the interpreter named in its first line missing?)", err, path)
}
