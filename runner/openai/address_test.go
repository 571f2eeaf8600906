package openai

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRootURL(t *testing.T) {
	for raw, want := range map[string]string{
		"http://h:8000":         "http://h:8000",
		"http://h:8000/":        "http://h:8000",
		"http://h:8000/v1":      "http://h:8000",
		"http://h:8000/v1/":     "http://h:8000",
		"http://h:8000//v1//":   "http://h:8000",
		"http://h:8000/v1/v1":   "http://h:8000/v1", // one /v1 only
		"http://h:8000/api/v1":  "http://h:8000/api",
		"http://h:8000/llamav1": "http://h:8000/llamav1",
		"http://[::1]:8000/v1":  "http://[::1]:8000",
	} {
		if got := RootURL(raw); got != want {
			t.Errorf("RootURL(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		want string // part of the error
	}{
		{"no scheme", Options{URL: "localhost:8000"}, "want http://host:port"},
		{"no host", Options{URL: "http:///v1"}, "want http://host:port"},
		{"empty", Options{}, "want http://host:port"},
		{"other scheme", Options{URL: "ftp://h"}, "want http://host:port"},
		{"bad port", Options{URL: "http://u:pa55word@h:80x0"}, "invalid port"},
		{"bad userinfo", Options{URL: "http://u:pa55 word@h"}, "invalid userinfo"},
		{"query", Options{URL: "http://h/?key=pa55word"}, "query or fragment"},
		{"line break in the key", Options{URL: "http://h", APIKey: "pa55\nword"}, "API key"},
		{"line break in a header", Options{URL: "http://h", Headers: map[string]string{"X-Key": "pa55\r\nword"}}, "header X-Key"},
		{"bad header name", Options{URL: "http://h", Headers: map[string]string{"X Key": "pa55word"}}, `header "X Key"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("New() error = %v, want one with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "pa55") {
				t.Errorf("New() error = %v, shows a secret", err)
			}
		})
	}
}

func TestCaseH10IPv6(t *testing.T) {
	for _, raw := range []string{"http://::1:8000", "http://user:word@::1:8000/v1"} {
		_, err := New(Options{URL: raw})
		if err == nil || !strings.Contains(err.Error(), "http://[::1]:8000") {
			t.Errorf("New(%q) error = %v, want one that shows brackets", raw, err)
		}
	}
	if _, err := New(Options{URL: "http://[fe80::1%25lo]:8000"}); err != nil {
		t.Errorf("New(address with a zone) error = %v", err)
	}

	s := httptest.NewUnstartedServer(always(200, good))
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatalf("this test needs IPv6 on the loopback interface: %v", err)
	}
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	for _, suffix := range []string{"", "/v1"} {
		c, _ := newClient(t, Options{URL: s.URL + suffix})
		if got := c.Chat(t.Context(), []byte(request)); got.Err != nil {
			t.Errorf("Chat on %s%s: %v", s.URL, suffix, got.Err)
		}
	}
}

func TestURLHidesUserinfo(t *testing.T) {
	c, _ := newClient(t, Options{URL: "https://user:pa55word@h:8000/api/v1/"})
	if got, want := c.URL(), "https://h:8000/api"; got != want {
		t.Errorf("URL() = %q, want %q", got, want)
	}
}

// What every kind of request carries, seen by the server.
func TestRequestHeaders(t *testing.T) {
	for _, tt := range []struct {
		name     string
		o        Options
		userinfo string
		want     map[string]string
	}{
		{
			name: "headers and a key",
			o: Options{APIKey: "demo-key-123", Headers: map[string]string{
				"x-team": "a b", "authorization": "Basic old", "host": "models.example", "user-agent": "mine",
			}},
			want: map[string]string{
				"X-Team": "a b", "Authorization": "Bearer demo-key-123", "Host": "models.example", "User-Agent": "mine",
			},
		},
		{
			name: "header without a key", o: Options{Headers: map[string]string{"Authorization": "Token abc"}},
			want: map[string]string{"Authorization": "Token abc", "User-Agent": "specsweep"},
		},
		{
			name: "userinfo", userinfo: "user:pa55word@",
			want: map[string]string{"Authorization": "Basic dXNlcjpwYTU1d29yZA=="},
		},
		{
			name: "userinfo and a key", userinfo: "user:pa55word@", o: Options{APIKey: "k"},
			want: map[string]string{"Authorization": "Bearer k"},
		},
		{
			name: "nothing",
			want: map[string]string{"Authorization": "", "Accept-Encoding": ""},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
				r.Header.Set("Host", r.Host)
				for name, want := range tt.want {
					if got := r.Header.Get(name); got != want {
						t.Errorf("%s %s: %s = %q, want %q", r.Method, r.URL.Path, name, got, want)
					}
				}
				always(200, good)(w, r)
			})
			o := tt.o
			o.URL = strings.Replace(url, "http://", "http://"+tt.userinfo, 1)
			c, _ := newClient(t, o)
			if got := c.Chat(t.Context(), []byte(request)); got.Err != nil {
				t.Error(got.Err)
			}
			if _, err := c.Get(t.Context(), "/metrics"); err != nil {
				t.Error(err)
			}
			if _, err := c.Post(t.Context(), "/flush_cache", nil); err != nil {
				t.Error(err)
			}
			if requests.Load() != 3 {
				t.Errorf("the server saw %d requests, want 3", requests.Load())
			}
		})
	}
}
