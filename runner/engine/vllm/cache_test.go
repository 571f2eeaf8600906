package vllm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/sim"
)

func dial(t *testing.T, url string) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Options{URL: url, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestReset(t *testing.T) {
	t.Parallel()
	const no, yes = `{"success":false}`, `{"success":true}`
	tests := []struct {
		name    string
		status  int
		answers []string // the last one again and again
		tries   int
		err     string
	}{
		{"emptied", 200, []string{yes}, 1, ""},
		{"busy for a while", 200, []string{no, no, yes}, 3, ""},
		{"busy", 200, []string{no}, resetTries, "success: false in 20 tries: requests hold its blocks"},
		{"no developer mode", 404, []string{`{"detail":"Not Found"}`}, 1, "start the server with VLLM_SERVER_DEV_MODE=1"},
		{"broken", 500, []string{"boom"}, 1, "POST /reset_prefix_cache: HTTP 500: boom"},
		{"an old version, which does not say", 200, []string{""}, 1, "does not say whether its cache is empty"},
		{"a page", 200, []string{"<html>"}, 1, "does not say whether its cache is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tries := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || r.URL.Path != "/reset_prefix_cache" {
					t.Errorf("unexpected %s %s", r.Method, r.URL.Path)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.answers[min(tries, len(tt.answers)-1)])
				tries++
			}))
			defer s.Close()
			err := Engine{pause: time.Nanosecond}.Reset(t.Context(), dial(t, s.URL))
			if (err != nil) != (tt.err != "") || err != nil && (!strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), s.URL)) {
				t.Errorf("error %v, want %q and the server", err, tt.err)
			}
			if tries != tt.tries {
				t.Errorf("%d tries, want %d", tries, tt.tries)
			}
		})
	}
}

func TestResetEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"success":false}`)
		cancel()
	}))
	defer s.Close()
	if err := (Engine{pause: time.Hour}).Reset(ctx, dial(t, s.URL)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestSaltKeepsThePlansFields(t *testing.T) {
	t.Parallel()
	shared := map[string]any{"a": 1}
	b := openai.Body{Extra: shared}
	Engine{}.Salt(&b, "pass-1")
	if diff := cmp.Diff(map[string]any{"a": 1, "cache_salt": "pass-1"}, b.Extra); diff != "" || len(shared) != 1 {
		t.Errorf("extra fields (-want +got):\n%s\nthose of the plan: %v", diff, shared)
	}
	b = openai.Body{}
	Engine{}.Salt(&b, "x")
	if b.Extra["cache_salt"] != "x" {
		t.Errorf("extra fields %v", b.Extra)
	}
}

func TestCacheCounts(t *testing.T) {
	t.Parallel()
	const q, h = "vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"
	tests := []struct {
		name, body string
		want       engine.CacheCounts
		err        string
	}{
		{"two engines", q + `{engine="0"} 10` + "\n" + q + `{engine="1"} 20` + "\n" + h + `{engine="0"} 3` + "\n" + h + `{engine="1"} 4` + "\n",
			engine.CacheCounts{Queried: 30, Hits: 7}, ""},
		{"an external cache is another one", q + " 10\n" + h + " 3\nvllm:external_prefix_cache_hits_total 9\n", engine.CacheCounts{Queried: 10, Hits: 3}, ""},
		{"no hits exposed", q + " 10\n", engine.CacheCounts{}, h + " is not exposed"},
		{"no queries exposed", h + " 10\n", engine.CacheCounts{}, q + " is not exposed"},
		{"not a count", q + " NaN\n" + h + " 1\n", engine.CacheCounts{}, "NaN is not a count"},
		{"a page", "<html>", engine.CacheCounts{}, "metrics unreadable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tt.body) }))
			defer s.Close()
			got, err := Engine{}.CacheCounts(t.Context(), dial(t, s.URL))
			if got != tt.want || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%+v, %v; want %+v, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

// The three together on a server with a cache: a repeat hits, one with another
// salt does not, and none does after a reset.
func TestCacheOfASimulatedServer(t *testing.T) {
	t.Parallel()
	s, err := sim.Listen(sim.Config{DevMode: true}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := dial(t, s.URL())
	hits := func(salt string) int64 {
		t.Helper()
		b := openai.Body{Model: "sim", MaxTokens: 4, TopP: 1}
		if salt != "" {
			Engine{}.Salt(&b, salt)
		}
		body, err := b.Encode([]byte(`[{"role":"user","content":"` + strings.Repeat("word ", 40) + `"}]`))
		if err != nil {
			t.Fatal(err)
		}
		before, err := Engine{}.CacheCounts(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if a := c.Chat(t.Context(), body); a.Err != nil {
			t.Fatal(a.Err)
		}
		after, err := Engine{}.CacheCounts(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if after.Queried != before.Queried+58 {
			t.Errorf("%d tokens looked up, want 58", after.Queried-before.Queried)
		}
		return after.Hits - before.Hits
	}
	got := []int64{hits(""), hits(""), hits("a"), hits("a"), hits("b")}
	if err := (Engine{}).Reset(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	got = append(got, hits(""))
	if diff := cmp.Diff([]int64{0, 48, 0, 48, 0, 0}, got); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}
