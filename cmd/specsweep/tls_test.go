package main

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// startTLS puts TLS before a server, sets $<name> to its URL and writes what vouches for
// its certificate to ca.pem in the script's folder.
func startTLS(env *testscript.Env, name, target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	transport := &http.Transport{}
	srv := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: transport,
	})
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of each handshake that fails
	srv.StartTLS()
	env.Defer(func() {
		srv.Close()
		transport.CloseIdleConnections()
	})
	env.Setenv(name, srv.URL)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	return os.WriteFile(filepath.Join(env.WorkDir, "ca.pem"), text, 0o600)
}

// startProxy sets $PROXY to the host:port of an HTTP proxy that writes the URL and the
// Proxy-Authorization of every request to PROXY.txt in the script's folder.
func startProxy(env *testscript.Env) error {
	file, err := os.Create(filepath.Join(env.WorkDir, "PROXY.txt"))
	if err != nil {
		return err
	}
	transport := &http.Transport{}
	var mu sync.Mutex
	pass := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: transport}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		_, err := io.WriteString(file, r.RequestURI+" "+r.Header.Get("Proxy-Authorization")+"\n")
		mu.Unlock()
		if err != nil || r.URL.Host == "" {
			http.Error(w, "no request to a proxy", http.StatusBadRequest)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	env.Defer(func() {
		srv.Close()
		transport.CloseIdleConnections()
		_ = file.Close()
	})
	env.Setenv("PROXY", srv.Listener.Addr().String())
	return nil
}

// startRedirect sets $<name> to a server that sends every request to another.
func startRedirect(env *testscript.Env, name, target string) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, target+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	env.Defer(srv.Close)
	env.Setenv(name, srv.URL)
}
