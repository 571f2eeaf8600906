package serve

import (
	"context"
	"errors"
	"fmt"
)

// Start starts a server in a process group of its own and returns when
// Options.Ready says that it can be used. ctx bounds the server's whole life,
// not only the start: when it ends, the group is ended as by Stop.
//
// When the server exits first, Ready fails, or ReadyTimeout passes, everything
// is stopped, and the error says which it was, with the exit status (an
// *exec.ExitError), and the name and the last lines of the log. The lines are
// the server's own words, without Options.Secrets.
func Start(ctx context.Context, o Options) (*Process, error) {
	p, err := start(ctx, o)
	return p, o.Secrets.Error(err)
}

func start(ctx context.Context, o Options) (*Process, error) {
	p, err := launch(ctx, &o)
	if err != nil {
		return nil, fmt.Errorf("starting server %s: %w", o.Name, err)
	}
	err = p.await(ctx, &o)
	if err == nil {
		return p, nil
	}
	stopErr := p.Stop() // before the log is read: the last words come last
	if ctx.Err() != nil {
		return nil, errors.Join(fmt.Errorf("starting server %s: %w", o.Name, ctx.Err()), stopErr)
	}
	return nil, errors.Join(fmt.Errorf("%w; %s", err, p.quote()), stopErr)
}

// quote is the end of an error message. Everything has been stopped.
func (p *Process) quote() string {
	quote := p.log.quote()
	select {
	case <-p.out.done:
		if p.out.err != nil {
			quote = fmt.Sprintf("its log could not be written to the end (%v); %s", p.out.err, quote)
		}
	default: // something of it still runs, as the error says
	}
	return quote
}

// await returns nil when the server is ready and still runs. Ready has returned
// when it does.
func (p *Process) await(ctx context.Context, o *Options) error {
	ready := o.Ready
	if ready == nil {
		ready = func(context.Context) error { return nil }
	}
	var cancel context.CancelFunc
	if o.ReadyTimeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, o.ReadyTimeout)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- ready(ctx) }()

	var err error
	select {
	case err = <-result:
	case <-p.exited:
		cancel()
		err = <-result
	}
	select {
	case <-p.exited:
		// Also when Ready is content: then it was another server that answered,
		// on a port that ours could not have.
		return p.exitedEarly()
	default:
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("server %s was not ready after %s: %w", p.name, o.ReadyTimeout, err)
	}
	return fmt.Errorf("server %s did not become ready: %w", p.name, err)
}

func (p *Process) exitedEarly() error {
	if p.err == nil {
		return fmt.Errorf("server %s exited before it was ready (exit status 0: the command must stay in the foreground)", p.name)
	}
	return fmt.Errorf("server %s exited before it was ready: %w", p.name, p.err)
}
