package sim

import (
	"fmt"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func state(t *testing.T, url, path string) map[string]any {
	t.Helper()
	a := get(t, url+path)
	if a.status != http.StatusOK {
		t.Fatalf("GET %s: status %d: %s", path, a.status, a.body)
	}
	return decode(t, a.body)["internal_states"].([]any)[0].(map[string]any)
}

// folded is avg_spec_accept_length, false where the server has none.
func folded(t *testing.T, url string) (float64, bool) {
	t.Helper()
	v, ok := state(t, url, "/server_info")["avg_spec_accept_length"]
	if !ok {
		return 0, false
	}
	return v.(float64), true
}

// subset is the part of got that want has too: the simulated states hold a few keys
// that the extracts leave out.
func subset(want, got map[string]string) map[string]string {
	out := map[string]string{}
	for path := range want {
		if kind, ok := got[path]; ok {
			out[path] = kind
		}
	}
	return out
}

func TestSGLangServerInfoAsInSource(t *testing.T) {
	t.Parallel()
	spec := []float64{0.8, 0.6, 0.4}
	for _, tc := range []struct {
		name, file, path string
		c                Config
		traffic          bool
	}{
		{"0.5.23", "sglang-0.5.23_server_info.json", "/server_info", Config{Accept: spec}, true},
		{"0.5.23, old path", "sglang-0.5.23_server_info.json", "/get_server_info", Config{Accept: spec}, true},
		{"0.5.23, fresh", "sglang-0.5.23_server_info_fresh.json", "/server_info", Config{Accept: spec}, false},
		{"0.5.23, no speculation", "sglang-0.5.23_server_info_nospec.json", "/server_info", Config{Accept: spec, NoSpec: true}, true},
		{"0.5.6", "sglang-0.5.6_server_info.json", "/server_info", Config{Accept: spec, Version: "0.5.6"}, true},
		{"0.4.6", "sglang-0.4.6_get_server_info.json", "/get_server_info", Config{Accept: spec, Version: "0.4.6.post5"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.c.Engine = "sglang"
			r := start(t, tc.c)
			if tc.traffic {
				load(t, r.URL(), 4, 4, 200)
			}
			a := get(t, r.URL()+tc.path)
			want, got := decode(t, fixture(t, tc.file)), decode(t, a.body)
			if d := cmp.Diff(shape(want), subset(shape(want), shape(got))); d != "" {
				t.Errorf("shape (-real +simulated):\n%s", d)
			}
			// These mean the same on both: algorithm, steps, and that there is an average.
			for _, key := range []string{"version", "speculative_algorithm", "speculative_num_steps", "speculative_num_draft_tokens", "speculative_eagle_topk"} {
				if got[key] != want[key] {
					t.Errorf("%s = %v, want %v", key, got[key], want[key])
				}
			}
			_, has := want["internal_states"].([]any)[0].(map[string]any)["avg_spec_accept_length"]
			if _, ok := state(t, r.URL(), tc.path)["avg_spec_accept_length"]; ok != has {
				t.Errorf("has an average: %v, want %v", ok, has)
			}
		})
	}
}

func TestSGLangChatAsInSource(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: "sglang"})
	a := post(t, r.URL()+"/v1/chat/completions", chatBody(1, 8))
	if d := cmp.Diff(shape(decode(t, fixture(t, "sglang-0.5.23_chat.json"))), shape(decode(t, a.body))); d != "" {
		t.Errorf("shape (-real +simulated):\n%s", d)
	}
	m := decode(t, get(t, r.URL()+"/v1/models").body)["data"].([]any)[0].(map[string]any)
	if m["id"] != "sim" || m["owned_by"] != "sglang" {
		t.Errorf("/v1/models lists %v", m)
	}
}

func TestSGLangInfoPathByVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		version string
		want    int // of /server_info
	}{
		{"0.4.6.post5", http.StatusNotFound},
		{"0.5.5", http.StatusNotFound},
		{"0.5.6", http.StatusOK},
		{"0.6.0", http.StatusOK},
		{"1.0.0", http.StatusOK},
		{"main", http.StatusOK},
	} {
		t.Run(tc.version, func(t *testing.T) {
			t.Parallel()
			r := start(t, Config{Engine: "sglang", Version: tc.version})
			if a := get(t, r.URL()+"/server_info"); a.status != tc.want {
				t.Errorf("/server_info: status %d, want %d", a.status, tc.want)
			}
			if a := get(t, r.URL()+"/get_server_info"); a.status != http.StatusOK {
				t.Errorf("/get_server_info: status %d, want 200", a.status)
			}
		})
	}
}

