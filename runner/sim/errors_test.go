package sim

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	const hi = `"messages":[{"role":"user","content":"x"}]`
	for _, tc := range []struct {
		name, body string
		file       string // captured answer with the same status, type and param
		status     int
		message    string // part of it
	}{
		{"unknown model", `{"model":"nope",` + hi + `}`, "unknown_model", 404, "`nope` does not exist"},
		{"no model", `{` + hi + `}`, "", 404, "does not exist"},
		{"malformed", `{"model": "tiny", "messages": [{`, "malformed", 400, "JSON decode error"},
		{"empty body", ``, "", 400, "JSON decode error"},
		{"two values", `{"model":"tiny",` + hi + `} {}`, "", 400, "JSON decode error"},
		{"a list", `[]`, "", 400, "body"},
		{"no messages", `{"model":"tiny"}`, "no_messages", 400, "Field required"},
		{"messages null", `{"model":"tiny","messages":null}`, "no_messages", 400, "Field required"},
		{"messages no list", `{"model":"tiny","messages":"x"}`, "", 400, "body.messages"},
		{"empty messages", `{"model":"tiny","messages":[]}`, "empty_messages", 400, "at least one message"},
		{"max_tokens 0", `{"model":"tiny","max_tokens":0,` + hi + `}`, "max_tokens_zero", 400, "at least 1, got 0"},
		{"max_tokens negative", `{"model":"tiny","max_tokens":-1,` + hi + `}`, "", 400, "at least 1, got -1"},
		{"max_tokens text", `{"model":"tiny","max_tokens":"x",` + hi + `}`, "", 400, "body.max_tokens"},
		{"max_tokens too large", `{"model":"tiny","max_tokens":5000000,` + hi + `}`, "max_tokens_too_large", 400, "cannot be greater"},
		{"stream", `{"model":"tiny","stream":true,"max_tokens":0,` + hi + `}`, "", 400, "at least 1, got 0"},
	} {
		for engine, d := range dialects() {
			if engine == "llamacpp" && tc.status == http.StatusNotFound {
				continue // it ignores the name of the model: TestLlamaManners
			}
			t.Run(tc.name+" "+engine, func(t *testing.T) {
				t.Parallel()
				r := start(t, Config{Engine: engine, Model: "tiny"})
				req := request(t, http.MethodPost, r.URL()+"/v1/chat/completions", tc.body)
				req.Header.Set("Content-Type", "application/json; charset=utf-8")
				a := send(t, nil, req)
				got := decode(t, a.body)
				if e, ok := got["error"].(map[string]any); ok {
					got = e
				}
				if a.status != tc.status || got["code"] != float64(tc.status) {
					t.Errorf("status %d, code %v, want %d", a.status, got["code"], tc.status)
				}
				if text, _ := got["message"].(string); !strings.Contains(text, tc.message) {
					t.Errorf("message %q, want it to hold %q", text, tc.message)
				}
				if n := r.Stats(); n.Refused != 1 || n.GeneratedTokens != 0 || n.InFlight != 0 {
					t.Errorf("counters %+v, want one refused request and nothing else", n)
				}
				if _, ok := d.(vllm); !ok || tc.file == "" {
					return
				}
				want := decode(t, fixture(t, "vllm-0.32.0_err_"+tc.file+".json"))["error"].(map[string]any)
				// The texts are ours, and so is the place of a syntax error.
				delete(want, "message")
				delete(got, "message")
				if tc.file == "malformed" {
					want["param"], got["param"] = "body.", got["param"].(string)[:5]
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("error (-captured +simulated):\n%s", d)
				}
			})
		}
	}
}

