//go:build unix

package serve

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func mustStart(t *testing.T, ctx context.Context, o Options) *Process {
	t.Helper()
	p, err := Start(ctx, o)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
	return p
}

func waitExited(t *testing.T, p *Process) {
	t.Helper()
	select {
	case <-p.Exited():
	case <-time.After(patience):
		t.Fatal("Exited is not closed")
	}
}

func TestStartWaitsForReadyAndStopAsksFirst(t *testing.T) {
	l := newLobby(t)
	o := l.options(t, "serve")
	var server *member
	o.Ready = func(context.Context) (err error) {
		server, err = l.find(t, "serve")
		return err
	}
	p := mustStart(t, t.Context(), o)
	if server == nil {
		t.Fatal("Start returned before Ready did")
	}
	if p.PID() != server.pid {
		t.Errorf("PID() = %d, want %d", p.PID(), server.pid)
	}
	if pgid, err := syscall.Getpgid(p.PID()); err != nil || pgid != p.PID() {
		t.Errorf("its process group is %d, %v; want one of its own", pgid, err)
	}
	server.mustAnswer(t, "the server after Start")
	if err := p.Err(); err != nil {
		t.Errorf("Err() while it runs = %v, want nil", err)
	}

	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := p.Stop(); err != nil {
				t.Errorf("Stop() = %v", err)
			}
		})
	}
	all.Wait()
	server.mustBeGone(t, "the server after Stop")
	waitExited(t, p)
	if err := p.Err(); err != nil {
		t.Errorf("Err() = %v, want nil: it ended with status 0 on SIGTERM", err)
	}
	log, err := os.ReadFile(o.LogPath)
	if want := "serve is up\nserve says goodbye\n"; err != nil || !strings.HasPrefix(string(log), want) {
		t.Errorf("log = %q, %v; want it to begin with %q", log, err, want)
	}
}

func TestStopKillsWhatIgnoresIt(t *testing.T) {
	l := newLobby(t)
	o := l.options(t, "stubborn")
	o.StopGrace = 50 * time.Millisecond
	p := mustStart(t, t.Context(), o)
	server := l.wait(t, "stubborn")
	if err := p.Stop(); err != nil {
		t.Errorf("Stop() = %v", err)
	}
	server.mustBeGone(t, "the server")
	exit, ok := errors.AsType[*exec.ExitError](p.Err())
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("Err() = %v, want an exit by SIGKILL", p.Err())
	}
}

func TestEveryEndTakesTheGrandchildren(t *testing.T) {
	tests := []struct {
		name string
		end  func(t *testing.T, p *Process, server *member, cancel context.CancelFunc)
	}{
		{"Stop", func(t *testing.T, p *Process, _ *member, _ context.CancelFunc) {
			if err := p.Stop(); err != nil {
				t.Errorf("Stop() = %v", err)
			}
		}},
		{"the context ends", func(_ *testing.T, _ *Process, _ *member, cancel context.CancelFunc) { cancel() }},
		{"the server is killed by somebody", func(t *testing.T, p *Process, _ *member, _ context.CancelFunc) {
			if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}},
		{"the server exits by itself", func(t *testing.T, _ *Process, server *member, _ context.CancelFunc) {
			server.end(t)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLobby(t)
			o := l.options(t, "family")
			o.StopGrace = 200 * time.Millisecond
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := mustStart(t, ctx, o)
			server, grandchild := l.wait(t, "family"), l.wait(t, "stubborn")
			tt.end(t, p, server, cancel)
			server.mustBeGone(t, "the server")
			grandchild.mustBeGone(t, "the grandchild")
			waitExited(t, p)
		})
	}
}

func TestStopAfterItDied(t *testing.T) {
	l := newLobby(t)
	p := mustStart(t, t.Context(), l.options(t, "serve"))
	l.wait(t, "serve").end(t)
	waitExited(t, p)
	for range 2 {
		if err := p.Stop(); err != nil {
			t.Errorf("Stop() = %v", err)
		}
	}
	exit, ok := errors.AsType[*exec.ExitError](p.Err())
	if !ok || exit.ExitCode() != 1 {
		t.Errorf("Err() = %v, want exit status 1", p.Err())
	}
}

// The parent is killed outright, as by the second Ctrl-C or by a full memory.
func TestParentDeathEndsTheGroup(t *testing.T) {
	l := newLobby(t)
	cmd := exec.Command(executable(t))
	cmd.Env = []string{
		helperRole + "=parent", helperAddr + "=" + l.listener.Addr().String(),
		helperLog + "=" + filepath.Join(t.TempDir(), "server.log"),
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	server, grandchild := l.wait(t, "family"), l.wait(t, "stubborn")
	parent := l.wait(t, "parent")
	server.mustAnswer(t, "the server")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed"
	parent.mustBeGone(t, "the parent")
	server.mustBeGone(t, "the server")
	grandchild.mustBeGone(t, "the grandchild")
}

func TestEnvironmentAndFolder(t *testing.T) {
	t.Setenv("SERVE_TEST_OWN", "must not leak into the server")
	l := newLobby(t)
	o := l.options(t, "print-env")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o.Dir = dir
	o.Environ = []string{"BASE=kept", "BOTH=from the base"}
	o.Env["BOTH"] = "from the plan"
	mustStart(t, t.Context(), o)
	l.wait(t, "print-env")
	b, err := os.ReadFile(o.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	log := string(b)
	for _, want := range []string{"cwd " + dir + "\n", "env BASE=kept\n", "env BOTH=from the plan\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("the server does not see %q", want)
		}
	}
	for _, bad := range []string{"SERVE_TEST_OWN", "from the base"} {
		if strings.Contains(log, bad) {
			t.Errorf("the server sees %q", bad)
		}
	}
}
