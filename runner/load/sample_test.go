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

// Counts that are there but cannot be counts are missing, and told from absent ones.
func TestInvalidCounts(t *testing.T) {
	c := chat(func(_ context.Context, body []byte) openai.Completion {
		switch number(bytes.NewReader(body)) {
		case 0:
			return openai.Completion{CompletionTokens: ptr(3), PromptTokens: ptr(4), CachedTokens: ptr(1)}
		case 1:
			return openai.Completion{Invalid: openai.InvalidCounts{Completion: true, Prompt: true, Cached: true}}
		case 2:
			return openai.Completion{Err: errors.New("broke"), Invalid: openai.InvalidCounts{Completion: true}}
		}
		return openai.Completion{}
	})
	got, err := Run(t.Context(), c, bodies(4), Options{Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	counts := []int{got.UsageMissing, got.UsageInvalid, got.PromptUsageMissing, got.PromptUsageInvalid, got.CachedInvalid}
	if diff := cmp.Diff([]int{2, 1, 2, 1, 1}, counts); diff != "" || got.OutputTokens != 3 {
		t.Errorf("%d tokens; counts (-want +got):\n%s", got.OutputTokens, diff)
	}
}
