package vllm

import (
	"context"
	"fmt"
	"strconv"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/internal/promtext"
	"github.com/specsweep/specsweep/runner/openai"
)

// The names of vLLM's samples, without their prefix (vllm/v1/spec_decode/metrics.py).
// Each counter has a gauge …_created beside it, a unix time, which is why names
// are compared whole.
const (
	drafts        = "spec_decode_num_drafts_total"
	draftTokens   = "spec_decode_num_draft_tokens_total" //nolint:gosec // tokens are text here
	accepted      = "spec_decode_num_accepted_tokens_total"
	perPos        = "spec_decode_num_accepted_tokens_per_pos_total"
	created       = "spec_decode_num_drafts_created"
	modelLabel    = "model_name"
	positionLabel = "position"
)

// prefixes are the spellings of vLLM's names: a colon, which OpenMetrics
// expositions turn into an underscore.
var prefixes = [...]string{"vllm:", "vllm_"}

// scrape reads GET /metrics.
func scrape(ctx context.Context, c *openai.Client) (snapshot, error) {
	body, err := engine.Fetch(ctx, c, "/metrics", promtext.Accept)
	if err != nil {
		return snapshot{}, err
	}
	s, err := read(body)
	if err != nil {
		return snapshot{}, fmt.Errorf("GET %s/metrics: %w", c.URL(), err)
	}
	return s, nil
}

// read takes the spec-decode counters out of an exposition. Counters of which
// some are missing are refused: what is left of them would give wrong ratios.
func read(body []byte) (snapshot, error) {
	m, err := promtext.Parse(body)
	if err != nil {
		return snapshot{}, err
	}
	s := snapshot{vllm: m.HasPrefix(prefixes[:]...), engines: map[string]*series{}, traffic: readTraffic(m)}
	prefix := spelling(m)
	for _, part := range []struct {
		name string
		add  func(*series, int64)
	}{
		{drafts, func(e *series, n int64) { e.Drafts = n }},
		{draftTokens, func(e *series, n int64) { e.DraftTokens = n }},
		{accepted, func(e *series, n int64) { e.Accepted = n }},
	} {
		counts, err := m.Counts(prefix + part.name)
		if err != nil {
			return snapshot{}, err
		}
		for _, c := range counts {
			e := s.at(c.Labels)
			part.add(e, c.N)
			e.found++
		}
	}
	for key, e := range s.engines {
		if e.found != 3 {
			return snapshot{}, fmt.Errorf("metrics unreadable: only %d of the 3 spec-decode counters of {%s} are there", e.found, key)
		}
	}
	for _, c := range m[prefix+created] {
		if e, ok := s.engines[promtext.Key(c.Labels)]; ok {
			e.created = c.Value
		}
	}
	if err := s.readPositions(m, prefix); err != nil {
		return snapshot{}, err
	}
	return s, nil
}

// spelling is the prefix under which the drafts are counted.
func spelling(m promtext.Metrics) string {
	for _, p := range prefixes {
		if len(m[p+drafts]) > 0 {
			return p
		}
	}
	return prefixes[0]
}

// at is the series of a label set, made when there is none yet.
func (s snapshot) at(labels map[string]string) *series {
	key := promtext.Key(labels, positionLabel)
	e, ok := s.engines[key]
	if !ok {
		e = &series{model: labels[modelLabel]}
		s.engines[key] = e
	}
	return e
}

// readPositions adds the counters by position, which are optional but whole:
// 0 to n-1 for each label set.
func (s snapshot) readPositions(m promtext.Metrics, prefix string) error {
	counts, err := m.Counts(prefix + perPos)
	if err != nil {
		return err
	}
	positions := map[string]map[int]int64{}
	for _, c := range counts {
		key := promtext.Key(c.Labels, positionLabel)
		i, err := strconv.Atoi(c.Labels[positionLabel])
		if err != nil {
			return fmt.Errorf("metrics unreadable: %s has position %q", prefix+perPos, c.Labels[positionLabel])
		}
		if positions[key] == nil {
			positions[key] = map[int]int64{}
		}
		positions[key][i] = c.N
	}
	for key, at := range positions {
		e, ok := s.engines[key]
		if !ok {
			return fmt.Errorf("metrics unreadable: {%s} has positions but no drafts", key)
		}
		e.PerPos = make([]int64, len(at))
		for i := range e.PerPos {
			n, ok := at[i]
			if !ok {
				return fmt.Errorf("metrics unreadable: position %d of {%s} is missing", i, key)
			}
			e.PerPos[i] = n
		}
	}
	return nil
}
