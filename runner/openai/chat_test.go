package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestChat(t *testing.T) {
	const body = "{\"messages\":[ \"<\u2028&>\" ]}"
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.URL.Path != "/api/v1/chat/completions" || string(got) != body {
			t.Errorf("the server saw %s %s %q", r.Method, r.URL.Path, got)
		}
		if r.Header.Get("Content-Type") != "application/json" || r.ContentLength != int64(len(body)) {
			t.Errorf("the server saw Content-Type %q, Content-Length %d", r.Header.Get("Content-Type"), r.ContentLength)
		}
		always(200, good)(w, r)
	})
	c, _ := newClient(t, Options{URL: url + "/api/v1/"})
	got := c.Chat(t.Context(), []byte(body))
	want := Completion{
		Model: "toy-target", FinishReason: "stop", Body: []byte(good), PromptTokens: ptr(12), CompletionTokens: ptr(8),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Chat() (-want +got):\n%s", diff)
	}
}

// A usage that lacks the count is no failure and no zero.
func TestCaseH01UsageMissing(t *testing.T) {
	for _, file := range []string{"no_usage.json", "usage_null.json", "partial.json"} {
		t.Run(file, func(t *testing.T) {
			url, _ := serve(t, always(200, string(testdata(t, "H01/"+file))))
			c, _ := newClient(t, Options{URL: url})
			got := c.Chat(t.Context(), []byte(request))
			if got.Err != nil || got.CompletionTokens != nil {
				t.Errorf("Chat() = %v tokens, error %v, want an unknown count", got.CompletionTokens, got.Err)
			}
		})
	}
}

// A 200 with an error inside fails at once, with the server's words.
func TestCaseH03ErrorIn200(t *testing.T) {
	for file, want := range map[string]string{
		"openai_error.json": "engine is out of memory",
		"error_string.json": "upstream timed out",
		"sglang_error.json": "input is longer than the context",
		"no_choices.json":   "no choices",
	} {
		t.Run(file, func(t *testing.T) {
			url, requests := serve(t, always(200, string(testdata(t, "H03/"+file))))
			c, _ := newClient(t, Options{URL: url, MaxRetries: 3})
			got := c.Chat(t.Context(), []byte(request))
			if got.Err == nil || !strings.Contains(got.Err.Error(), want) {
				t.Errorf("Chat() error = %v, want one with %q", got.Err, want)
			}
			if got.CompletionTokens != nil || got.Retries != 0 || requests.Load() != 1 {
				t.Errorf("Chat() = %+v after %d requests, want no tokens and 1 request", got, requests.Load())
			}
		})
	}
	t.Run("good_with_null_error.json", func(t *testing.T) {
		url, _ := serve(t, always(200, string(testdata(t, "H03/good_with_null_error.json"))))
		c, _ := newClient(t, Options{URL: url})
		got := c.Chat(t.Context(), []byte(request))
		if got.Err != nil || got.CompletionTokens == nil || *got.CompletionTokens != 21 {
			t.Errorf("Chat() = %+v, want 21 tokens", got)
		}
	})
}

// A body that breaks off is retried and then failed, even where what came is
// valid JSON.
func TestCaseH06TruncatedBody(t *testing.T) {
	for _, file := range []string{"truncated_json.raw", "complete_json_no_last_chunk.raw", "short_content_length.raw"} {
		t.Run(file, func(t *testing.T) {
			raw := testdata(t, "H06/"+file)
			url := serveRaw(t, func(_ int, conn net.Conn, r *bufio.Reader) {
				if readRequest(r) == nil {
					_, _ = conn.Write(raw)
				}
			})
			c, k := newClient(t, Options{URL: url, MaxRetries: 2})
			got := c.Chat(t.Context(), []byte(request))
			if !errors.Is(got.Err, io.ErrUnexpectedEOF) || !strings.Contains(got.Err.Error(), "unexpected EOF") {
				t.Errorf("Chat() error = %v, want unexpected EOF", got.Err)
			}
			if Kind(got.Err) != "unexpected EOF" {
				t.Errorf("Kind(%v) = %q, want unexpected EOF", got.Err, Kind(got.Err))
			}
			if got.Body != nil || got.CompletionTokens != nil {
				t.Errorf("Chat() = %+v, want nothing of the answer", got)
			}
			checkWaits(t, k, got, 1*time.Second, 2*time.Second)
		})
	}
}

