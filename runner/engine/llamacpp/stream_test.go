package llamacpp

import (
	_ "embed"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/specsweep/specsweep/runner/openai"
)

// The last chunk of llama.cpp's streams carries timings beside the usage.
//
//go:embed testdata/ngram_simple_stream.sse
var streamed []byte

func TestTimingsOfStream(t *testing.T) {
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
	got, ok := timingsOf(answer.Body)
	if want := (timings{answers: 1, predicted: 64, drafted: 73}); got != want || !ok {
		t.Errorf("timingsOf() = %+v, %v, want %+v", got, ok, want)
	}
}
