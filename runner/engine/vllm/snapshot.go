package vllm

import (
	"fmt"
	"maps"
	"slices"

	"github.com/specsweep/specsweep/runner/specdec"
)

// snapshot is one scrape: the counters of each label set (an engine of a
// data-parallel server, a model) by its key.
type snapshot struct {
	vllm    bool // there are series of vLLM, of whatever kind
	engines map[string]*series
	traffic traffic
}

// series is the counters of one label set.
type series struct {
	specdec.Counters
	model   string
	created float64 // unix time at which they began; 0: not told
	found   int     // how many of drafts, draftTokens and accepted are there
}

// models is the model of each label set.
func (s snapshot) models() []string {
	var names []string
	for _, e := range s.engines {
		names = append(names, e.model)
	}
	return names
}

// of leaves the label sets of those models.
func (s snapshot) of(models []string) snapshot {
	left := snapshot{vllm: s.vllm, engines: maps.Clone(s.engines)}
	maps.DeleteFunc(left.engines, func(_ string, e *series) bool { return !slices.Contains(models, e.model) })
	return left
}

// total is all label sets together.
func (s snapshot) total() specdec.Counters {
	var sum specdec.Counters
	for _, e := range s.engines {
		sum = sum.Add(e.Counters)
	}
	return sum
}

// since is what was counted between two scrapes. Each label set is compared by
// itself: one engine's restart must not hide behind what another counted. A label
// set that was not there counts from zero.
func (s snapshot) since(before snapshot) (specdec.Counters, error) {
	for key := range before.engines {
		if s.engines[key] == nil {
			return specdec.Counters{}, fmt.Errorf("%w ({%s} is gone)", specdec.ErrCountersFell, key)
		}
	}
	var sum specdec.Counters
	for key, e := range s.engines {
		b := before.engines[key]
		if b == nil {
			b = &series{}
		}
		if b.created != 0 && e.created != 0 && b.created != e.created {
			return specdec.Counters{}, fmt.Errorf("%w ({%s} began anew)", specdec.ErrCountersFell, key)
		}
		d, err := e.Sub(b.Counters)
		if err != nil {
			return specdec.Counters{}, fmt.Errorf("%w of {%s}", err, key)
		}
		sum = sum.Add(d)
	}
	return sum, nil
}
