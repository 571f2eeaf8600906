package vllm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/internal/promtext"
	"github.com/specsweep/specsweep/runner/openai"
)

var (
	_ engine.Salter       = Engine{}
	_ engine.Resetter     = Engine{}
	_ engine.CacheCounter = Engine{}
)

// Tokens looked up in the prefix cache and found there. The ones of an external
// cache have names of their own.
const (
	cacheQueries = "prefix_cache_queries_total"
	cacheHits    = "prefix_cache_hits_total"
)

const (
	resetPath  = "/reset_prefix_cache"
	resetTries = 20 // with resetPause in between: two seconds
	resetPause = 100 * time.Millisecond
)

// Salt sets cache_salt, which vLLM hashes into the first block of the prompt.
func (Engine) Salt(b *openai.Body, salt string) {
	b.Set("cache_salt", salt)
}

// Reset empties the prefix cache with POST /reset_prefix_cache, which exists in
// developer mode only. While requests hold blocks the server answers 200 with
// success false; it is then asked again for two seconds.
func (e Engine) Reset(ctx context.Context, c *openai.Client) error {
	pause := e.pause
	if pause == 0 {
		pause = resetPause
	}
	for try := 1; ; try++ {
		done, err := reset(ctx, c)
		if err != nil {
			return fmt.Errorf("emptying the prefix cache of %s: %w", c.URL(), err)
		}
		if done {
			return nil
		}
		if try == resetTries {
			return fmt.Errorf("emptying the prefix cache of %s: POST %s: success: false in %d tries: requests hold its blocks",
				c.URL(), resetPath, try)
		}
		if err := openai.Sleep(ctx, pause); err != nil {
			return fmt.Errorf("emptying the prefix cache of %s: %w", c.URL(), err)
		}
	}
}

// reset asks once and tells whether the server has done it.
func reset(ctx context.Context, c *openai.Client) (bool, error) {
	reply, err := c.Post(ctx, resetPath, nil)
	if err != nil {
		return false, err
	}
	if reply.Status == http.StatusNotFound {
		return false, fmt.Errorf("POST %s: %w: the route exists in developer mode only: start the server with VLLM_SERVER_DEV_MODE=1",
			resetPath, reply.Err())
	}
	if err := reply.Err(); err != nil {
		return false, fmt.Errorf("POST %s: %w", resetPath, err)
	}
	var answer struct {
		Success *bool `json:"success"`
	}
	if err := json.Unmarshal(reply.Body, &answer); err != nil || answer.Success == nil {
		return false, fmt.Errorf("POST %s: %w", resetPath, errUnconfirmed)
	}
	return *answer.Success, nil
}

// errUnconfirmed is a 200 that does not say what has happened, as older versions
// give it.
var errUnconfirmed = errors.New("the server does not say whether its cache is empty now")

// CacheCounts reads both counters at /metrics, summed over engines and models.
func (Engine) CacheCounts(ctx context.Context, c *openai.Client) (engine.CacheCounts, error) {
	body, err := engine.Fetch(ctx, c, "/metrics", promtext.Accept)
	if err != nil {
		return engine.CacheCounts{}, err
	}
	m, err := promtext.Parse(body)
	if err != nil {
		return engine.CacheCounts{}, fmt.Errorf("GET %s/metrics: %w", c.URL(), err)
	}
	var sum engine.CacheCounts
	for name, to := range map[string]*int64{cacheQueries: &sum.Queried, cacheHits: &sum.Hits} {
		counts, err := anySpelling(m, name)
		if err == nil && len(counts) == 0 {
			err = fmt.Errorf("%s%s %w", prefixes[0], name, errNotExposed)
		}
		if err != nil {
			return engine.CacheCounts{}, fmt.Errorf("GET %s/metrics: %w", c.URL(), err)
		}
		for _, n := range counts {
			*to += n.N
		}
	}
	return sum, nil
}
