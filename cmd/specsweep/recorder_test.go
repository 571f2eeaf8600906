package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// record is one request as a server sees it, a line of a recorder's file.
type record struct {
	Path   string          `json:"path"`
	Auth   []string        `json:"auth"` // null: no Authorization header at all
	Header http.Header     `json:"header"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// startRecorder puts a proxy before a server that writes every request to
// <name>.jsonl in the script's folder, and sets $<name> to its URL.
func startRecorder(env *testscript.Env, name, target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(env.WorkDir, name+".jsonl"))
	if err != nil {
		return err
	}
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: transport}
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false) // bodies stay as they came
		if err := enc.Encode(record{r.URL.Path, r.Header["Authorization"], r.Header, body}); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		_, err = file.Write(line.Bytes())
		mu.Unlock()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	env.Setenv(name, srv.URL)
	env.Defer(func() {
		srv.Close()
		transport.CloseIdleConnections()
		_ = file.Close()
	})
	return nil
}
