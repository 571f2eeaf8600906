package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/serve"
)

// ensure readies the server for a pass over a dataset: launched ones are started
// when they do not run and restarted as launch.restart says.
func (s *server) ensure(ctx context.Context, dataset string) error {
	if s.err != nil || s.plan.Launch == nil {
		return s.err
	}
	switch l := s.plan.Launch; {
	case s.process == nil:
		return s.start(ctx)
	case l.Restart == plan.RestartPerRun && s.passes > 0,
		l.Restart == plan.RestartPerDataset && s.passes > 0 && s.dataset != dataset:
		if err := s.stop(); err != nil {
			return err
		}
		return s.start(ctx)
	}
	return s.alive()
}

// alive is an error when a launched server's process has ended by itself.
func (s *server) alive() error {
	if s.process == nil {
		return nil
	}
	select {
	case <-s.process.Exited():
		return fmt.Errorf("launched server %s ended by itself (%w); its log is %s",
			s.name, exitError(s.process.Err()), s.logPath())
	default:
		return nil
	}
}

// whileAlive is a context that also ends when a launched server's process does:
// a pass on a dead server is only waiting. stop ends the watch.
func (s *server) whileAlive(ctx context.Context) (living context.Context, stop func()) {
	if s.process == nil {
		return ctx, func() {}
	}
	living, cancel := context.WithCancelCause(ctx)
	exited := s.process.Exited()
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-exited:
			cancel(s.alive())
		case <-living.Done():
		}
	}()
	return living, func() {
		cancel(nil)
		<-done
	}
}

func exitError(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// start launches the process and waits until preflight is content with it. What
// went wrong is final for the sweep, except for an interrupt.
func (s *server) start(ctx context.Context) error {
	err := s.launch(ctx)
	if err == nil {
		err = s.found()
	}
	if ctx.Err() == nil {
		s.err = err
	}
	s.opts.Sink.Probed(s.record())
	return err
}

// launchPoll is the first pause between two looks at a server that was just
// started.
const launchPoll = 50 * time.Millisecond

// readyGrace is how much longer than preflight's own wait a start may take.
const readyGrace = 10 * time.Second

func (s *server) launch(ctx context.Context) error {
	if s.port == 0 {
		port, err := serve.FreePort()
		if err != nil {
			return fmt.Errorf("looking for a free port for %s: %w", s.name, err)
		}
		s.port = port
	}
	if err := s.connect(); err != nil {
		return err
	}
	// A server that is there already would be taken for ours, whose own start then
	// fails unnoticed, and its numbers for ours.
	if reply, err := s.client.Get(ctx, "/health"); occupied(s.plan, reply.Status, err) {
		what := fmt.Sprintf("HTTP %d", reply.Status)
		if err != nil {
			what = err.Error()
		}
		return fmt.Errorf("something answers at %s already (%s): stop it, or put {port} into the URL and the command of %s",
			s.client.URL(), what, s.name)
	}
	l := s.plan.Launch
	command := make([]string, len(l.Command))
	for i, word := range l.Command {
		command[i] = serve.Expand(word, s.port)
	}
	env := map[string]string{}
	for k, v := range l.Env {
		env[k] = serve.Expand(v, s.port)
	}
	s.starts++
	s.passes, s.warm, s.unwarmed, s.warmups = 0, map[int]bool{}, map[int]string{}, 0
	// Not the command itself: what ${} has put into it may be a key.
	s.log.Info("starting server", "log", s.logPath())
	p, err := serve.Start(ctx, serve.Options{
		Name: s.name, Command: command, Env: env, Dir: s.opts.Plan.Dir,
		LogPath: s.logPath(), Environ: s.opts.Environ, Secrets: s.secrets(),
		// Preflight keeps the time and knows the reason; this only ends one that hangs.
		ReadyTimeout: l.ReadyTimeout + readyGrace,
		Ready: func(ctx context.Context) error {
			// That a server just started is not ready yet is no news: no log.
			return s.preflight(ctx, engine.PreflightOptions{Wait: l.ReadyTimeout, Poll: launchPoll})
		},
	})
	if err != nil {
		return err
	}
	s.process = p
	return nil
}

// logPath is the log of the current start: one file per server and start.
func (s *server) logPath() string {
	name := safeName(s.name)
	if s.baseline {
		name += "-baseline"
	}
	return filepath.Join(s.opts.LogDir, fmt.Sprintf("%s-%d.log", name, s.starts))
}

// safeName makes a server's name the name of a file: nothing that leaves the
// folder, not too long, and different for different names.
func safeName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, name)
	const longest = 64
	if safe != name || len(safe) > longest {
		sum := sha256.Sum256([]byte(name))
		safe = safe[:min(len(safe), longest)] + "-" + hex.EncodeToString(sum[:4])
	}
	return "server-" + safe
}

func (s *server) stop() error {
	if s.process == nil {
		return nil
	}
	p := s.process
	s.process = nil
	s.client.Close()
	if err := p.Stop(); err != nil {
		return fmt.Errorf("stopping server %s: %w", s.name, err)
	}
	s.log.Debug("stopped server")
	return nil
}
