// Package sim runs simulated vLLM and SGLang servers on real sockets, for the
// demo, for trying plans without a GPU and for tests. It models continuous
// batching and speculative decoding well enough that throughput falls and rises
// with concurrency as on a real server, and every draw can be repeated.
//
// It is no inference engine, says nothing about a real model's speed, and knows
// nothing of the rest of specsweep.
package sim

import (
	"errors"
	"fmt"
	"time"
)

// Config is one simulated server. The zero value is a vLLM server that drafts
// nothing it accepts; see Validate for what must hold.
type Config struct {
	Engine string // "vllm" (the default) or "sglang"
	Model  string // served name; default "sim"

	// Accept is the marginal acceptance rate of each draft position, as vLLM's
	// per-position counters give it: position i is accepted in a share Accept[i]
	// of verify steps, so accept_length is 1 + Σ and rates cannot increase.
	Accept []float64
	NoSpec bool // no speculation: a baseline

	// A decode step of the whole batch takes StepTime + StepTimePerRequest × active.
	StepTime           time.Duration
	StepTimePerRequest time.Duration
	Latency            time.Duration // before every chat answer

	Seed         uint64  // of all draws
	FailRate     float64 // share of chat requests answered with 500
	DropRate     float64 // share of chat answers that break off in their body
	RestartAfter int     // chat answers after which the counters start at zero again, as after a restart; 0: never

	APIKey      string        // when set, requests without it are refused with 401
	Version     string        // default 0.32.0 for vLLM, 0.5.23 for SGLang
	IdleTimeout time.Duration // of keep-alive connections; default 5 s, as uvicorn
}

// foldEvery is how many decode steps SGLang takes between two updates of the
// totals behind avg_spec_accept_length (its decode_log_interval).
const foldEvery = 40

func (c Config) withDefaults() Config {
	if c.Engine == "" {
		c.Engine = "vllm"
	}
	if c.Model == "" {
		c.Model = "sim"
	}
	if c.Version == "" {
		c.Version = "0.32.0"
		if c.Engine == "sglang" {
			c.Version = "0.5.23"
		}
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = 5 * time.Second
	}
	return c
}

// Validate reports every value that cannot be simulated.
func (c Config) Validate() error {
	var errs []error
	if e := c.withDefaults().Engine; e != "vllm" && e != "sglang" {
		errs = append(errs, fmt.Errorf("engine: unknown engine %q (have sglang, vllm)", e))
	}
	last := 1.0
	for i, rate := range c.Accept {
		switch {
		case !(rate >= 0 && rate <= 1):
			errs = append(errs, fmt.Errorf("accept: rate %v of position %d is not between 0 and 1", rate, i))
		case rate > last:
			errs = append(errs, fmt.Errorf("accept: rate %v of position %d is above the %v before it: marginal rates cannot increase, a draft is accepted from its start", rate, i, last))
		}
		last = rate
	}
	for _, f := range []struct {
		name string
		rate float64
	}{{"fail-rate", c.FailRate}, {"drop-rate", c.DropRate}} {
		if !(f.rate >= 0 && f.rate <= 1) {
			errs = append(errs, fmt.Errorf("%s: %v is not between 0 and 1", f.name, f.rate))
		}
	}
	if c.StepTime < 0 || c.StepTimePerRequest < 0 || c.Latency < 0 || c.IdleTimeout < 0 {
		errs = append(errs, errors.New("times cannot be negative"))
	}
	if c.RestartAfter < 0 {
		errs = append(errs, errors.New("restart-after: cannot be negative"))
	}
	return errors.Join(errs...)
}

// AcceptLength is what the rates imply: mean tokens per verify step, bonus token
// included.
func (c Config) AcceptLength() float64 {
	length := 1.0
	for _, rate := range c.Accept {
		length += rate
	}
	return length
}
