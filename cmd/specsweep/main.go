package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

func main() {
	os.Exit(int(realMain()))
}

// realMain gives the program what belongs to the process: signals, streams,
// arguments and environment are named here and nowhere else.
func realMain() exitCode {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-signals:
			cancel(errInterrupted)
			signal.Stop(signals) // the next one has its default effect and kills
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	code := run(ctx, env{
		stdout: os.Stdout, stderr: os.Stderr,
		stdoutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		stderrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		args:      append([]string{"specsweep"}, os.Args[1:]...),
		width:     terminalWidth(os.Stdout),
		environ:   os.Environ(), lookup: os.LookupEnv, now: time.Now,
	})
	cancel(nil)
	<-done
	return code
}

func terminalWidth(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0 // not a terminal
	}
	return width
}

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// env is the process as commands see it.
type env struct {
	stdout, stderr       io.Writer
	stdoutTTY, stderrTTY bool
	args                 []string // as typed, the program's name first
	width                int      // of the terminal that stdout is, 0: none
	environ              []string
	lookup               func(string) (string, bool)
	now                  func() time.Time
}

// run is the program without its process: it parses the arguments, does the command and
// returns the exit code.
func run(ctx context.Context, e env) exitCode {
	root := newRootCmd(&e)
	root.SetArgs(e.args[1:])
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	return fail(ctx, &e, root.ExecuteContext(ctx))
}