func checkWaits(t *testing.T, k *clock, got Completion, want ...time.Duration) {
	t.Helper()
	var sum time.Duration
	for _, d := range want {
		sum += d
	}
	if diff := cmp.Diff(want, k.waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if got.Retries != len(want) || got.RetryWait != sum || got.Elapsed != sum {
		t.Errorf("%d retries, %s of waiting, %s elapsed; want %d, %s, %s",
			got.Retries, got.RetryWait, got.Elapsed, len(want), sum, sum)
	}
}

func TestCaseH07RetryAfter(t *testing.T) {
	var file struct {
		Variants struct {
			Seconds, Date, Exhausted struct{ Replies []reply }
			Garbage                  []struct{ Replies []reply }
			BadRequest               struct{ Replies []reply } `json:"bad_request"`
		}
	}
	if err := json.Unmarshal(testdata(t, "H07/server.json"), &file); err != nil {
		t.Fatal(err)
	}
	v := file.Variants
	// The case's dates, on a server whose clock is years off.
	v.Date.Replies[0].Headers = map[string]string{
		"Date": "Fri, 01 Dec 2023 10:00:00 GMT", "Retry-After": "Fri, 01 Dec 2023 10:00:02 GMT",
	}
	for _, tt := range []struct {
		name    string
		replies []reply
		waits   []time.Duration
		err     string
	}{
		{"seconds", v.Seconds.Replies, []time.Duration{2 * time.Second}, ""},
		{"date", v.Date.Replies, []time.Duration{2 * time.Second}, ""},
		{"garbage", v.Garbage[0].Replies, []time.Duration{time.Second}, ""},
		{"negative", v.Garbage[1].Replies, []time.Duration{time.Second}, ""},
		{"endless", v.Garbage[2].Replies, []time.Duration{60 * time.Second}, ""},
		{"exhausted", v.Exhausted.Replies, []time.Duration{time.Second, 2 * time.Second}, "HTTP 429: Too Many Requests"},
		{"bad request", v.BadRequest.Replies, nil, "HTTP 400: bad field"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, requests := serve(t, script(tt.replies))
			c, k := newClient(t, Options{URL: url, MaxRetries: 2})
			got := c.Chat(t.Context(), []byte(request))
			if text := errText(got.Err); text != tt.err {
				t.Errorf("Chat() error = %q, want %q", text, tt.err)
			}
			checkWaits(t, k, got, tt.waits...)
			if n := requests.Load(); n != int64(len(tt.waits))+1 {
				t.Errorf("the server saw %d requests, want %d", n, len(tt.waits)+1)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestCaseH08Key(t *testing.T) {
	const key = "demo-key-123"
	for _, tt := range []struct{ name, key, want string }{
		{"unset", "", ""},
		{"blank", "   ", ""},
		{"line break at the end", key + "\n", "Bearer " + key},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if got := strings.Join(r.Header["Authorization"], ","); got != tt.want {
					t.Errorf("Authorization of %s = %q, want %q", r.URL.Path, got, tt.want)
				}
				always(401, `{"error":{"message":"Incorrect API key provided: `+key+`"}}`)(w, r)
			})
			c, _ := newClient(t, Options{URL: url, APIKey: tt.key, MaxRetries: 3})
			got := c.Chat(t.Context(), []byte(request))
			if n := requests.Load(); n != 1 {
				t.Errorf("the server saw %d requests, want 1", n)
			}
			_, modelsErr := c.Models(t.Context())
			for _, err := range []error{got.Err, modelsErr} {
				if !strings.Contains(errText(err), "HTTP 401: Incorrect API key provided") || !strings.Contains(errText(err), "api_key_env") {
					t.Errorf("error = %v, want the 401 with a hint", err)
				}
				if tt.want != "" && strings.Contains(errText(err), key) {
					t.Errorf("error = %v, shows the key", err)
				}
			}
		})
	}
}

func TestCaseH16WrongModel(t *testing.T) {
	var file struct {
		Routes []struct{ Replies []reply }
	}
	if err := json.Unmarshal(testdata(t, "H16/server.json"), &file); err != nil {
		t.Fatal(err)
	}
	url, requests := serve(t, script(file.Routes[1].Replies))
	c, _ := newClient(t, Options{URL: url, MaxRetries: 3})
	got := c.Chat(t.Context(), []byte(request))
	if want := "HTTP 404: The model `Toy-Target` does not exist."; errText(got.Err) != want {
		t.Errorf("Chat() error = %v, want %s", got.Err, want)
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("the server saw %d requests, want 1", n)
	}
}

func TestCaseT06StreamRefused(t *testing.T) {
	for _, file := range []string{"stream.txt", "no_usage_stream.txt"} {
		t.Run(file, func(t *testing.T) {
			url, requests := serve(t, always(200, string(testdata(t, "T06/"+file))))
			c, _ := newClient(t, Options{URL: url, MaxRetries: 3})
			got := c.Chat(t.Context(), []byte(request))
			if !errors.Is(got.Err, errStream) || requests.Load() != 1 {
				t.Errorf("Chat() error = %v after %d requests, want the stream refused at once", got.Err, requests.Load())
			}
		})
	}
}

func TestChatRetries(t *testing.T) {
	ok := reply{Status: 200, Text: good}
	for _, tt := range []struct {
		name    string
		first   reply
		retries int
		err     string
	}{
		{"500", reply{Status: 500, Text: "boom"}, 1, ""},
		{"503 with Retry-After", reply{Status: 503, Headers: map[string]string{"Retry-After": "9"}}, 1, ""},
		{"599", reply{Status: 599}, 1, ""},
		{"429", reply{Status: 429}, 1, ""},
		{"broken JSON", reply{Status: 200, Text: `{"choices":[`}, 1, ""},
		{"empty 200", reply{Status: 200}, 1, ""},
		{"204", reply{Status: 204}, 1, ""},
		{"201 is judged by its body", reply{Status: 201, Text: good}, 0, ""},
		{"400", reply{Status: 400, Text: `{"detail":"no"}`}, 0, "HTTP 400: no"},
		{"408", reply{Status: 408}, 0, "HTTP 408: Request Timeout"},
		{"422", reply{Status: 422, Text: `{"detail":[{"msg":"a"},{"msg":"b"}]}`}, 0, "HTTP 422: a; b"},
		{"304", reply{Status: 304}, 0, "HTTP 304: Not Modified"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := serve(t, script([]reply{tt.first, ok}))
			c, k := newClient(t, Options{URL: url, MaxRetries: 3})
			got := c.Chat(t.Context(), []byte(request))
			if errText(got.Err) != tt.err || got.Retries != tt.retries || len(k.waits) != tt.retries {
				t.Errorf("Chat() error = %q, %d retries, %d waits; want %q, %d", errText(got.Err), got.Retries, len(k.waits), tt.err, tt.retries)
			}
			if tt.err == "" && (got.CompletionTokens == nil || *got.CompletionTokens != 8) {
				t.Errorf("Chat() = %+v, want 8 tokens", got)
			}
		})
	}
}