func TestWrongContentType(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Model: "tiny"})
	for _, kind := range []string{"", "text/plain", "application/json2"} {
		req := request(t, http.MethodPost, r.URL()+"/v1/chat/completions", chatBody(1, 1))
		req.Header.Set("Content-Type", kind)
		a := send(t, nil, req)
		if d := cmp.Diff(decode(t, fixture(t, "vllm-0.32.0_err_wrong_content_type.json")), decode(t, a.body)); d != "" || a.status != http.StatusBadRequest {
			t.Errorf("content type %q: status %d, error (-captured +simulated):\n%s", kind, a.status, d)
		}
	}
}

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	for engine := range dialects() {
		if engine == "llamacpp" {
			continue // built on another library: TestLlamaManners
		}
		r := start(t, Config{Engine: engine})
		for _, tc := range []struct {
			method, path string
			status       int
			want         map[string]any
		}{
			{http.MethodGet, "/", 404, decode(t, fixture(t, "vllm-0.32.0_not_found.json"))},
			{http.MethodGet, "/v1/nothing", 404, decode(t, fixture(t, "vllm-0.32.0_not_found.json"))},
			{http.MethodGet, "/v1/chat/completions", 405, map[string]any{"detail": "Method Not Allowed"}},
		} {
			a := send(t, nil, request(t, tc.method, r.URL()+tc.path, ""))
			if d := cmp.Diff(tc.want, decode(t, a.body)); d != "" || a.status != tc.status {
				t.Errorf("%s: %s %s: status %d, want %d (-want +got):\n%s", engine, tc.method, tc.path, a.status, tc.status, d)
			}
		}
	}
}

func TestAPIKey(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		engine, path string
		open         bool
	}{
		{"vllm", "/health", true},
		{"vllm", "/metrics", true},
		{"vllm", "/version", true},
		{"vllm", "/v1/models", false},
		{"sglang", "/health", true},
		{"sglang", "/server_info", false},
		{"sglang", "/v1/models", false},
		{"sglang", "/nothing", false},
	} {
		t.Run(tc.engine+" "+tc.path, func(t *testing.T) {
			t.Parallel()
			r := start(t, Config{Engine: tc.engine, APIKey: "secret"})
			for _, key := range []string{"", "Bearer wrong", "secret", "Bearer secret"} {
				req := request(t, http.MethodGet, r.URL()+tc.path, "")
				req.Header.Set("Authorization", key)
				a := send(t, nil, req)
				let := tc.open || key == "Bearer secret"
				if (a.status != http.StatusUnauthorized) != let {
					t.Errorf("Authorization %q: status %d, want to be let in: %v", key, a.status, let)
				}
				if !let && !bytes.Equal(a.body, bytes.TrimSpace(fixture(t, "vllm-0.32.0_noauth.json"))) {
					t.Errorf("Authorization %q: %s", key, a.body)
				}
			}
		})
	}
}

// Without Serve there is no engine to wait for.
func TestHandlerAlone(t *testing.T) {
	t.Parallel()
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, request(t, http.MethodPost, "/v1/chat/completions", chatBody(1, 1)))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d, want 503: %s", w.Code, w.Body)
	}
}

func FuzzReadRequest(f *testing.F) {
	for _, seed := range []string{
		chatBody(1, 5), `{}`, `[]`, `null`, `{"model":"sim","messages":[]}`, `{"model":"sim","messages":[null,1,"x"],"max_tokens":-1}`,
		`{"model":"sim","messages":[{"content":[{"text":"x"}]}],"max_tokens":1e3}`, `{"MODEL":"sim","Messages":[{}]}`, `{"model":"sim","messages":[{}],"messages":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		req, p := readRequest(r, "sim")
		if p != nil {
			if p.status < 400 || p.status > 499 || p.message == "" || p.kind == "" {
				t.Errorf("problem %+v, want a 4xx with words", *p)
			}
			return
		}
		if len(req.Messages) == 0 || req.limit < 1 || req.limit > maxModelLen || req.prompt == (promptHash{}) || promptTokens(req.Messages) < 8 {
			t.Errorf("%q was taken as %+v", body, req)
		}
	})
}