// The average is folded with every fortieth step of the batch only.
func TestSGLangFolds(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: "sglang", Accept: []float64{0}})
	load(t, r.URL(), 1, 1, 40) // 39 steps after the prefill
	if v, ok := folded(t, r.URL()); ok {
		t.Errorf("average %v after 39 steps, want none", v)
	}
	load(t, r.URL(), 3, 1, 1) // answers of a prefill alone take no step
	if v, ok := folded(t, r.URL()); ok {
		t.Errorf("average %v after 39 steps and three prefills, want none", v)
	}
	load(t, r.URL(), 1, 1, 2) // the fortieth
	if v, ok := folded(t, r.URL()); !ok || v != 1 {
		t.Errorf("average %v, %v after 40 steps, want 1", v, ok)
	}
}

func TestSGLangAverageIsCumulativeAndLags(t *testing.T) {
	t.Parallel()
	c := Config{Engine: "sglang", Accept: []float64{0.8, 0.6, 0.4}, Seed: 1}
	r := start(t, c)
	load(t, r.URL(), 1, 1, 200)
	first, ok := folded(t, r.URL())
	if !ok {
		t.Fatal("no average after 200 tokens")
	}
	k := r.Stats()
	if k.Drafts%foldEvery == 0 {
		t.Fatalf("%d steps leave nothing to lag", k.Drafts)
	}
	if whole := 1 + float64(k.AcceptedTokens)/float64(k.Drafts); whole == first {
		t.Errorf("average %v holds steps that are not folded yet", first)
	}
	load(t, r.URL(), 64, 8, 200)
	k = r.Stats()
	got, _ := folded(t, r.URL())
	if want := 1 + float64(k.AcceptedTokens)/float64(k.Drafts); math.Abs(got/want-1) > 0.03 {
		t.Errorf("average %v, want near %v since the start", got, want)
	}
	if want := c.AcceptLength(); math.Abs(got/want-1) > 0.03 {
		t.Errorf("average %v, want near %v", got, want)
	}
}

func TestSGLangFlush(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: "sglang", Accept: []float64{0}})
	load(t, r.URL(), 1, 1, 60) // 59 steps: 40 folded, 19 pending
	if _, ok := folded(t, r.URL()); !ok {
		t.Fatal("no average after 59 steps")
	}
	if a := post(t, r.URL()+"/flush_cache", ""); a.status != http.StatusOK {
		t.Fatalf("flush of an idle server: status %d: %s", a.status, a.body)
	}
	if v, ok := folded(t, r.URL()); ok {
		t.Errorf("average %v after a flush, want none", v)
	}
	load(t, r.URL(), 1, 1, 40) // 39: the count of steps started again too
	if v, ok := folded(t, r.URL()); ok {
		t.Errorf("average %v 39 steps after a flush, want none", v)
	}
}

func TestSGLangFlushRefusedWhenBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := serveOnPipe(t, Config{Engine: "sglang", Accept: []float64{0}, StepTime: time.Second})
		answered := make(chan answer)
		go func() {
			answered <- send(t, p.client, request(t, http.MethodPost, "http://sim/v1/chat/completions", chatBody(1, 60)))
		}()
		time.Sleep(50500 * time.Millisecond) // 50 steps: 40 folded
		if a := send(t, p.client, request(t, http.MethodPost, "http://sim/flush_cache", "")); a.status != http.StatusBadRequest {
			t.Errorf("flush of a busy server: status %d, want 400: %s", a.status, a.body)
		}
		if a := <-answered; a.status != http.StatusOK {
			t.Errorf("the request: status %d, error %v", a.status, a.err)
		}
		info := decode(t, send(t, p.client, request(t, http.MethodGet, "http://sim/server_info", "")).body)
		if s := info["internal_states"].([]any)[0].(map[string]any); s["avg_spec_accept_length"] != 1.0 {
			t.Errorf("average %v after a refused flush, want 1", s["avg_spec_accept_length"])
		}
	})
}

// A client that has its answer finds the server idle, however fast it is.
func TestSGLangIsIdleOnceItHasAnswered(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: "sglang"})
	for i := range 200 {
		load(t, r.URL(), 1, 1, 1)
		if a := post(t, r.URL()+"/flush_cache", ""); a.status != http.StatusOK {
			t.Fatalf("flush %d: status %d: %s", i, a.status, a.body)
		}
	}
}

func TestSGLangRefusesAsOneObject(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: "sglang"})
	a := post(t, r.URL()+"/v1/chat/completions", `{"model":"nope","messages":[{"role":"user","content":"x"}]}`)
	want := map[string]any{"object": "error", "message": "The model `nope` does not exist. Valid aliases: sim.", "type": "NotFoundError", "param": "model", "code": 404.0}
	if d := cmp.Diff(want, decode(t, a.body)); d != "" || a.status != http.StatusNotFound {
		t.Errorf("status %d, error (-want +got):\n%s", a.status, d)
	}
}

func TestSGLangHasNoVLLMRoutes(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: "sglang"})
	for _, path := range []string{"/metrics", "/version"} {
		if a := get(t, r.URL()+path); a.status != http.StatusNotFound {
			t.Errorf("GET %s: status %d, want 404: %s", path, a.status, fmt.Sprintf("%.80s", a.body))
		}
	}
}
