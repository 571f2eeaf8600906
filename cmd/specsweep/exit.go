package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// exitCode is what the program says to its caller. The list stands in the help
// of run as well; codes are never renumbered.
type exitCode int

const (
	exitOK          exitCode = 0   // everything ok
	exitFailed      exitCode = 1   // every run failed, or the work could not start
	exitUsage       exitCode = 2   // flags or plan invalid; nothing was started or written
	exitSomeFailed  exitCode = 3   // some runs failed
	exitMissed      exitCode = 4   // a threshold or --fail-on missed
	exitInterrupted exitCode = 130 // Ctrl-C or SIGTERM; finished rows are kept
)

const exitCodesHelp = `Exit codes:
  0    all runs ok
  1    every run failed, or could not start
  2    usage or plan invalid; nothing was started or written
  3    some runs failed
  4    a threshold or --fail-on missed
  130  interrupted; finished rows are kept
`

// codeError is an error with its exit code. With a nil err there is nothing
// left to say: the command has said it.
type codeError struct {
	code exitCode
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// usage marks an error of the command line or the plan.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &codeError{exitUsage, err}
}

// fail prints what went wrong, once, and turns it into the exit code.
func fail(ctx context.Context, e *env, err error) exitCode {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errInterrupted) || errors.Is(context.Cause(ctx), errInterrupted) {
		// What else went wrong stands beside it, such as tables that could not be
		// written.
		for line := range strings.Lines(clean(err.Error())) {
			fmt.Fprintln(e.stderr, "specsweep: "+strings.TrimSuffix(line, "\n"))
		}
		return exitInterrupted
	}
	var coded *codeError
	if !errors.As(err, &coded) {
		coded = &codeError{exitFailed, err}
	}
	if coded.err != nil {
		text := clean(err.Error())
		if strings.Contains(text, "\n") {
			fmt.Fprintln(e.stderr, text) // problems of a plan: each line names its place
		} else {
			fmt.Fprintln(e.stderr, "specsweep: "+text)
		}
	}
	return coded.code
}

// clean drops control characters but line breaks, and those that turn the reading
// direction: error texts may hold what a server answered, and no escape sequence of
// its reaches the screen.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r // a byte that is no UTF-8, such as an 8-bit control, comes as U+FFFD
	}, s)
}
