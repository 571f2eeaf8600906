// Package serve starts a server as a child process, waits until it is ready and
// ends it with everything that it started.
//
// However a sweep ends (Stop, a cancelled context, a failed start, even the
// death of this program), the server's whole process group ends with it: a
// forgotten inference server keeps its GPU memory and spoils the next
// measurement. The package knows nothing of plans, engines or HTTP: readiness
// is a function that the caller passes in. It does not restart by itself; a
// restart is Stop and Start. Processes that leave the group (setsid, job control) are
// followed on Linux, by a variable in their environment, unless they clear it; those
// that a daemon starts (containers) are not. The command must stay in the
// foreground: a server whose first process exits counts as exited.
package serve

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/specsweep/specsweep/runner/secret"
)

// DefaultStopGrace is the time between the request to end and the kill when
// Options.StopGrace is zero.
const DefaultStopGrace = 10 * time.Second

// Options says what to start and when it counts as ready.
type Options struct {
	Name    string            // names the server in errors
	Command []string          // program and arguments, no shell; a relative path with a separator is relative to Dir
	Env     map[string]string // added to Environ, and wins over it
	Environ []string          // base environment as "KEY=value"; nil: none, not this program's own
	Dir     string            // working folder; empty: this program's

	// LogPath is the file that takes stdout and stderr, byte for byte but for
	// Secrets. Its folder must exist; an existing file is appended to, never truncated.
	LogPath string

	// Secrets are replaced in the log and in every error of Start, which people show
	// to others. nil: there are none.
	Secrets *secret.Redactor

	// Ready blocks until the server can be used, and then returns nil, or
	// until ctx ends or waiting longer is in vain. Start waits for it to
	// return, so it must honour ctx. nil: ready as soon as it is started.
	Ready func(ctx context.Context) error

	ReadyTimeout time.Duration // bounds Ready; zero: only the context does
	StopGrace    time.Duration // from SIGTERM to SIGKILL; zero: DefaultStopGrace
}

func (o *Options) validate() error {
	switch {
	case len(o.Command) == 0 || o.Command[0] == "":
		return errors.New("the command is empty")
	case o.LogPath == "":
		return errors.New("no log file is named for its output")
	}
	return nil
}

func (o *Options) stopGrace() time.Duration {
	if o.StopGrace <= 0 {
		return DefaultStopGrace
	}
	return o.StopGrace
}

// environ is Environ and then Env; of two entries with one name os/exec takes
// the last. Never nil, which os/exec would read as this program's environment.
func (o *Options) environ() []string {
	env := append([]string{}, o.Environ...)
	for _, k := range slices.Sorted(maps.Keys(o.Env)) {
		env = append(env, k+"="+o.Env[k])
	}
	return env
}
