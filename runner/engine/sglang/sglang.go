// Package sglang measures SGLang servers. Acceptance comes from the best source
// that a server has, best first:
//
//	request     counts that each answer carries when it is asked for them
//	flush       the average of /server_info, set to zero before the pass
//	counters    differences of the counters at /metrics
//	restart     the average, when the sweep started the server for this pass
//	cumulative  the average as it stands, marked
//
// Which of them were tried in vain, and why, stands beside a number of a weaker
// one. It never restarts a server, and it empties a server's cache only where the
// answers cannot be asked for their counts.
package sglang

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
)

// Engine is an SGLang server as the sweep sees it. Its zero value is ready.
type Engine struct {
	// Wait lets a time pass, or returns the context's error when that ends first.
	// nil: the real time.
	Wait func(context.Context, time.Duration) error
}

var (
	_ engine.Engine   = Engine{}
	_ engine.Resetter = Engine{}
)

// Name is sglang.
func (Engine) Name() string { return "sglang" }

// Describe takes version and speculative settings from the server's info.
func (Engine) Describe(ctx context.Context, c *openai.Client) (engine.Description, error) {
	i, err := fetch(ctx, c)
	if err != nil {
		return engine.Description{}, err
	}
	d := engine.Description{Spec: map[string]string{}}
	d.Version, _ = text(i.server["version"])
	for _, key := range []string{keyAlgorithm, keyDraftModel, keyNumSteps, keyTopK, keyNumDraftTokens} {
		if v := scalar(i.setting(key)); v != "" {
			d.Spec[key] = v
		}
	}
	return d, nil
}

// fetch reads GET /server_info, which versions before 0.5.6 and routers call
// /get_server_info.
func fetch(ctx context.Context, c *openai.Client) (info, error) {
	path := "/server_info"
	body, err := engine.Fetch(ctx, c, path, "")
	var status *openai.HTTPError
	if errors.As(err, &status) && status.Status == http.StatusNotFound {
		path = "/get_server_info"
		body, err = engine.Fetch(ctx, c, path, "")
	}
	if err != nil {
		return info{}, err
	}
	i, err := parse(body)
	if err != nil {
		return info{}, fmt.Errorf("GET %s%s: %w", c.URL(), path, err)
	}
	return i, nil
}
