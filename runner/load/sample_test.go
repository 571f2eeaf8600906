package load

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/specsweep/specsweep/runner/openai"
)

// Every request that was sent has a sample, in the order of prompts, whichever slot
// had it; a failed answer's gaps are not kept, and the client may reuse the others.
func TestSamples(t *testing.T) {
	gaps := []time.Duration{time.Second}
	c := chat(func(_ context.Context, body []byte) openai.Completion {
		n := number(bytes.NewReader(body))
		a := openai.Completion{
			CompletionTokens: ptr(n), PromptTokens: ptr(7), FinishReason: "stop", Text: "said", Retries: n,
			Streamed: true, FirstToken: time.Second, Elapsed: time.Minute, Gaps: gaps,
		}
		if n == 1 {
			a = openai.Completion{Err: errors.New("port 80 broke"), Elapsed: time.Hour, Gaps: gaps}
		}
		return a
	})
	got, err := Run(t.Context(), c, bodies(3), Options{Concurrency: 1, Observe: func(c *openai.Completion) {
		if c.Index == 2 {
			gaps[0] = 0
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	said := func(n int) Sample {
		return Sample{
			Prompt: n, FirstToken: time.Second, Done: time.Minute, Tokens: ptr(n), PromptTokens: ptr(7),
			Retries: n, FinishReason: "stop", Text: "said",
		}
	}
	want := []Sample{said(0), {Prompt: 1, Done: time.Hour, Failed: "port # broke"}, said(2)}
	if diff := cmp.Diff(want, got.Samples, cmpopts.IgnoreFields(Sample{}, "Due")); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]time.Duration{time.Second, time.Second}, got.Gaps); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}
