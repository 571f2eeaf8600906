package sim

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// statuses sends prompts one after the other and gives the status of each, or 0
// where the answer broke off.
func statuses(t *testing.T, url string, prompts int) []int {
	t.Helper()
	var got []int
	for i := range prompts {
		a := post(t, url+"/v1/chat/completions", chatBody(i, 5))
		if a.err != nil {
			a.status = 0
		}
		got = append(got, a.status)
	}
	return got
}

func count(list []int, v int) int {
	n := 0
	for _, e := range list {
		if e == v {
			n++
		}
	}
	return n
}

func TestFailRate(t *testing.T) {
	t.Parallel()
	c := Config{FailRate: 0.3, Seed: 1}
	r := start(t, c)
	first, retry := statuses(t, r.URL(), 200), statuses(t, r.URL(), 200)
	if n := count(first, http.StatusInternalServerError); n < 40 || n > 80 {
		t.Errorf("%d of 200 failed, want about 60", n)
	}
	if cmp.Equal(first, retry) {
		t.Error("a retry fares as the first attempt did, every time")
	}
	if d := cmp.Diff(first, statuses(t, start(t, c).URL(), 200)); d != "" {
		t.Errorf("an equal server fails others (-first +second):\n%s", d)
	}
	k := r.Stats()
	if failed := count(first, 500) + count(retry, 500); k.Failed != int64(failed) || k.Answered != int64(400-failed) || k.Requests != 400 {
		t.Errorf("counters %+v, want %d failed and the rest of 400 answered", k, failed)
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	r := start(t, Config{FailRate: 1})
	a := post(t, r.URL()+"/v1/chat/completions", chatBody(1, 5))
	want := map[string]any{"error": map[string]any{"message": "simulated failure", "type": "InternalServerError", "param": nil, "code": 500.0}}
	if d := cmp.Diff(want, decode(t, a.body)); d != "" || a.status != http.StatusInternalServerError {
		t.Errorf("status %d (-want +got):\n%s", a.status, d)
	}
}

func TestDropRate(t *testing.T) {
	t.Parallel()
	r := start(t, Config{DropRate: 1})
	a := post(t, r.URL()+"/v1/chat/completions", chatBody(1, 5))
	if a.status != http.StatusOK || !errors.Is(a.err, io.ErrUnexpectedEOF) || len(a.body) == 0 {
		t.Errorf("status %d, %d bytes, error %v; want a 200 that breaks off in its body", a.status, len(a.body), a.err)
	}
	if k := r.Stats(); k.Dropped != 1 || k.Answered != 0 || k.GeneratedTokens != 5 {
		t.Errorf("counters %+v, want one dropped answer of 5 tokens", k)
	}
	some := start(t, Config{DropRate: 0.5, Seed: 3})
	if n := count(statuses(t, some.URL(), 100), 0); n < 30 || n > 70 {
		t.Errorf("%d of 100 broke off, want about 50", n)
	}
}

func TestFaultsDoNotShiftOtherDraws(t *testing.T) {
	t.Parallel()
	accepted := func(c Config) int64 {
		c.Accept, c.Seed = []float64{0.5, 0.4, 0.3}, 1
		r := start(t, c)
		statuses(t, r.URL(), 20)
		return r.Stats().AcceptedTokens
	}
	if without, with := accepted(Config{}), accepted(Config{DropRate: 0.5}); with != without {
		t.Errorf("%d accepted tokens with dropped answers, %d without", with, without)
	}
}

func TestRestartAfter(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Accept: []float64{0.8, 0.6}, Seed: 1, RestartAfter: 4})
	const created = "vllm:spec_decode_num_drafts_created"
	load(t, r.URL(), 3, 1, 20)
	before := scrape(t, r.URL())
	if before[draftsTotal] == 0 {
		t.Fatal("nothing counted before the restart")
	}
	load(t, r.URL(), 1, 1, 20)
	after := scrape(t, r.URL())
	for _, name := range []string{draftsTotal, proposedTotal, acceptedTotal, "vllm:spec_decode_num_accepted_tokens_per_pos_total", "vllm:generation_tokens_total", "vllm:prompt_tokens_total", "vllm:request_success_total", "vllm:inter_token_latency_seconds_count"} {
		if after[name] != 0 {
			t.Errorf("%s = %v after the restart, want 0", name, after[name])
		}
	}
	if after[created] <= before[created] {
		t.Errorf("_created went from %v to %v, want it later", before[created], after[created])
	}
	load(t, r.URL(), 8, 1, 20) // there is one restart only
	if got := scrape(t, r.URL()); got["vllm:request_success_total"] != 8 || got["vllm:generation_tokens_total"] != 160 || got[created] != after[created] {
		t.Errorf("after 8 more: %v requests, %v tokens, want 8 and 160", got["vllm:request_success_total"], got["vllm:generation_tokens_total"])
	}
	if k := r.Stats(); k.Answered != 12 || k.GeneratedTokens != 240 {
		t.Errorf("truth %+v, want all 12 requests", k)
	}
}

func TestRestartForgetsSGLangsAverage(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: "sglang", Accept: []float64{0.5}, RestartAfter: 2})
	load(t, r.URL(), 1, 1, 200)
	if _, ok := folded(t, r.URL()); !ok {
		t.Fatal("no average before the restart")
	}
	load(t, r.URL(), 1, 1, 1)
	if v, ok := folded(t, r.URL()); ok {
		t.Errorf("average %v after the restart, want none", v)
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		c      Config
		status int
		want   time.Duration
	}{
		{"before an answer", Config{Latency: time.Second, StepTime: time.Millisecond}, http.StatusOK, time.Second + 4*time.Millisecond},
		{"before a failure", Config{Latency: time.Second, FailRate: 1}, http.StatusInternalServerError, time.Second},
		{"none", Config{}, http.StatusOK, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := serveOnPipe(t, tc.c)
				begin := time.Now()
				a := send(t, p.client, request(t, http.MethodPost, "http://sim/v1/chat/completions", chatBody(1, 5)))
				if got := time.Since(begin); got != tc.want || a.status != tc.status {
					t.Errorf("status %d after %v, want %d after %v", a.status, got, tc.status, tc.want)
				}
			})
		})
	}
}

func TestClientGoesAway(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		c    Config
		want Counters
	}{
		{"while generating", Config{StepTime: time.Second, Accept: []float64{1}}, Counters{
			Drafts: 10, DraftTokens: 10, AcceptedTokens: 10, AcceptedPerPosition: []int64{10}, GeneratedTokens: 21, DecodeSteps: 10,
		}},
		{"before it begins", Config{Latency: time.Minute, Accept: []float64{1}}, Counters{AcceptedPerPosition: []int64{0}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := serveOnPipe(t, tc.c)
				ctx, cancel := context.WithTimeout(t.Context(), 10500*time.Millisecond)
				defer cancel()
				req := request(t, http.MethodPost, "http://sim/v1/chat/completions", chatBody(1, 1000))
				if a := send(t, p.client, req.WithContext(ctx)); !errors.Is(a.err, context.DeadlineExceeded) {
					t.Errorf("status %d, error %v, want to run out of time", a.status, a.err)
				}
				time.Sleep(time.Second) // the engine notices with its next step
				synctest.Wait()
				tc.want.Requests, tc.want.Aborted, tc.want.PeakInFlight, tc.want.Connections = 1, 1, 1, 1
				if d := cmp.Diff(tc.want, p.server.Stats()); d != "" {
					t.Errorf("counters (-want +got):\n%s", d)
				}
			})
		})
	}
}
