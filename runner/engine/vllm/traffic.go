package vllm

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/specsweep/specsweep/runner/engine/internal/promtext"
	"github.com/specsweep/specsweep/runner/specdec"
)

// What a server generated, whether it speculates or not (vllm/v1/metrics/loggers.py).
// The histogram of inter-token latency counts decode steps of single requests, not
// tokens: several tokens of one step are one observation.
const (
	generated        = "generation_tokens_total"
	finished         = "request_success_total"
	decodeSteps      = "inter_token_latency_seconds_count"
	generatedCreated = "generation_tokens_created"
	reasonLabel      = "finished_reason"
)

// traffic is the counters of what a server generated, by label set.
type traffic struct {
	sets map[string]*work
	err  error // why they cannot be read
}

// work is what one label set counted: tokens, requests and decode steps by the
// counter's name. A counter that is not exposed has no entry.
type work struct {
	model   string
	created float64 // unix time at which they began; 0: not told
	counted map[string]int64
}

// readTraffic takes them out of an exposition. What is wrong with them is
// remembered: acceptance does not need them.
func readTraffic(m promtext.Metrics) traffic {
	t := traffic{sets: map[string]*work{}}
	for _, name := range []string{generated, finished, decodeSteps} {
		counts, err := anySpelling(m, name)
		if err != nil {
			return traffic{err: err}
		}
		for _, c := range counts {
			key := promtext.Key(c.Labels, reasonLabel)
			w := t.sets[key]
			if w == nil {
				w = &work{model: c.Labels[modelLabel], counted: map[string]int64{}}
				t.sets[key] = w
			}
			w.counted[name] += c.N
		}
	}
	for _, p := range prefixes {
		for _, c := range m[p+generatedCreated] {
			if w := t.sets[promtext.Key(c.Labels)]; w != nil {
				w.created = c.Value
			}
		}
	}
	return t
}

// anySpelling is the counts of a sample under the first prefix that has it.
func anySpelling(m promtext.Metrics, name string) ([]promtext.Count, error) {
	for _, p := range prefixes {
		if len(m[p+name]) > 0 {
			return m.Counts(p + name)
		}
	}
	return nil, nil
}

func (t traffic) models() []string {
	names := make([]string, 0, len(t.sets))
	for _, w := range t.sets {
		names = append(names, w.model)
	}
	return names
}

// of leaves the label sets of those models.
func (t traffic) of(models []string) traffic {
	left := traffic{sets: maps.Clone(t.sets), err: t.err}
	maps.DeleteFunc(left.sets, func(_ string, w *work) bool { return !slices.Contains(models, w.model) })
	return left
}

// errNotExposed says that a counter is missing altogether.
var errNotExposed = errors.New("is not exposed at /metrics")

// since is how far one counter has moved, summed over the label sets. Each is
// compared by itself, as snapshot.since does.
func (t traffic) since(before traffic, name string) (int64, error) {
	if err := errors.Join(before.err, t.err); err != nil {
		return 0, err
	}
	for _, key := range slices.Sorted(maps.Keys(before.sets)) {
		if t.sets[key] == nil {
			return 0, fmt.Errorf("%w ({%s} is gone)", specdec.ErrCountersFell, key)
		}
	}
	var sum int64
	exposed := false
	for _, key := range slices.Sorted(maps.Keys(t.sets)) {
		w, b := t.sets[key], before.sets[key]
		n, ok := w.counted[name]
		if !ok {
			continue
		}
		exposed = true
		if b == nil {
			b = &work{}
		}
		if b.created != 0 && w.created != 0 && b.created != w.created {
			return 0, fmt.Errorf("%w ({%s} began anew)", specdec.ErrCountersFell, key)
		}
		if n < b.counted[name] {
			return 0, fmt.Errorf("%w (%s%s of {%s} by %d)", specdec.ErrCountersFell, prefixes[0], name, key, b.counted[name]-n)
		}
		sum += n - b.counted[name]
	}
	if !exposed {
		return 0, fmt.Errorf("%s%s %w", prefixes[0], name, errNotExposed)
	}
	return sum, nil
}

// perStep is the tokens of a decode step over a pass:
//
//	(Δgeneration_tokens - Δrequests) / Δinter_token_latency_seconds_count
//
// The first token of each request comes from its prefill and is in no decode step.
// Unlike accept_length it covers the steps without a draft as well.
func (t traffic) perStep(before traffic) (float64, error) {
	var counts [3]int64
	for i, name := range []string{generated, finished, decodeSteps} {
		n, err := t.since(before, name)
		if err != nil {
			return 0, err
		}
		counts[i] = n
	}
	decoded, steps := counts[0]-counts[1], counts[2]
	switch {
	case steps == 0:
		return 0, errors.New("no decode step was counted in the pass")
	case decoded < 0:
		return 0, fmt.Errorf("the counters contradict each other: %d requests finished, %d tokens generated", counts[1], counts[0])
	}
	return float64(decoded) / float64(steps), nil
}
