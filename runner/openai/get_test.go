package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestGetAndPost(t *testing.T) {
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Seen", strings.Join([]string{r.Method, r.URL.RequestURI(), r.Header.Get("Accept"), r.Header.Get("Content-Type"), string(body)}, "|"))
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	})
	c, _ := newClient(t, Options{URL: url + "/api/v1"})
	for _, tt := range []struct {
		name string
		do   func(context.Context) (Reply, error)
		want string
	}{
		{"Get", func(ctx context.Context) (Reply, error) { return c.Get(ctx, "/server_info?x=1") }, "GET|/api/server_info?x=1|||"},
		{"GetAccept", func(ctx context.Context) (Reply, error) { return c.GetAccept(ctx, "/metrics", "text/plain") }, "GET|/api/metrics|text/plain||"},
		{"Post empty", func(ctx context.Context) (Reply, error) { return c.Post(ctx, "/flush_cache", nil) }, "POST|/api/flush_cache|||"},
		{"Post", func(ctx context.Context) (Reply, error) { return c.Post(ctx, "/x", []byte("{}")) }, "POST|/api/x||application/json|{}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != http.StatusTeapot || string(got.Body) != "short and stout" || got.Header.Get("X-Seen") != tt.want {
				t.Errorf("reply = %d %q, the server saw %q; want %q", got.Status, got.Body, got.Header.Get("X-Seen"), tt.want)
			}
			var refused *HTTPError
			if !errors.As(got.Err(), &refused) || refused.Error() != "HTTP 418: short and stout" {
				t.Errorf("Err() = %v", got.Err())
			}
		})
	}
}

func TestReplyErr(t *testing.T) {
	for _, tt := range []struct {
		r    Reply
		want string
	}{
		{Reply{Status: 200}, ""},
		{Reply{Status: 204}, ""},
		{Reply{Status: 503, Body: []byte(`{"error":{"message":"Loading\nmodel"}}`)}, "HTTP 503: Loading model"},
	} {
		if got := errText(tt.r.Err()); got != tt.want {
			t.Errorf("Reply{%d}.Err() = %q, want %q", tt.r.Status, got, tt.want)
		}
	}
}

func TestGetErrors(t *testing.T) {
	t.Run("once only", func(t *testing.T) {
		url, requests := serve(t, always(500, ""))
		c, _ := newClient(t, Options{URL: url, MaxRetries: 3})
		if r, err := c.Get(t.Context(), "/health"); err != nil || r.Status != 500 || requests.Load() != 1 {
			t.Errorf("Get() = %d, %v after %d requests, want a 500 after one", r.Status, err, requests.Load())
		}
	})
	t.Run("timeout", func(t *testing.T) {
		url, _ := serve(t, hold(make(chan struct{}, 1)))
		c, _ := newClient(t, Options{URL: url, Timeout: 20 * time.Millisecond})
		_, err := c.Get(t.Context(), "/health")
		if want := "GET " + url + "/health: no whole answer within 0.02 s"; errText(err) != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Get() error = %v, want %s", err, want)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		arrived := make(chan struct{}, 1)
		url, _ := serve(t, hold(arrived))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-arrived; cancel() }()
		c, _ := newClient(t, Options{URL: url})
		if _, err := c.Get(ctx, "/health"); !errors.Is(err, context.Canceled) {
			t.Errorf("Get() error = %v, want the context's", err)
		}
	})
	t.Run("too large", func(t *testing.T) {
		url, _ := serve(t, always(200, good))
		c, k := newClient(t, Options{URL: url, MaxRetries: 3})
		c.maxReply = int64(len(good)) - 1
		_, err := c.Get(t.Context(), "/metrics")
		got := c.Chat(t.Context(), []byte(request))
		for _, err := range []error{err, got.Err} {
			if !errors.Is(err, errTooLarge) {
				t.Errorf("error = %v, want the limit", err)
			}
		}
		if len(k.waits) != 0 {
			t.Error("what is too large was asked for again")
		}
	})
	t.Run("address", func(t *testing.T) {
		c, _ := newClient(t, Options{URL: "http://user:pa55word@127.0.0.1:1"})
		_, err := c.Get(t.Context(), "/a b%zz")
		if err == nil || strings.Contains(err.Error(), "pa55word") {
			t.Errorf("Get() error = %v, want one without the password", err)
		}
	})
	t.Run("redirect", func(t *testing.T) {
		url, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere"+r.URL.Path, http.StatusTemporaryRedirect)
		})
		c, _ := newClient(t, Options{URL: url, APIKey: "k"})
		r, err := c.Get(t.Context(), "/metrics")
		want := "HTTP 307: redirects to " + url + "/elsewhere/metrics: put " + url + "/elsewhere into the plan as server"
		if err != nil || errText(r.Err()) != want || requests.Load() != 1 {
			t.Errorf("Get() = %v, %v after %d requests\nwant %s", r.Err(), err, requests.Load(), want)
		}
	})
}

func TestModels(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		want       []string
		err        string // part of it
	}{
		{"two", `{"object":"list","data":[{"id":"b"},{"id":"a"}]}`, 200, []string{"b", "a"}, ""},
		{"one several times", `{"data":[{"id":"b"},{"id":"a"},{"id":"b"},{"id":"b"}]}`, 200, []string{"b", "a"}, ""},
		{"none yet", `{"object":"list","data":[]}`, 200, []string{}, ""},
		{"without ids", `{"data":[{},{"id":""}]}`, 200, []string{}, ""},
		{"loading", `{"error":{"message":"Loading model"}}`, 503, nil, "/v1/models: HTTP 503: Loading model"},
		{"a page", "<html>", 200, nil, "/v1/models: the answer is not JSON: <html>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := serve(t, always(tt.status, tt.body))
			c, _ := newClient(t, Options{URL: url})
			got, err := c.Models(t.Context())
			if (err == nil) != (tt.err == "") || !strings.Contains(errText(err), tt.err) {
				t.Errorf("Models() error = %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Models() (-want +got):\n%s", diff)
			}
			var refused *HTTPError
			if errors.As(err, &refused) != (tt.status != 200) {
				t.Errorf("Models() error = %#v", err)
			}
		})
	}
}
