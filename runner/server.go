package runner

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
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

	client   *openai.Client
	process  *serve.Process
	port     int
	starts   int            // of the process, for the names of its logs
	passes   int            // since the last start
	dataset  string         // of the last pass
	warm     map[int]bool   // the concurrencies that it has been warmed up at since the last start
	unwarmed map[int]string // what went wrong with that
	warmups  int            // requests of warm-ups since the last start

	found func() error // told of each start that preflight is content with; its error is final
	desc  engine.Description
	err   error // why it cannot be measured; final
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
		warm: map[int]bool{}, unwarmed: map[int]string{},
	}, nil
}

// connect makes the client. The key and the files of tls are read here, once, and
// never kept anywhere else.
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
		KeepText:   keepsText(s.opts),
		TLS:        trust(s.plan),
		Proxy:      s.plan.Proxy,
	})
	if err != nil {
		return err
	}
	s.client = client
	return nil
}

// keepsText tells whether answers' texts are needed: to be saved, and where a streamed
// answer has no body, to be compared or to be sent back as a turn.
func keepsText(o *Options) bool {
	if o.Plan.SaveOutputs || !o.Plan.Stream {
		return o.Plan.SaveOutputs
	}
	return slices.ContainsFunc(o.Runs, func(r plan.Run) bool {
		return r.Temperature == 0 && r.Server.Baseline != nil || r.Dataset.Turns == plan.TurnsAll
	})
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

func (s *server) record() ServerRecord {
	desc := s.desc
	if text := unverified(s.plan); text != "" {
		desc.Notes = append(slices.Clip(desc.Notes), text)
	}
	return ServerRecord{Server: s.name, Baseline: s.baseline, Endpoint: s.plan, Description: desc, Err: s.err}
}
