package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"
)

// startEcho is a server that repeats every header that it was sent in its errors, as
// careless gateways do, with terminal escapes around it: $ECHO.
func startEcho(env *testscript.Env) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/health":
		case "/v1/models":
			_ = json.NewEncoder(w).Encode(map[string]any{"data": []any{map[string]any{"id": "m\x1b[31m<img src=x>"}}})
		default:
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
				"message": fmt.Sprintf("\x1b]0;title\x07\x1b[2J=HYPERLINK(\"x\") <script>alert(1)</script> | you sent %v", r.Header)}})
		}
	}))
	env.Defer(srv.Close)
	env.Setenv("ECHO", srv.URL)
}
