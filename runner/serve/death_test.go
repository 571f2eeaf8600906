//go:build unix

package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// family is a launched shell with a child and a grandchild. The parent-death
// signal of Linux reaches the shell alone. runaway is one whose child starts another
// in a session of its own.
const (
	family  = `%[1]s=child "$0" & sh -c '%[1]s=grandchild "$0" & wait' "$0" & wait`
	runaway = `%[1]s=daemon "$0" & wait`
)

// sweep starts a family and lives as specsweep does: the first SIGINT ends the
// context and the program waits for the servers, the second one kills it. What
// it has reached it prints. "panic" and "exit" on its standard input are what end
// it from inside.
func sweep() int {
	signal.Reset(syscall.SIGTERM) // as if nothing handled it
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	p, err := Start(ctx, Options{
		Name: "family", Command: []string{"/bin/sh", "-c", fmt.Sprintf(os.Getenv(helperScript), helperRole), os.Args[0]},
		LogPath: os.Getenv(helperLog),
		Env: map[string]string{
			helperAddr: os.Getenv(helperAddr), helperTerms: os.Getenv(helperTerms),
			"PATH": os.Getenv("PATH"), "GORACE": exitAtOnce,
		},
		StopGrace: patience, // longer than any test waits: what ends, ends on SIGTERM
	})
	if err != nil {
		fmt.Println("starting:", err)
		return 9
	}
	orders := bufio.NewScanner(os.Stdin)
	go func() {
		orders.Scan()
		switch orders.Text() {
		case "panic":
			panic("as a bug would")
		case "exit":
			os.Exit(7)
		}
	}()
	fmt.Println("up")
	<-interrupts
	cancel()
	signal.Reset(syscall.SIGINT)
	fmt.Println("interrupted")
	if err := p.Stop(); err != nil {
		fmt.Println("stopping:", err)
		return 1
	}
	return 130
}

// terminatedTimes is done at the nth SIGTERM.
func terminatedTimes(n int) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, n)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		defer cancel()
		for range n {
			<-signals
		}
	}()
	return ctx
}

// dying is a sweep that a test brings to its end.
type dying struct {
	cmd *exec.Cmd
	out *bufio.Reader
	in  *os.File // the sweep's standard input, our end
}

func startSweep(t *testing.T, l *lobby, script string, terms int) *dying {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { write.Close() })
	defer read.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, executable(t))
	cmd.Stdin = read
	cmd.Env = []string{
		helperRole + "=sweep", helperAddr + "=" + l.listener.Addr().String(), helperTerms + "=" + strconv.Itoa(terms),
		helperScript + "=" + script,
		helperLog + "=" + filepath.Join(t.TempDir(), "server.log"), "PATH=" + os.Getenv("PATH"), "GORACE=" + exitAtOnce,
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &dying{cmd: cmd, out: bufio.NewReader(out), in: write}
	d.mustSay(t, "up")
	return d
}

func (d *dying) mustSay(t *testing.T, want string) {
	t.Helper()
	if line, err := d.out.ReadString('\n'); strings.TrimSpace(line) != want {
		t.Fatalf("the sweep says %q, %v; want %q", line, err, want)
	}
}

func (d *dying) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := d.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func (d *dying) order(t *testing.T, what string) {
	t.Helper()
	if _, err := fmt.Fprintln(d.in, what); err != nil {
		t.Fatal(err)
	}
}

// Whatever ends the sweep, the shell that it launched, its child and its
// grandchild end too, and by SIGTERM: the grace is longer than the test waits.
func TestNoWayOutLeavesAServerBehind(t *testing.T) {
	bySignal := func(sig syscall.Signal) func(*testing.T, *dying) {
		return func(t *testing.T, d *dying) { d.signal(t, sig) }
	}
	byOrder := func(what string) func(*testing.T, *dying) {
		return func(t *testing.T, d *dying) { d.order(t, what) }
	}
	tests := []struct {
		name  string
		terms int // SIGTERMs that end a worker
		end   func(t *testing.T, d *dying)
		want  string // how the sweep ends
	}{
		{"SIGINT", 1, bySignal(syscall.SIGINT), "exit status 130"},
		{
			// The workers ignore what the first one sends them; the second one
			// kills the sweep, and what they heed is the guard's.
			"SIGINT twice", 2, func(t *testing.T, d *dying) {
				d.signal(t, syscall.SIGINT)
				d.mustSay(t, "interrupted")
				d.signal(t, syscall.SIGINT)
			}, "signal: interrupt",
		},
		{"SIGKILL", 1, bySignal(syscall.SIGKILL), "signal: killed"},
		{"SIGTERM unhandled", 1, bySignal(syscall.SIGTERM), "signal: terminated"},
		{"SIGHUP unhandled", 1, bySignal(syscall.SIGHUP), "signal: hangup"},
		{"SIGQUIT", 1, bySignal(syscall.SIGQUIT), "exit status 2"},
		{"panic", 1, byOrder("panic"), "exit status 2"},
		{"exit", 1, byOrder("exit"), "exit status 7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLobby(t)
			d := startSweep(t, l, family, tt.terms)
			child, grandchild := l.wait(t, "child"), l.wait(t, "grandchild")
			child.mustAnswer(t, "the child")
			grandchild.mustAnswer(t, "the grandchild")
			tt.end(t, d)
			child.mustBeGone(t, "the child")
			grandchild.mustBeGone(t, "the grandchild")
			err := d.cmd.Wait()
			if _, ok := errors.AsType[*exec.ExitError](err); !ok || err.Error() != tt.want {
				t.Errorf("the sweep ends with %v, want %s", err, tt.want)
			}
		})
	}
}
