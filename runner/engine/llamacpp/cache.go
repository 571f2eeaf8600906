package llamacpp

import (
	"context"
	"fmt"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
)

var (
	_ engine.Salter       = Engine{}
	_ engine.CacheCounter = Engine{}
)

// Salt sets cache_prompt to false: llama-server has no salts, but a request can
// decline all that its slot has cached, whatever the salt.
func (Engine) Salt(b *openai.Body, _ string) {
	b.Set("cache_prompt", false)
}

// CacheCounts reads the prompt tokens that were computed and those that were
// cached at /metrics.
func (Engine) CacheCounts(ctx context.Context, c *openai.Client) (engine.CacheCounts, error) {
	m, err := fetch(ctx, c)
	if err != nil {
		return engine.CacheCounts{}, err
	}
	var computed, cached int64
	for name, to := range map[string]*int64{promptTokens: &computed, cachedTokens: &cached} {
		n, err := one(m, name)
		if err == nil && n == nil {
			err = fmt.Errorf("%s is not exposed", name)
		}
		if err != nil {
			return engine.CacheCounts{}, fmt.Errorf("GET %s/metrics: %w", c.URL(), err)
		}
		*to = *n
	}
	return engine.CacheCounts{Queried: computed + cached, Hits: cached}, nil
}