// Many answers in a row fail: the waits are those of the reference, and there are
// exactly as many requests as asked.
func TestChatGivesUp(t *testing.T) {
	url, requests := serve(t, always(500, "boom"))
	c, k := newClient(t, Options{URL: url, MaxRetries: 7})
	got := c.Chat(t.Context(), []byte(request))
	if errText(got.Err) != "HTTP 500: boom" || requests.Load() != 8 {
		t.Errorf("Chat() error = %v after %d requests, want HTTP 500 after 8", got.Err, requests.Load())
	}
	var want []time.Duration
	for _, s := range []int{1, 2, 4, 8, 16, 30, 30} {
		want = append(want, time.Duration(s)*time.Second)
	}
	checkWaits(t, k, got, want...)
}

func TestChatRedirectNotFollowed(t *testing.T) {
	for _, tt := range []struct{ name, to, want string }{
		{"another host", "https://user:pa55word@other.example/v1/chat/completions?token=pa55word",
			"HTTP 308: redirects to https://other.example/v1/chat/completions: put https://other.example into the plan as server"},
		{"another scheme and path", "https://other.example/gate/v1/chat/completions",
			"HTTP 308: redirects to https://other.example/gate/v1/chat/completions: put https://other.example/gate into the plan as server"},
		{"a page", "https://sso.example/login?for=pa55word", "HTTP 308: redirects to https://sso.example/login, which is not followed"},
		{"our key in the path", "https://sso.example/k3y-in-use/x", "HTTP 308: redirects to https://sso.example/***/x, which is not followed"},
		{"no web address", "ftp://other.example/v1/chat/completions", "HTTP 308: redirects to ftp://other.example/v1/chat/completions, which is not followed"},
		{"nowhere", "", "HTTP 308: Permanent Redirect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, requests := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", tt.to)
				w.WriteHeader(http.StatusPermanentRedirect)
			})
			c, _ := newClient(t, Options{URL: url, MaxRetries: 3, APIKey: "k3y-in-use"})
			got := c.Chat(t.Context(), []byte(request))
			if errText(got.Err) != tt.want || requests.Load() != 1 {
				t.Errorf("Chat() error = %v after %d requests\nwant %s after 1", got.Err, requests.Load(), tt.want)
			}
		})
	}
}

