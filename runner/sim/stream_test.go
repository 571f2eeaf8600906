package sim

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// chunksOf is the data of a stream's events, without the [DONE] that must end it.
func chunksOf(t *testing.T, body []byte) []map[string]any {
	t.Helper()
	events := strings.Split(strings.TrimSuffix(string(body), "\n\n"), "\n\n")
	if last := events[len(events)-1]; last != "data: [DONE]" {
		t.Fatalf("the stream ends with %q", last)
	}
	var list []map[string]any
	for _, e := range events[:len(events)-1] {
		list = append(list, decode(t, []byte(strings.TrimPrefix(e, "data: "))))
	}
	return list
}

// content is the text of a chunk, "" for none.
func content(chunk map[string]any) string {
	choices := chunk["choices"].([]any)
	if len(choices) == 0 {
		return ""
	}
	text, _ := choices[0].(map[string]any)["delta"].(map[string]any)["content"].(string)
	return text
}

func streamed(body, more string) string {
	return strings.TrimSuffix(body, "}") + `,"stream":true` + more + "}"
}

const withUsage = `,"stream_options":{"include_usage":true},"return_spec_tokens_details":true,"return_meta_info":true`

// A streamed answer says what the whole one says, of its text, usage and drafts.
func TestStreamEqualsWhole(t *testing.T) {
	t.Parallel()
	for engine := range dialects() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := Config{Engine: engine, Accept: []float64{0.8, 0.6, 0.4}, Seed: 1, RequestDetails: true}
			ask := chatBody(1, 40)
			more := strings.TrimSuffix(ask, "}") + `,"return_spec_tokens_details":true,"return_meta_info":true}`
			whole := decode(t, post(t, start(t, c).URL()+"/v1/chat/completions", more).body)
			r := start(t, c)
			a := post(t, r.URL()+"/v1/chat/completions", streamed(ask, withUsage))
			if !strings.HasPrefix(a.kind, "text/event-stream") || a.err != nil || a.status != http.StatusOK {
				t.Fatalf("status %d, %s, %v", a.status, a.kind, a.err)
			}
			got := map[string]any{}
			text, reason, withText := "", "", 0
			for _, e := range chunksOf(t, a.body) {
				text += content(e)
				if content(e) != "" {
					withText++
				}
				for _, name := range []string{"usage", "timings", "sglext", "metrics"} {
					if e[name] != nil {
						got[name] = e[name]
					}
				}
				if choices := e["choices"].([]any); len(choices) > 0 {
					choice := choices[0].(map[string]any)
					if choice["finish_reason"] != nil {
						reason = choice["finish_reason"].(string)
					}
					if choice["meta_info"] != nil {
						got["meta_info"] = choice["meta_info"]
					}
				}
			}
			choice := whole["choices"].([]any)[0].(map[string]any)
			if want := choice["message"].(map[string]any)["content"]; text != want || reason != choice["finish_reason"] {
				t.Errorf("streamed %q (%s), whole %q", text, reason, want)
			}
			for _, name := range []string{"timings", "sglext", "metrics"} {
				if d := cmp.Diff(whole[name], got[name]); d != "" {
					t.Errorf("%s (-whole +streamed):\n%s", name, d)
				}
			}
			if d := cmp.Diff(choice["meta_info"], got["meta_info"]); d != "" {
				t.Errorf("meta_info (-whole +streamed):\n%s", d)
			}
			if n := got["usage"].(map[string]any)["completion_tokens"]; n != 40.0 {
				t.Errorf("usage tells %v tokens, want 40", n)
			}
			// One chunk a decode step and one for the first token.
			if k := r.Stats(); int64(withText) != k.DecodeSteps+1 || k.Answered != 1 || k.DecodeSteps >= 39 {
				t.Errorf("%d chunks with text for %+v", withText, k)
			}
		})
	}
}

// The chunks of vLLM have the shapes of those that a real one sent.
func TestStreamShapeVLLM(t *testing.T) {
	t.Parallel()
	want := chunksOf(t, fixture(t, "vllm-0.32.0_stream_usage.sse"))
	r := start(t, Config{})
	got := chunksOf(t, post(t, r.URL()+"/v1/chat/completions", streamed(chatBody(1, 20), withUsage)).body)
	n, m := len(want), len(got)
	for name, pair := range map[string][2]any{
		"role": {want[0], got[0]}, "text": {want[1], got[1]}, "finish": {want[n-2], got[m-2]}, "usage": {want[n-1], got[m-1]},
	} {
		if d := cmp.Diff(shape(pair[0]), shape(pair[1])); d != "" {
			t.Errorf("%s chunk (-real +simulated):\n%s", name, d)
		}
	}
}

func TestStreamWithoutUsage(t *testing.T) {
	t.Parallel()
	for engine := range dialects() {
		r := start(t, Config{Engine: engine})
		list := chunksOf(t, post(t, r.URL()+"/v1/chat/completions", streamed(chatBody(1, 1), "")).body)
		for _, e := range list {
			if e["usage"] != nil || len(e["choices"].([]any)) == 0 {
				t.Errorf("%s: chunk %v, want none of usage", engine, e)
			}
		}
		if engine == "llamacpp" && list[len(list)-1]["timings"] == nil {
			t.Errorf("%s: no timings in the last chunk", engine)
		}
	}
}

func TestStreamBreaksOff(t *testing.T) {
	t.Parallel()
	r := start(t, Config{DropRate: 1})
	a := post(t, r.URL()+"/v1/chat/completions", streamed(chatBody(1, 10), ""))
	if a.status != http.StatusOK || !errors.Is(a.err, io.ErrUnexpectedEOF) || bytes.Contains(a.body, []byte("DONE")) {
		t.Errorf("status %d, error %v; want a stream that breaks off: %s", a.status, a.err, a.body)
	}
	if n := bytes.Count(a.body, []byte("data: ")); n != 1+5 {
		t.Errorf("%d chunks, want the role and half of ten tokens", n)
	}
	if k := r.Stats(); k.Dropped != 1 || k.GeneratedTokens != 10 {
		t.Errorf("counters %+v, want one dropped answer", k)
	}
}

// Chunks come as their steps end, the first after the prefill.
func TestStreamPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := serveOnPipe(t, Config{StepTime: time.Second, PrefillTime: time.Minute})
		begin := time.Now()
		res, err := p.client.Do(request(t, http.MethodPost, "http://sim/v1/chat/completions", streamed(chatBody(1, 4), "")))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		var got []time.Duration
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if strings.Contains(lines.Text(), `"content":"`) && !strings.Contains(lines.Text(), `"role":"assistant"`) {
				got = append(got, time.Since(begin))
			}
		}
		const m, s = time.Minute, time.Second
		if d := cmp.Diff([]time.Duration{m, m + s, m + 2*s, m + 3*s}, got); d != "" {
			t.Errorf("chunks came at (-want +got):\n%s", d)
		}
	})
}
