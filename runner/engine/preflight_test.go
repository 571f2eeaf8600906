package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
)

// patience is a wait that no test should see the end of.
const patience = 20 * time.Second

// brief is a wait that is sat out, long enough for one answer of a busy machine.
const brief = 500 * time.Millisecond

// fake is an engine of which only the description is asked for.
type fake struct {
	engine.Engine
	name string
	desc engine.Description
	err  error
}

func (f fake) Name() string { return f.name }

func (f fake) Describe(context.Context, *openai.Client) (engine.Description, error) {
	return f.desc, f.err
}

// reply is one scripted answer; the last of a route is repeated.
type reply struct {
	status int
	body   string
}

// script answers each path with its replies in turn, anything else with 404, and
// counts what it was asked.
type script struct {
	replies map[string][]reply
	asked   map[string]*atomic.Int64
}

func newScript(replies map[string][]reply) *script {
	s := &script{replies: replies, asked: map[string]*atomic.Int64{}}
	for path := range replies {
		s.asked[path] = new(atomic.Int64)
	}
	return s
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	replies, ok := s.replies[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	n := int(s.asked[r.URL.Path].Add(1))
	answer := replies[min(n, len(replies))-1]
	w.WriteHeader(answer.status)
	_, _ = io.WriteString(w, answer.body)
}

func models(ids ...string) string {
	list := struct {
		Data []map[string]string `json:"data"`
	}{Data: []map[string]string{}}
	for _, id := range ids {
		list.Data = append(list.Data, map[string]string{"id": id})
	}
	b, _ := json.Marshal(list)
	return string(b)
}

func client(t *testing.T, url string) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Options{URL: url, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.Handler) *openai.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return client(t, s.URL)
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	healthy := []reply{{200, ""}}
	many := make([]string, 23)
	for i := range many {
		many[i] = fmt.Sprintf("m%02d", i)
	}
	tests := []struct {
		name    string
		replies map[string][]reply
		model   string
		wait    time.Duration
		engine  fake
		want    engine.Description
		err     []string // parts of the error
	}{
		{name: "ready", replies: map[string][]reply{"/health": healthy, "/v1/models": {{200, models("a", "b")}}}, model: "b",
			engine: fake{desc: engine.Description{Version: "1"}}, want: engine.Description{Models: []string{"a", "b"}, Model: "b", Version: "1"}},
		{name: "the only model", replies: map[string][]reply{"/health": healthy, "/v1/models": {{200, models("a")}}},
			want: engine.Description{Models: []string{"a"}, Model: "a"}},
		{name: "no /health", replies: map[string][]reply{"/v1/models": {{200, models("a")}}},
			want: engine.Description{Models: []string{"a"}, Model: "a"}},
		{name: "/health answers 501", replies: map[string][]reply{"/health": {{501, ""}}, "/v1/models": {{200, models("a")}}},
			want: engine.Description{Models: []string{"a"}, Model: "a"}},
		{name: "not described", replies: map[string][]reply{"/health": healthy, "/v1/models": {{200, models("a")}}},
			engine: fake{err: errors.New("no /version")},
			want: engine.Description{Models: []string{"a"}, Model: "a",
				Notes: []string{"version and speculative settings unknown: no /version"}}},
		{name: "waited for", replies: map[string][]reply{"/health": {{503, "starting"}, {503, "starting"}, {200, ""}}, "/v1/models": {{200, models("a")}}},
			wait: patience, want: engine.Description{Models: []string{"a"}, Model: "a"}},
		{name: "overloaded for a moment", replies: map[string][]reply{"/health": healthy, "/v1/models": {{429, "slow down"}, {408, ""}, {200, models("a")}}},
			wait: patience, want: engine.Description{Models: []string{"a"}, Model: "a"}},
		{name: "asked once", replies: map[string][]reply{"/health": {{503, "starting"}, {200, ""}}, "/v1/models": {{200, models("a")}}},
			err: []string{"not ready: GET http://", "/health: HTTP 503: starting"}},
		{name: "overloaded", replies: map[string][]reply{"/health": {{429, "slow down"}}, "/v1/models": {{200, models("a")}}},
			err: []string{"not ready: GET http://", "/health: HTTP 429: slow down"}},
		{name: "never ready", replies: map[string][]reply{"/health": healthy, "/v1/models": {{503, `{"error":{"message":"Loading model"}}`}}},
			wait: brief, err: []string{"not ready after 500ms: GET http://", "/v1/models: HTTP 503: Loading model"}},
		{name: "a page instead of models", replies: map[string][]reply{"/health": healthy, "/v1/models": {{200, "<html>Welcome</html>"}}},
			err: []string{"not ready: GET http://", "/v1/models: ", "Welcome"}},
		{name: "key refused", replies: map[string][]reply{"/health": healthy, "/v1/models": {{401, `{"error":"Unauthorized"}`}}},
			wait: patience, err: []string{"GET http://", "/v1/models: HTTP 401: Unauthorized", "api_key_env"}},
		{name: "key refused for everything", replies: map[string][]reply{"/health": {{403, "no"}}}, wait: patience,
			err: []string{"/health: HTTP 403: no"}},
		{name: "refused", replies: map[string][]reply{"/health": {{400, "odd"}}, "/v1/models": {{400, "Client sent an HTTP request to an HTTPS server."}}},
			wait: patience, err: []string{"HTTP 400: Client sent an HTTP request to an HTTPS server."}},
		{name: "several and none named", replies: map[string][]reply{"/v1/models": {{200, models("a", "b")}}},
			err: []string{"serves 2 models: name one of them in the plan: a, b"}},
		{name: "not served", replies: map[string][]reply{"/v1/models": {{200, models(many...)}}}, model: "x",
			err: []string{`model "x" is not served by http://`, "it serves m00, m01", "m19 and 3 more"}},
		{name: "gateway", replies: map[string][]reply{"/health": healthy}, model: "x",
			want: engine.Description{Model: "x", Notes: []string{`GET /v1/models: HTTP 404: not checked whether model "x" is served`}}},
		{name: "gateway without the method", replies: map[string][]reply{"/v1/models": {{405, ""}}}, model: "x",
			want: engine.Description{Model: "x", Notes: []string{`GET /v1/models: HTTP 405: not checked whether model "x" is served`}}},
		{name: "gateway and none named", replies: map[string][]reply{"/health": healthy},
			err: []string{"lists no models (GET /v1/models: HTTP 404): name the model in the plan"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, newScript(tt.replies))
			got, err := engine.Preflight(t.Context(), tt.engine, c, engine.PreflightOptions{Model: tt.model, Wait: tt.wait, Poll: time.Millisecond})
			if tt.err != nil {
				for _, part := range tt.err {
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("error %v, want it to hold %q", err, part)
					}
				}
				if tt.wait == patience && strings.Contains(err.Error(), "not ready") {
					t.Errorf("waited before saying %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("description (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCaseH12StillLoading(t *testing.T) {
	t.Parallel()
	s := newScript(map[string][]reply{
		"/v1/models":           {{200, models()}, {200, models()}, {200, models("toy-target")}},
		"/v1/chat/completions": {{503, ""}},
	})
	var logged bytes.Buffer
	got, err := engine.Preflight(t.Context(), fake{}, serve(t, s), engine.PreflightOptions{
		Name: "ckpt", Wait: patience, Poll: time.Millisecond, Log: slog.New(slog.NewTextHandler(&logged, nil)),
	})
	if err != nil || got.Model != "toy-target" {
		t.Fatalf("Preflight = %+v, %v", got, err)
	}
	if n := s.asked["/v1/models"].Load(); n != 3 {
		t.Errorf("asked for models %d times, want 3", n)
	}
	if n := strings.Count(logged.String(), "\n"); n != 1 || !strings.Contains(logged.String(), "ckpt") || !strings.Contains(logged.String(), "empty") {
		t.Errorf("want one line that names the server and the reason, got:\n%s", &logged)
	}

	s.replies["/v1/models"] = []reply{{200, models()}}
	_, err = engine.Preflight(t.Context(), fake{}, serve(t, s), engine.PreflightOptions{Wait: brief, Poll: time.Millisecond})
	if err == nil || !strings.HasPrefix(err.Error(), "not ready after 500ms: GET http://") || !strings.HasSuffix(err.Error(), "the list of models is empty") {
		t.Errorf("error %v, want not ready after 500ms and the reason", err)
	}
	if n := s.asked["/v1/chat/completions"].Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestCaseH16WrongModelName(t *testing.T) {
	t.Parallel()
	s := newScript(map[string][]reply{"/v1/models": {{200, models("toy-target")}}, "/v1/chat/completions": {{404, ""}}})
	c := serve(t, s)
	_, err := engine.Preflight(t.Context(), fake{}, c, engine.PreflightOptions{Model: "Toy-Target", Wait: patience})
	want := fmt.Sprintf(`model "Toy-Target" is not served by %s: it serves toy-target (names are case-sensitive)`, c.URL())
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant  %s", err, want)
	}
	if n := s.asked["/v1/models"].Load(); n != 1 {
		t.Errorf("a wrong name was asked for %d times", n)
	}
}

func TestPreflightWaitsForAServerThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c := client(t, "http://"+addr)
	_, err = engine.Preflight(t.Context(), fake{}, c, engine.PreflightOptions{})
	if want := "not ready: GET http://" + addr + "/health: "; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "refused") {
		t.Fatalf("error %v, want %s… refused", err, want)
	}

	// The first line of the log says that it is waited for: then it starts.
	waiting := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := engine.Preflight(t.Context(), fake{}, c, engine.PreflightOptions{
			Wait: patience, Poll: time.Millisecond, Log: slog.New(slog.NewTextHandler(closeOnWrite{waiting}, nil)),
		})
		done <- err
	}()
	<-waiting
	if l, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: newScript(map[string][]reply{"/v1/models": {{200, models("m")}}}), ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	if err := <-done; err != nil {
		t.Error(err)
	}
	c.Close()
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	<-served
}

// closeOnWrite closes its channel at the only write that it expects.
type closeOnWrite struct{ c chan struct{} }

func (w closeOnWrite) Write(p []byte) (int, error) {
	close(w.c)
	return len(p), nil
}

func TestPreflightShowsACertificateErrorAtOnce(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(newScript(map[string][]reply{"/v1/models": {{200, models("m")}}}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	_, err := engine.Preflight(t.Context(), fake{}, client(t, s.URL), engine.PreflightOptions{Wait: patience})
	if err == nil || !strings.Contains(err.Error(), "x509") || !strings.Contains(err.Error(), "ca_file") || !strings.Contains(err.Error(), s.URL) || strings.Contains(err.Error(), "not ready") {
		t.Errorf("error %v, want the x509 reason at once and %s", err, s.URL)
	}
}

func TestPreflightNoticesHTTPWhereTLSWasMeant(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	c := client(t, strings.Replace(s.URL, "http://", "https://", 1))
	_, err := engine.Preflight(t.Context(), fake{}, c, engine.PreflightOptions{Wait: patience})
	if !errors.Is(err, http.ErrSchemeMismatch) || strings.Contains(err.Error(), "not ready") {
		t.Errorf("error %v, want %v at once", err, http.ErrSchemeMismatch)
	}
}

func TestPreflightEndsATryThatHangs(t *testing.T) {
	t.Parallel()
	c := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	_, err := engine.Preflight(t.Context(), fake{}, c, engine.PreflightOptions{Wait: 30 * time.Millisecond})
	if want := "not ready after 30ms: GET " + c.URL() + "/health: "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestPreflightEndsWithItsContext(t *testing.T) {
	t.Parallel()
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel(interrupted)
		<-r.Context().Done()
	}))
	if _, err := engine.Preflight(ctx, fake{}, c, engine.PreflightOptions{Wait: patience}); !errors.Is(err, interrupted) {
		t.Errorf("error %v, want %v", err, interrupted)
	}
}

func TestFetchNamesTheAddressOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, http.NotFoundHandler())
	_, err := engine.Fetch(t.Context(), c, "/metrics", "text/plain")
	var status *openai.HTTPError
	if want := "GET " + c.URL() + "/metrics: HTTP 404: 404 page not found"; !errors.As(err, &status) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	gone := client(t, "http://127.0.0.1:1")
	_, err = engine.Fetch(t.Context(), gone, "/metrics", "")
	if err == nil || strings.Count(err.Error(), "/metrics") != 1 {
		t.Errorf("error %v, want /metrics once", err)
	}
}
