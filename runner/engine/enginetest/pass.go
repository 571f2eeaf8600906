package enginetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/sim"
	"github.com/specsweep/specsweep/runner/specdec"
)

const (
	prompts     = 64
	maxTokens   = 160
	concurrency = 8
)

// listen starts a simulated server for the time of the test and gives its URL.
func listen(t *testing.T, c sim.Config) string {
	t.Helper()
	s, err := sim.Listen(c, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the simulated server: %v", err)
		}
	})
	return s.URL()
}

func connect(t *testing.T, url string) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Options{URL: url, Timeout: time.Minute, MaxConns: concurrency})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// pass makes a pass as the sweep does and returns what the engine says of it.
func pass(t *testing.T, e engine.Engine, url string) specdec.Stats {
	t.Helper()
	ctx, client := t.Context(), connect(t, url)
	d, err := engine.Preflight(ctx, e, client, engine.PreflightOptions{})
	if err != nil {
		t.Fatal(err)
	}
	body := openai.Body{Model: d.Model, MaxTokens: maxTokens, TopP: 1, Extra: map[string]any{"ignore_eos": true}}
	p := e.Begin(ctx, client, engine.Target{Model: d.Model})
	p.Request(&body)

	next := make(chan json.RawMessage)
	var wg sync.WaitGroup
	for range concurrency {
		wg.Go(func() {
			for messages := range next {
				b, err := body.Encode(messages)
				if err != nil {
					t.Error(err)
					continue
				}
				c := client.Chat(ctx, b)
				if c.Err != nil {
					t.Error(c.Err)
				}
				p.Observe(&c)
			}
		})
	}
	for i := range prompts {
		next <- json.RawMessage(fmt.Sprintf(`[{"role":"user","content":"prompt %d"}]`, i))
	}
	close(next)
	wg.Wait()
	return p.End(ctx)
}
