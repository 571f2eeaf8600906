// Package llamacpp measures llama.cpp's llama-server. Acceptance is the difference
// of the spec-decode counters at /metrics over a pass; where the server was started
// without --metrics, what the timings of the answers add up to.
//
// A pass sends nothing but GETs and adds no field to requests. The server ignores
// the model's name in a request, so nothing here looks at it.
package llamacpp

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
)

// Engine is a llama-server as the sweep sees it.
type Engine struct{}

var _ engine.Engine = Engine{}

// Name is llamacpp.
func (Engine) Name() string { return "llamacpp" }

// Describe asks GET /props for the build and the model, and GET /slots for the
// kind of speculation, which /props does not tell. A server that hides its slots
// leaves that out.
func (Engine) Describe(ctx context.Context, c *openai.Client) (engine.Description, error) {
	body, err := engine.Fetch(ctx, c, "/props", "")
	if err != nil {
		return engine.Description{}, err
	}
	var props struct {
		Build string `json:"build_info"`
		Model string `json:"model_path"`
		Type  string `json:"model_ftype"`
		Slots int    `json:"total_slots"`
		// What a request that names no sampling gets.
		Default struct {
			Params struct {
				TopK *int `json:"top_k"`
			} `json:"params"`
		} `json:"default_generation_settings"`
	}
	if err := json.Unmarshal(body, &props); err != nil {
		return engine.Description{}, fmt.Errorf("GET %s/props: not the JSON of a llama-server: %w", c.URL(), err)
	}
	d := engine.Description{Version: props.Build, Spec: map[string]string{}}
	set := func(name, value string) {
		if value != "" {
			d.Spec[name] = value
		}
	}
	set("model_path", props.Model)
	set("model_ftype", props.Type)
	if props.Slots > 0 {
		set("total_slots", strconv.Itoa(props.Slots))
	}
	if k := props.Default.Params.TopK; k != nil {
		set("default_top_k", strconv.Itoa(*k))
	}
	if s, err := readSlots(ctx, c); err == nil {
		set("speculative", strconv.FormatBool(s.speculative))
		set("speculative.types", s.types)
	}
	return d, nil
}

// slots is what GET /slots tells about speculation.
type slots struct {
	speculative bool   // any slot can draft
	types       string // of drafters, as llama-server lists them; empty: not told
}

func readSlots(ctx context.Context, c *openai.Client) (slots, error) {
	body, err := engine.Fetch(ctx, c, "/slots", "")
	if err != nil {
		return slots{}, err
	}
	var list []struct {
		Speculative *bool `json:"speculative"`
		Params      struct {
			Types string `json:"speculative.types"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return slots{}, fmt.Errorf("GET %s/slots: not the JSON of a llama-server: %w", c.URL(), err)
	}
	var s slots
	told := false
	for _, slot := range list {
		if slot.Speculative == nil {
			continue
		}
		told = true
		s.speculative = s.speculative || *slot.Speculative
		if s.types == "" {
			s.types = slot.Params.Types
		}
	}
	if !told {
		return slots{}, fmt.Errorf("GET %s/slots: no slot says whether it speculates", c.URL())
	}
	return s, nil
}
