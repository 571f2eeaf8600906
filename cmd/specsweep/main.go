package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
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
	signals := make(chan os.Signal, 8) // a scheduler sends several at once
	signal.Notify(signals, append(schedulerSignals(), os.Interrupt, syscall.SIGTERM)...)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it, and means it
		signal.Notify(signals, syscall.SIGHUP)
	}
	// A reader of our output that goes away ends the output, not the sweep: the
	// write fails instead of killing us.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer signal.Stop(signals)
		interruptedBy(signals, over, cancel, func() { signal.Reset(os.Interrupt) })
	}()
	code := run(ctx, env{
		stdout: os.Stdout, stderr: os.Stderr,
		stdoutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		stderrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		args:      append([]string{"specsweep"}, os.Args[1:]...),
		width:     terminalWidth(os.Stdout),
		environ:   os.Environ(), lookup: os.LookupEnv, now: time.Now,
	})
	close(over)
	<-done
	return code
}

// interruptedBy cancels at the first signal, until over. The first Ctrl-C calls letKill as
// well: the next one has its default effect and kills. The others never do: schedulers send
// several, one right after the other and to every process of a job.
func interruptedBy(signals <-chan os.Signal, over <-chan struct{}, cancel context.CancelCauseFunc, letKill func()) {
	for {
		select {
		case s := <-signals:
			if s == os.Interrupt {
				letKill() // before anything ends, or a quick second one would be lost
			}
			cancel(errInterrupted)
		case <-over:
			return
		}
	}
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
	// A word that is no command is named before its flags are taken for the root's.
	if args := e.args[1:]; len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		if cmd, _, err := root.Find(args[:1]); err != nil || cmd == root {
			root.InitDefaultCompletionCmd(args...)
			if !slices.Contains([]string{"help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, args[0]) {
				return fail(ctx, &e, usage(unknownCommand(root, args[0])))
			}
		}
	}
	root.SetArgs(e.args[1:])
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	return fail(ctx, &e, root.ExecuteContext(ctx))
}
