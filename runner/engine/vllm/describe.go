package vllm

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
)

// Describe asks GET /version and, for the speculative settings, GET /server_info,
// which only a server in developer mode has (VLLM_SERVER_DEV_MODE=1).
func (Engine) Describe(ctx context.Context, c *openai.Client) (engine.Description, error) {
	body, err := engine.Fetch(ctx, c, "/version", "")
	if err != nil {
		return engine.Description{}, err
	}
	var v struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return engine.Description{}, fmt.Errorf("GET %s/version: not the JSON of a vLLM server: %w", c.URL(), err)
	}
	return engine.Description{Version: v.Version, Spec: speculation(ctx, c)}, nil
}

// speculation is the settings of the drafter under vLLM's own names; nil when the
// server does not tell.
func speculation(ctx context.Context, c *openai.Client) map[string]string {
	body, err := engine.Fetch(ctx, c, "/server_info?config_format=json", "")
	if err != nil {
		return nil
	}
	var info struct {
		Config *struct {
			Speculative *struct {
				Method string `json:"method"`
				Model  string `json:"model"`
				Tokens *int   `json:"num_speculative_tokens"`
			} `json:"speculative_config"`
		} `json:"vllm_config"`
	}
	if json.Unmarshal(body, &info) != nil || info.Config == nil {
		return nil
	}
	s := info.Config.Speculative
	if s == nil {
		return map[string]string{"speculative_config": "none"}
	}
	spec := map[string]string{"method": s.Method, "model": s.Model}
	if s.Tokens != nil {
		spec["num_speculative_tokens"] = strconv.Itoa(*s.Tokens)
	}
	return spec
}