func TestChatCertificateIsFinal(t *testing.T) {
	s := httptest.NewUnstartedServer(always(200, good))
	s.Config.ErrorLog = discardLog()
	s.StartTLS()
	t.Cleanup(s.Close)
	c, k := newClient(t, Options{URL: s.URL, MaxRetries: 3})
	got := c.Chat(t.Context(), []byte(request))
	if !strings.Contains(errText(got.Err), "x509") || len(k.waits) != 0 {
		t.Errorf("Chat() error = %v after %d waits, want the x509 reason at once", got.Err, len(k.waits))
	}
}

// hold answers nothing until the client goes away, and tells when it has a
// request.
func hold(arrived chan<- struct{}) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice the client's going
		arrived <- struct{}{}
		<-r.Context().Done()
	}
}

func TestChatTimeout(t *testing.T) {
	url, _ := serve(t, hold(make(chan struct{}, 2)))
	c, k := newClient(t, Options{URL: strings.Replace(url, "//", "//user:pa55word@", 1), Timeout: 20 * time.Millisecond, MaxRetries: 1})
	got := c.Chat(t.Context(), []byte(request))
	want := "POST " + url + "/v1/chat/completions: no whole answer within 0.02 s (timeout_s)"
	if errText(got.Err) != want || !errors.Is(got.Err, context.DeadlineExceeded) || Kind(got.Err) != "timeout" {
		t.Errorf("Chat() error = %v (%s)\nwant %s", got.Err, Kind(got.Err), want)
	}
	checkWaits(t, k, got, time.Second)
}

// The timeout is for the whole answer: a server that goes silent in the middle of
// a body does not escape it.
func TestChatTimeoutInBody(t *testing.T) {
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"choices":`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	c, _ := newClient(t, Options{URL: url, Timeout: 20 * time.Millisecond})
	got := c.Chat(t.Context(), []byte(request))
	if !errors.Is(got.Err, context.DeadlineExceeded) {
		t.Errorf("Chat() error = %v, want the timeout", got.Err)
	}
}

func TestChatCancelled(t *testing.T) {
	stop := errors.New("interrupt")
	check := func(t *testing.T, got Completion, retries int) {
		t.Helper()
		if !errors.Is(got.Err, context.Canceled) || !errors.Is(got.Err, stop) || got.Retries != retries {
			t.Errorf("Chat() error = %v, %d retries; want the context's and its cause, %d", got.Err, got.Retries, retries)
		}
	}
	t.Run("in flight", func(t *testing.T) {
		arrived := make(chan struct{}, 1)
		url, _ := serve(t, hold(arrived))
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { <-arrived; cancel(stop) }()
		c, k := newClient(t, Options{URL: url, MaxRetries: 3})
		check(t, c.Chat(ctx, []byte(request)), 0)
		if len(k.waits) != 0 {
			t.Error("waited for a retry after the context's end")
		}
	})
	t.Run("before", func(t *testing.T) {
		url, requests := serve(t, always(200, good))
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stop)
		c, _ := newClient(t, Options{URL: url, MaxRetries: 3})
		check(t, c.Chat(ctx, []byte(request)), 0)
		if requests.Load() != 0 {
			t.Error("a request was sent")
		}
	})
	t.Run("between attempts", func(t *testing.T) {
		url, _ := serve(t, always(500, ""))
		ctx, cancel := context.WithCancelCause(t.Context())
		c, _ := newClient(t, Options{URL: url, MaxRetries: 3, Wait: func(ctx context.Context, _ time.Duration) error {
			cancel(stop)
			return Sleep(ctx, time.Hour)
		}})
		check(t, c.Chat(ctx, []byte(request)), 0)
	})
}
