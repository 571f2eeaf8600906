package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/serve"
)

// server is one endpoint during a sweep: its client, its process when the plan
// launches it, and what preflight found.
type server struct {
	name     string
	baseline bool
	plan     *plan.Endpoint
	engine   engine.Engine
	opts     *Options
	conns    int
	log      *slog.Logger

	client  *openai.Client
	process *serve.Process
	port    int
	starts  int          // of the process, for the names of its logs
	passes  int          // since the last start
	dataset string       // of the last pass
	warm    map[int]bool // the concurrencies that it has been warmed up at since the last start
	warmups int          // requests of warm-ups since the last start

	desc engine.Description
	err  error // why it cannot be measured; final
}

func newServer(e endpoint, conns int, o *Options) (*server, error) {
	eng, err := o.Engines.Get(e.plan.Engine)
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", e.name, err)
	}
	role := "server"
	if e.baseline {
		role = "baseline_server"
	}
	return &server{
		name: e.name, baseline: e.baseline, plan: e.plan, engine: eng,
		opts: o, conns: conns, log: o.Log.With(role, e.name),
	}, nil
}

// connect makes the client. The key is read here, once, and never kept anywhere
// else.
func (s *server) connect() error {
	key, err := apiKey(s.plan, s.opts.LookupEnv)
	if err != nil {
		return err
	}
	client, err := openai.New(openai.Options{
		URL:        serve.Expand(s.plan.URL, s.port),
		Headers:    s.plan.Headers,
		APIKey:     key,
		Timeout:    s.opts.Plan.Timeout,
		MaxRetries: s.opts.Plan.MaxRetries,
		MaxConns:   s.conns,
	})
	if err != nil {
		return err
	}
	s.client = client
	return nil
}

// apiKey is the endpoint's key without blanks around it. An unset or empty
// variable means no key: many servers need none.
func apiKey(e *plan.Endpoint, lookup func(string) (string, bool)) (string, error) {
	switch {
	case e.APIKeyEnv != "":
		key, _ := lookup(e.APIKeyEnv)
		return strings.TrimSpace(key), nil
	case e.APIKeyFile != "":
		b, err := os.ReadFile(e.APIKeyFile)
		if err != nil {
			return "", fmt.Errorf("reading api_key_file: %w", err)
		}
		return strings.TrimSpace(string(b)), nil
	}
	return "", nil
}

// preflight waits for the server and records what it is. Its failure is final
// for the sweep: each run on the server becomes an error row at once.
func (s *server) preflight(ctx context.Context, o engine.PreflightOptions) error {
	o.Model, o.Name = s.plan.Model, s.name
	desc, err := engine.Preflight(ctx, s.engine, s.client, o)
	if err != nil {
		return err
	}
	s.desc = desc
	return nil
}

// attach readies a server that runs already.
func (s *server) attach(ctx context.Context, wait time.Duration) {
	err := s.connect()
	if err == nil {
		err = s.preflight(ctx, engine.PreflightOptions{Wait: wait, Log: s.log})
	}
	s.err = err
}

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
	if reply, err := s.client.Get(ctx, "/health"); err == nil {
		return fmt.Errorf("something answers at %s already (HTTP %d): stop it, or put {port} into the URL and the command of %s",
			s.client.URL(), reply.Status, s.name)
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
	s.passes, s.warm, s.warmups = 0, nil, 0
	// Not the command itself: what ${} has put into it may be a key.
	s.log.Info("starting server", "log", s.logPath())
	p, err := serve.Start(ctx, serve.Options{
		Name: s.name, Command: command, Env: env, Dir: s.opts.Plan.Dir,
		LogPath: s.logPath(), Environ: s.opts.Environ,
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

func (s *server) record() ServerRecord {
	return ServerRecord{Server: s.name, Baseline: s.baseline, Endpoint: s.plan, Description: s.desc, Err: s.err}
}

// prepare readies the servers before the first pass: those that run already all
// at once, since waiting for one should not delay the news of another; launched
// ones one after the other (two that size their memory at the same moment
// disturb each other), and only when all are to be alive together.
func (s *sweep) prepare(ctx context.Context) {
	var wg sync.WaitGroup
	for _, srv := range s.servers {
		if srv.plan.Launch == nil {
			wg.Go(func() { srv.attach(ctx, s.Plan.ServerWait) })
		}
	}
	wg.Wait()
	for _, srv := range s.servers {
		switch {
		case srv.plan.Launch == nil:
			if ctx.Err() == nil {
				s.Sink.Probed(srv.record())
			}
		case s.Plan.Order != plan.OrderByServer && ctx.Err() == nil && s.needed(srv):
			_ = srv.start(ctx) // kept in srv.err: the server's runs become error rows
		}
	}
}

// needed tells whether any pass of a server has prompts to send.
func (s *sweep) needed(srv *server) bool {
	for _, st := range s.schedule.steps {
		if s.servers[st.endpoint] == srv && s.prompts.failed(s.Runs[st.runs[0]].Dataset) == nil {
			return true
		}
	}
	return false
}

// stopOthers ends every launched server but one.
func (s *sweep) stopOthers(keep *server) {
	for _, srv := range s.servers {
		if srv == keep {
			continue
		}
		if err := srv.stop(); err != nil {
			s.Log.Warn("a launched server did not stop cleanly", "error", err)
		}
	}
}

// close ends every launched server and every idle connection.
func (s *sweep) close() error {
	var errs []error
	for _, srv := range s.servers {
		errs = append(errs, srv.stop())
		if srv.client != nil {
			srv.client.Close()
		}
	}
	return errors.Join(errs...)
}
