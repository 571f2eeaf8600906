package sglang

import (
	_ "embed"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// A stream in SGLang's shape: sglext has a chunk of its own behind the text.
//
//go:embed testdata/stream_details.sse
var streamed []byte

func TestReadDetailsOfStream(t *testing.T) {
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
	got, ok := readDetails(answer.Body)
	want := specdec.Counters{Drafts: 24, DraftTokens: 72, Accepted: 39, PerPos: []int64{19, 11, 9}}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("readDetails() %v (-want +got):\n%s", ok, diff)
	}
}
