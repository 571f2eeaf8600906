package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// The kernel sends the parent-death signal when the thread ends that started
// the child. A caller that ends its own thread must not take the server along.
func TestServerOutlivesTheThreadThatStartedIt(t *testing.T) {
	l := newLobby(t)
	o := l.options(t, "serve")
	p, tid, err := startOnDyingThread(t, o)
	if err != nil {
		t.Fatal(err)
	}
	waitThreadGone(t, tid)
	l.wait(t, "serve").mustAnswer(t, "the server")
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := p.Err(); err != nil {
		t.Errorf("Err() = %v, want nil", err)
	}
}

// startOnDyingThread calls Start on a thread that ends right after.
func startOnDyingThread(t *testing.T, o Options) (p *Process, tid int, err error) {
	t.Helper()
	done := make(chan struct{})
	release := make(chan struct{})
	defer close(release)
	var onDying func()
	onDying = func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine
		if tid = syscall.Gettid(); tid == syscall.Getpid() {
			go onDying() // the main thread never ends: keep it busy, so that the next gets another
			<-release
			return
		}
		p, err = Start(t.Context(), o)
		close(done)
	}
	go onDying()
	<-done
	return p, tid, err
}

func waitThreadGone(t *testing.T, tid int) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); runtime.Gosched() {
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid)); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	t.Fatalf("thread %d does not end", tid)
}

// Where there is no shell for the guard, or somebody has killed it, the kernel
// still ends the first process.
func TestParentDeathWithoutGuard(t *testing.T) {
	l := newLobby(t)
	cmd := exec.Command(executable(t))
	cmd.Env = []string{
		helperRole + "=parent-without-guard", helperAddr + "=" + l.listener.Addr().String(),
		helperLog + "=" + filepath.Join(t.TempDir(), "server.log"),
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	server := l.wait(t, "serve")
	l.wait(t, "parent-without-guard").mustAnswer(t, "the parent")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed"
	server.mustBeGone(t, "the server")
}

// What has left the group, with the environment that it was started with, is ended with it.
func TestStopEndsWhatHasLeftTheGroup(t *testing.T) {
	l := newLobby(t)
	o := l.options(t, "daemon")
	p := mustStart(t, t.Context(), o)
	l.wait(t, "daemon")
	outsider := l.wait(t, "outsider")
	outsider.mustAnswer(t, "what has left the group")
	if err := p.Stop(); err != nil {
		t.Errorf("Stop() = %v", err)
	}
	outsider.mustBeGone(t, "what has left the group")
}

// What a server has put into groups of its own ends with the program too.
func TestDeathEndsWhatHasLeftTheGroup(t *testing.T) {
	l := newLobby(t)
	d := startSweep(t, l, runaway, 1)
	child, outsider := l.wait(t, "daemon"), l.wait(t, "outsider")
	d.signal(t, syscall.SIGKILL)
	child.mustBeGone(t, "the child")
	outsider.mustBeGone(t, "what has left the group")
	_ = d.cmd.Wait() // "signal: killed"
}

func TestGroupOfZombiesIsNotAlive(t *testing.T) {
	l := newLobby(t)
	cmd := exec.Command(executable(t))
	cmd.Env = []string{helperRole + "=serve", helperAddr + "=" + l.listener.Addr().String()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	pgid := cmd.Process.Pid
	server := l.wait(t, "serve")
	if !groupAlive(pgid) {
		t.Error("groupAlive = false while its process runs")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	server.mustBeGone(t, "the process") // its files are closed just before it becomes a zombie
	for deadline := time.Now().Add(patience); groupAlive(pgid); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("groupAlive = true for a group of one zombie")
		}
	}
	if err := syscall.Kill(-pgid, 0); err != nil {
		t.Errorf("the kernel denies the zombie's group: %v; then this test shows nothing", err)
	}
}

// Whatever a process calls itself, its group is found.
func FuzzParseStat(f *testing.F) {
	f.Add("sh", 42)
	f.Add("a) Z 9 (b", 7)
	f.Add(")\n(", 1)
	f.Fuzz(func(t *testing.T, name string, pgrp int) {
		stat := fmt.Sprintf("7 (%s) S 1 %d 7 0 -1 4194560 0\n", name, pgrp)
		if state, got, ok := parseStat([]byte(stat)); state != 'S' || got != pgrp || !ok {
			t.Errorf("parseStat(%q) = %c, %d, %v, want S, %d, true", stat, state, got, ok, pgrp)
		}
		_, _, _ = parseStat([]byte(name)) // must not panic
	})
}

func TestParseStat(t *testing.T) {
	tests := []struct {
		name, stat string
		state      byte
		pgrp       int
		ok         bool
	}{
		{"plain", "7 (sh) R 1 42 7 0 -1 4194560\n", 'R', 42, true},
		{"name with blanks and brackets", "7 (a) Z 9 (b) S 1 42 7", 'S', 42, true},
		{"zombie", "7 (sh) Z 1 7 7", 'Z', 7, true},
		{"cut off", "7 (sh) S 1", 0, 0, false},
		{"no number", "7 (sh) S 1 x 7", 'S', 0, false},
		{"empty", "", 0, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			state, pgrp, ok := parseStat([]byte(tt.stat))
			if state != tt.state || pgrp != tt.pgrp || ok != tt.ok {
				t.Errorf("parseStat(%q) = %c, %d, %v, want %c, %d, %v", tt.stat, state, pgrp, ok, tt.state, tt.pgrp, tt.ok)
			}
		})
	}
}
