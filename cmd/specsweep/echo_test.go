package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"
)

// hostile is what no terminal, spreadsheet or browser should obey: escape sequences in
// 7 and 8 bits, a turned reading direction, a formula and a script.
const hostile = "\x1b]0;title\x07\x1b[2J\u009b31m\u202e=HYPERLINK(\"x\") <script>alert(1)</script> |"

// startEcho is a server that repeats every header that it was sent in its errors, as
// careless gateways do, with terminal escapes around it, in a stream where one is asked
// for: $ECHO. $HOSTILE answers, with escapes in all that it says.
func startEcho(env *testscript.Env) {
	for name, answers := range map[string]bool{"ECHO": false, "HOSTILE": true} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { echo(w, r, answers) }))
		env.Defer(srv.Close)
		env.Setenv(name, srv.URL)
	}
}

func echo(w http.ResponseWriter, r *http.Request, answers bool) {
	body, _ := io.ReadAll(r.Body)
	say := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	failure := map[string]any{"error": map[string]any{"message": fmt.Sprintf("%s you sent %v", hostile, r.Header)}}
	switch {
	case r.URL.Path == "/health":
	case r.URL.Path == "/v1/models":
		say(map[string]any{"data": []any{map[string]any{"id": "m\x1b[31m<img src=x>"}}})
	case answers && r.URL.Path == "/version":
		say(map[string]any{"version": "0.32.0" + hostile})
	case answers && r.URL.Path == "/v1/chat/completions":
		say(map[string]any{
			"model":   hostile,
			"choices": []any{map[string]any{"message": map[string]any{"content": hostile}, "finish_reason": hostile}},
			"usage":   map[string]any{"completion_tokens": 5, "prompt_tokens": 3},
		})
	case bytes.Contains(body, []byte(`"stream":true`)):
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: ")
		say(failure)
		fmt.Fprint(w, "\n")
	default:
		w.WriteHeader(http.StatusBadRequest)
		say(failure)
	}
}
