package engine

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/specsweep/specsweep/runner/openai"
)

// PreflightOptions is what Preflight should wait for.
type PreflightOptions struct {
	Name  string        // of the server in the plan, for the log
	Model string        // that must be served; empty: the only one that is
	Wait  time.Duration // for a server that is not ready; 0: it is asked once
	Poll  time.Duration // first pause between two tries, growing to maxPoll; 0: 500 ms
	Log   *slog.Logger  // nil: silent
}

// Preflight waits until the server answers GET /health and lists a model at
// /v1/models, checks that the wanted model is one of them, and asks the engine for
// a description. It sends no prompt. A server that is starting (connection
// refused, 503, an empty list) is waited for; one that refuses the key, has a
// certificate that is not trusted or does not serve the model is an error at
// once. Not being able to describe the server is a note, no error.
func Preflight(ctx context.Context, e Engine, c *openai.Client, o PreflightOptions) (Description, error) {
	models, err := waitReady(ctx, c, o)
	if err != nil {
		return Description{}, err
	}
	model, err := models.pick(o.Model, c.URL())
	if err != nil {
		return Description{}, err
	}
	d, err := e.Describe(ctx, c)
	if ctx.Err() != nil {
		return Description{}, context.Cause(ctx)
	}
	if err != nil {
		d.Notes = append(d.Notes, fmt.Sprintf("version and speculative settings unknown: %v", err))
	}
	d.Models, d.Model = models.ids, model
	if models.unlisted != "" {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: not checked whether model %q is served", models.unlisted, model))
	}
	return d, nil
}
