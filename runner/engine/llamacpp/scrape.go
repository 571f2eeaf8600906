package llamacpp

import (
	"context"
	"fmt"
	"strconv"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/internal/promtext"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// The names of llama-server's samples (tools/server/server-context.cpp). They have
// no labels but the position. They are added to when a request finishes, stand at
// 0 without speculation too, and the ones by position come with the first accepted
// token.
const (
	prefix        = "llamacpp:"
	drafts        = prefix + "spec_decode_num_drafts_total"
	draftTokens   = prefix + "spec_decode_num_draft_tokens_total"
	accepted      = prefix + "spec_decode_num_accepted_tokens_total"
	perPos        = prefix + "spec_decode_num_accepted_tokens_per_pos_total"
	predicted     = prefix + "tokens_predicted_total"
	promptTokens  = prefix + "prompt_tokens_total" // without the cached ones
	cachedTokens  = prefix + "prompt_tokens_cached_total"
	positionLabel = "position"
)

// snapshot is one scrape.
type snapshot struct {
	specdec.Counters
	predicted *int64 // generated tokens; nil: not exposed
}

func fetch(ctx context.Context, c *openai.Client) (promtext.Metrics, error) {
	body, err := engine.Fetch(ctx, c, "/metrics", promtext.Accept)
	if err != nil {
		return nil, err
	}
	m, err := promtext.Parse(body)
	if err != nil {
		return nil, fmt.Errorf("GET %s/metrics: %w", c.URL(), err)
	}
	return m, nil
}

// scrape reads GET /metrics. Without all three spec-decode counters it is an
// error: what is left of them would give wrong ratios.
func scrape(ctx context.Context, c *openai.Client) (snapshot, error) {
	m, err := fetch(ctx, c)
	if err != nil {
		return snapshot{}, err
	}
	s, err := read(m)
	if err != nil {
		return snapshot{}, fmt.Errorf("GET %s/metrics: %w", c.URL(), err)
	}
	return s, nil
}

func read(m promtext.Metrics) (snapshot, error) {
	var s snapshot
	for _, part := range []struct {
		name string
		to   *int64
	}{{drafts, &s.Drafts}, {draftTokens, &s.DraftTokens}, {accepted, &s.Accepted}} {
		n, err := one(m, part.name)
		if err != nil {
			return snapshot{}, err
		}
		if n == nil {
			return snapshot{}, fmt.Errorf("%s is not there: this build of llama-server counts no drafts, or it is none", part.name)
		}
		*part.to = *n
	}
	var err error
	if s.PerPos, err = positions(m); err != nil {
		return snapshot{}, err
	}
	s.predicted, err = one(m, predicted)
	return s, err
}

// one is a counter's only value, nil when it is not exposed.
func one(m promtext.Metrics, name string) (*int64, error) {
	counts, err := m.Counts(name)
	if err != nil || len(counts) == 0 {
		return nil, err
	}
	if len(counts) > 1 {
		return nil, fmt.Errorf("metrics unreadable: %s has %d label sets: is that several servers?", name, len(counts))
	}
	return &counts[0].N, nil
}

// positions is the accepted tokens by position, 0 to n-1, nil when there are none.
func positions(m promtext.Metrics) ([]int64, error) {
	counts, err := m.Counts(perPos)
	if err != nil || len(counts) == 0 {
		return nil, err
	}
	at := make([]int64, len(counts))
	seen := make([]bool, len(counts))
	for _, c := range counts {
		i, err := strconv.Atoi(c.Labels[positionLabel])
		if err != nil || i < 0 || i >= len(at) || seen[i] {
			return nil, fmt.Errorf("metrics unreadable: %s: position %q among %d", perPos, c.Labels[positionLabel], len(at))
		}
		at[i], seen[i] = c.N, true
	}
	return at, nil
}
