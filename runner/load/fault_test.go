package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/specsweep/specsweep/runner/faulttest"
	"github.com/specsweep/specsweep/runner/openai"
)

// stallTimeout is what a stalled attempt costs; patience, what no attempt on a server
// that answers takes, however busy the machine is.
const (
	stallTimeout = 400 * time.Millisecond
	patience     = 30 * time.Second
)

// streamed is the answer of goodServer to a request that streams.
const streamed = `data: {"model":"toy-target","choices":[{"delta":{"content":"ok"}}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":8}}

data: [DONE]

`

// goodServer answers every request at once.
func goodServer() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Stream bool }
		if json.NewDecoder(r.Body).Decode(&body) == nil && body.Stream {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(streamed))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(good))
	})
}

// broken is a pass over n prompts on a server with faults.
type broken struct {
	kind    faulttest.Kind
	share   float64
	stream  bool
	retries int // max_retries
	n       int
}

func (b broken) run(t *testing.T) (Pass, *faulttest.Handler) {
	t.Helper()
	h := faulttest.New(goodServer(), faulttest.Options{Share: b.share, Kinds: []faulttest.Kind{b.kind}, Seed: 7, Delay: time.Millisecond})
	s := httptest.NewUnstartedServer(h)
	// On a kept connection a break before the answer is the server's close of an idle one
	// and costs no retry; here every break is to count.
	s.Config.SetKeepAlivesEnabled(false)
	s.Start()
	t.Cleanup(s.Close)
	timeout := patience
	if b.kind.Stalls() {
		timeout = stallTimeout
	}
	c := client(t, s, openai.Options{MaxRetries: b.retries, Timeout: timeout})
	body, err := openai.Body{Model: "m", MaxTokens: 8, TopP: 1, Stream: b.stream}.Encode(json.RawMessage(`[{"role":"user","content":"hi"}]`))
	if err != nil {
		t.Fatal(err)
	}
	list := make([][]byte, b.n)
	for i := range list {
		list[i] = body
	}
	p, err := Run(t.Context(), c, list, Options{Concurrency: b.n})
	if err != nil {
		t.Fatal(err)
	}
	if most := time.Duration(b.retries+1)*timeout + patience; p.Wall > most {
		t.Errorf("the pass took %v, above %v: timeout_s does not hold", p.Wall, most)
	}
	return p, h
}

// check compares what was counted with what the server did. Every broken attempt is
// either tried again or the end of its request; no request is lost, none made up.
func (b broken) check(t *testing.T, p Pass, h *faulttest.Handler) {
	t.Helper()
	faults := h.Counts()[b.kind]
	sent := b.n + p.Retries
	wantFailed, wantRetries := faults-p.Retries, p.Retries
	switch {
	case b.kind.Harmless():
		wantFailed, wantRetries = 0, 0
	case b.kind.Final():
		wantFailed, wantRetries = faults, 0
	case b.share == 1:
		wantFailed, wantRetries = b.n, b.n*b.retries
	}
	if p.Completed+p.Failed != b.n || p.Failed != wantFailed || p.Retries != wantRetries || int64(sent) != h.Requests() || faults == 0 {
		t.Errorf("of %d: %d completed, %d failed, %d retries, after %d faults in %d requests; want %d failed, %d retries\n%+v",
			b.n, p.Completed, p.Failed, p.Retries, faults, h.Requests(), wantFailed, wantRetries, p.Failures)
	}
	if p.OutputTokens != int64(8*p.Completed) {
		t.Errorf("%d output tokens of %d answers with 8 each", p.OutputTokens, p.Completed)
	}
}

// TestFaultMatrix breaks a server in every way, always and sometimes, with and without
// streaming: no pass hangs and all counts are exact.
func TestFaultMatrix(t *testing.T) {
	table := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "| fault | share | streamed | requests | faults | completed | failed | retries |")
	for _, kind := range faulttest.Kinds() {
		for _, stream := range []bool{false, true} {
			if kind.Streams() && !stream {
				continue
			}
			for _, share := range []float64{0.3, 1} {
				b := broken{kind: kind, share: share, stream: stream, retries: 2, n: 32}
				if kind.Stalls() && os.Getenv(tableEnv) == "" {
					b.retries = 1 // each costs stallTimeout, and shows no more
				}
				t.Run(fmt.Sprintf("%s/%g/stream=%v", kind, share, stream), func(t *testing.T) {
					p, h := b.run(t)
					b.check(t, p, h)
					fmt.Fprintf(table, "| %s | %g | %v | %d | %d | %d | %d | %d |\n", kind, share, stream, h.Requests(), h.Counts()[kind], p.Completed, p.Failed, p.Retries)
				})
			}
		}
	}
	if os.Getenv(tableEnv) != "" {
		if err := table.Flush(); err != nil {
			t.Error(err)
		}
	}
}

// tableEnv makes the tests print the tables of docs/reliability.md.
const tableEnv = "SPECSWEEP_RELIABILITY_TABLE"
