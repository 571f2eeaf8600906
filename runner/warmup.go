package runner

import (
	"context"
	"fmt"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset"
	"github.com/specsweep/specsweep/runner/load"
)

// warmUp sends the requests of warmup_prompts before a server's first pass at a
// concurrency since it was started: the first prompts of the dataset that comes,
// going round. Nothing of them is counted; failures are logged and mark the passes at
// that concurrency. Its error is that the context or the server ended.
func (s *sweep) warmUp(ctx context.Context, srv *server, run *plan.Run, prompts []dataset.Prompt) error {
	n := s.Plan.Warmup(run.Concurrency)
	if n == 0 || srv.warm[run.Concurrency] {
		return nil
	}
	body := s.body(srv, run)
	if s.Plan.PrefixCache == plan.PrefixCacheCold {
		salt(srv.engine, &body) // where that cannot be, the pass says so
	}
	first, err := encode(body, prompts[:min(n, len(prompts))])
	if err != nil {
		return err
	}
	bodies := make([][]byte, n)
	for i := range bodies {
		bodies[i] = first[i%len(first)]
	}
	srv.log.Debug("warming up", "dataset", run.Dataset.Name, "concurrency", run.Concurrency, "requests", n)
	living, stop := srv.whileAlive(ctx)
	defer stop()
	done, err := load.Run(living, srv.client, bodies, load.Options{Concurrency: run.Concurrency})
	if err != nil {
		return fmt.Errorf("warming up: %w", err)
	}
	if done.Failed > 0 {
		srv.unwarmed[run.Concurrency] = fmt.Sprintf("%d of %d requests of the warm-up failed%s", done.Failed, n, because(&done))
	}
	for _, f := range done.Failures {
		srv.log.Warn("requests of the warm-up failed", "dataset", run.Dataset.Name, "concurrency", run.Concurrency,
			"count", f.Count, "error", f.Example)
	}
	srv.warm[run.Concurrency] = true
	srv.warmups += n
	return nil
}
