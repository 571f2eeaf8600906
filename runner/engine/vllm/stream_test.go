package vllm

import (
	_ "embed"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// A recorded stream with the metrics of a summary on its last chunk, where vLLM's
// chat_completion_stream_generator puts them, beside the usage.
//
//go:embed testdata/stream_metrics.sse
var streamed []byte

func TestRequestOfStream(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(streamed) }))
	t.Cleanup(s.Close)
	c, err := openai.New(openai.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	answer := c.Chat(t.Context(), []byte(`{"stream":true}`))
	if answer.Err != nil || !answer.Streamed {
		t.Fatalf("Chat() = %+v", answer)
	}
	got, ok := requestOf(&answer)
	if want := (specdec.Request{Drafts: 43, DraftTokens: 129, Accepted: 10}); got != want || !ok {
		t.Errorf("requestOf() = %+v, %v, want %+v", got, ok, want)
	}
}
