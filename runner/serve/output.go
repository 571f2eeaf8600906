package serve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/specsweep/specsweep/runner/secret"
)

// drainTime is how long the rest of the output is waited for after the group has
// ended. Only a process that has left the group can hold the pipe open then.
const drainTime = time.Second

// output takes what a server prints to its log. Without secrets the server writes to
// the file itself, and can do so after the death of this program. With secrets it
// writes to a pipe that a goroutine empties, however slow or full the disk is: when
// the log cannot be written, the server is not held up, and the log's reader is told.
//
// os/exec would make such a pipe too, but its Wait then waits for the grandchildren
// that hold it, and those are ended only after the first process is known to be gone.
type output struct {
	server *os.File // the server's end
	pipe   *os.File // our end; nil: server is the log itself
	log    *os.File
	done   chan struct{} // closed when the pipe is empty, after err is set
	err    error         // why the log is not whole
}

// newOutput owns the log from now on.
func newOutput(log *os.File, secrets *secret.Redactor) (*output, error) {
	o := &output{server: log, log: log, done: make(chan struct{})}
	if secrets.Empty() {
		close(o.done)
		return o, nil
	}
	pipe, server, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making the pipe for its log: %w", err), log.Close())
	}
	o.pipe, o.server = pipe, server
	go o.copy(secrets)
	return o, nil
}

func (o *output) copy(secrets *secret.Redactor) {
	defer close(o.done)
	w := secret.NewWriter(o.log, secrets)
	_, err := io.Copy(w, o.pipe)
	if err != nil && !errors.Is(err, os.ErrClosed) {
		o.err = err
		_, _ = io.Copy(io.Discard, o.pipe) // a full pipe would stop the server
	}
	if err := errors.Join(w.Close(), o.log.Close()); err != nil && o.err == nil {
		o.err = err
	}
}

// started lets go of the server's end, which the server has its own handle of.
func (o *output) started() { _ = o.server.Close() }

// drain waits for the rest. Nothing of the group runs any more.
func (o *output) drain() {
	if o.pipe == nil {
		return
	}
	late := time.NewTimer(drainTime)
	defer late.Stop()
	select {
	case <-o.done:
		_ = o.pipe.Close()
	case <-late.C:
		_ = o.pipe.Close() // ends the read
		<-o.done
	}
}
