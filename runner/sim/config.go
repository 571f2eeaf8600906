// Package sim runs simulated vLLM, SGLang and llama.cpp servers on real sockets: for the
// demo, for trying plans without a GPU, and for tests. It models continuous
// batching and speculative decoding well enough that throughput changes with
// concurrency and acceptance as on a real server, and every draw can be repeated.
//
// It computes no model, says nothing about the speed of a real one, and knows nothing
// of the rest of specsweep.
package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Config is one simulated server. The zero value is a vLLM server that speculates
// and never has a draft, as one with n-gram speculation that finds no match.
type Config struct {
	Engine string // "vllm" (default), "sglang" or "llamacpp"
	Model  string // the served name; default "sim"

	// Accept is the marginal acceptance rate of each draft position, 0 to 1, as
	// vLLM's per-position counters give it: position i is accepted in a share
	// Accept[i] of the verify steps. A draft is accepted from its start, so the
	// rates must not increase, and accept_length is 1 + Σ.
	Accept []float64
	NoSpec bool // no speculation at all: a baseline; Accept and AcceptFor are ignored

	// AcceptFor is the rates for prompts that contain a word, in place of Accept, so
	// that one server has several acceptances. Of several words that a prompt contains
	// the first in alphabetical order counts. Every draft has as many positions as the
	// longest list of rates; what a shorter list lacks is never accepted.
	AcceptFor map[string][]float64

	// A decode step of the whole batch takes StepTime + StepTimePerRequest × active
	// requests. Both zero: steps take no time, as fast as the machine goes.
	StepTime           time.Duration
	StepTimePerRequest time.Duration
	Latency            time.Duration // before every chat answer, errors of FailRate too
	// PrefillTime passes before a request's first token, beside the decode steps of the
	// others and without slowing them, as with prefill on its own workers.
	PrefillTime time.Duration

	Seed     uint64  // of all draws
	Same     bool    // a prompt draws the same each time it comes, as greedy decoding does
	FailRate float64 // share of chat requests that get a 500, 0 to 1
	DropRate float64 // share of chat answers that break off in the middle of the body or stream, 0 to 1

	// RestartAfter is how many chat requests are generated to their end before the
	// counters start again from zero, once, as a restart makes them; 0: never.
	// Requests in flight survive it.
	RestartAfter int

	APIKey string // when set, requests without it get a 401

	// Version is what the server says it is, and decides what it can do; default
	// "0.32.0" for vLLM, "0.5.23" for SGLang. SGLang's answers carry counts of their
	// drafts when asked from 0.5.14 (return_meta_info) and 0.5.19
	// (return_spec_tokens_details) on.
	Version string
	Metrics bool // SGLang has /metrics (--enable-metrics), llama.cpp too (--metrics); vLLM always has
	DevMode bool // vLLM has /reset_prefix_cache (VLLM_SERVER_DEV_MODE=1)
	// RequestDetails: vLLM's answers carry counts of their drafts, as with
	// --per-request-spec-decode-metrics summary.
	RequestDetails bool
	IdleTimeout    time.Duration // after which an idle connection is closed; default 5 s, as uvicorn has it
}

// Defaults is c with every zero value replaced by what it stands for.
func (c Config) Defaults() Config {
	if c.Engine == "" {
		c.Engine = "vllm"
	}
	if c.Model == "" {
		c.Model = "sim"
	}
	if d, ok := dialects()[c.Engine]; ok && c.Version == "" {
		c.Version = d.version()
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = 5 * time.Second
	}
	return c
}

// AcceptLength is what the rates imply: mean tokens per verify step with the bonus
// token, 1 without speculation.
func (c Config) AcceptLength() float64 {
	length := 1.0
	for _, rate := range c.drafting() {
		length += rate
	}
	return length
}

// drafting is the rates that are in force.
func (c Config) drafting() []float64 {
	if c.NoSpec {
		return nil
	}
	return padded(c.Accept, c.positions())
}

// validate reports every value that cannot be simulated, all at once. It expects
// Defaults to have been applied.
func (c Config) validate() error {
	var errs []error
	if _, ok := dialects()[c.Engine]; !ok {
		have := strings.Join(slices.Sorted(maps.Keys(dialects())), ", ")
		errs = append(errs, fmt.Errorf("engine: unknown engine %q (have %s)", c.Engine, have))
	}
	errs = append(errs, checkRates("accept", c.Accept)...)
	for _, word := range slices.Sorted(maps.Keys(c.AcceptFor)) {
		if word == "" {
			errs = append(errs, errors.New("accept for: the word is empty"))
		}
		errs = append(errs, checkRates("accept for "+word, c.AcceptFor[word])...)
	}
	for _, f := range []struct {
		name string
		rate float64
	}{{"fail rate", c.FailRate}, {"drop rate", c.DropRate}} {
		if err := share(f.rate); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.name, err))
		}
	}
	for _, f := range []struct {
		name string
		d    time.Duration
	}{
		{"step time", c.StepTime}, {"step time per request", c.StepTimePerRequest},
		{"latency", c.Latency}, {"prefill time", c.PrefillTime}, {"idle timeout", c.IdleTimeout},
	} {
		if f.d < 0 {
			errs = append(errs, fmt.Errorf("%s: %v is negative", f.name, f.d))
		}
	}
	if c.RestartAfter < 0 {
		errs = append(errs, fmt.Errorf("restart after: %d is negative", c.RestartAfter))
	}
	return errors.Join(errs...)
}

// share checks a fraction; NaN is none.
func share(rate float64) error {
	if !(rate >= 0 && rate <= 1) {
		return fmt.Errorf("%v is not between 0 and 1", rate)
	}
	return nil
}
