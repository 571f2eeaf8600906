package runner_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/sim"
)

// serveTLS puts a handler behind TLS, with a certificate that ca vouches for, and counts
// the requests that get through.
func serveTLS(t *testing.T, h http.Handler) (url, ca string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		h.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of each handshake that fails
	s.StartTLS()
	t.Cleanup(s.Close)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.URL, ca, requests
}

// simHandler passes requests on to a simulated server.
func simHandler(t *testing.T, c sim.Config) http.Handler {
	t.Helper()
	url := simServer(t, c)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { forward(t, url, w, r) })
}

// H14: a TLS server is measured when its certificate is trusted, with its statistics,
// and else an error at once that says what to do; not to look leaves a mark on each row.
func TestCaseH14TLS(t *testing.T) {
	for _, engine := range []string{"vllm", "sglang"} { // statistics at /metrics, at /server_info
		for _, tc := range []struct {
			name, tls, baseline string // %s: the file with the certificate
			err, mark, column   string
		}{
			{name: "by default", err: "tls.ca_file"},
			{name: "ca_file", tls: "{ca_file: %s}"},
			{name: "not verified", tls: "{insecure_skip_verify: true}", mark: "tls_not_verified: the certificate of 127.0.0.1:", column: "server"},
			{name: "baseline not verified", tls: "{ca_file: %s}", baseline: "{insecure_skip_verify: true}",
				mark: "tls_not_verified: baseline: the certificate of 127.0.0.1:", column: "speedup"},
		} {
			t.Run(engine+" "+tc.name, func(t *testing.T) {
				t.Parallel()
				url, ca, requests := serveTLS(t, simHandler(t, sim.Config{Engine: engine, Model: "m", Accept: []float64{0.8, 0.6}}))
				base, _, _ := serveTLS(t, simHandler(t, sim.Config{Engine: engine, Model: "m", NoSpec: true}))
				withTLS := func(url, tls string) string {
					if tls == "" {
						return "server: " + url
					}
					return "server: " + url + ", tls: " + strings.ReplaceAll(tls, "%s", ca)
				}
				text := fmt.Sprintf("engine: %s\nservers: [{name: a, %s}]\ndatasets: [{name: d, input_data: %s, prompt_column: prompt}]\n"+
					"num_prompts: 4\nconcurrency: 1\nmax_retries: 3\nserver_wait_s: 60\n", engine, withTLS(url, tc.tls), promptsFile(t, 4))
				if tc.baseline != "" {
					text += "baseline_server: {" + withTLS(base, tc.baseline) + "}\n"
				}
				s := &sink{}
				start := time.Now()
				if err := sweep(t.Context(), t, text, s); err != nil {
					t.Fatal(err)
				}
				checkTrust(t, &s.rows[0], tc.err, tc.mark, tc.column)
				if tc.err != "" && (requests.Load() != 0 || time.Since(start) > 2*time.Second || len(s.probed) != 1) {
					t.Errorf("%d requests got through in %s, %d servers probed; want none, at once", requests.Load(), time.Since(start), len(s.probed))
				}
				noted := 0
				for _, r := range s.probed {
					noted += strings.Count(strings.Join(r.Notes, "; "), "is not verified")
				}
				if (noted > 0) != (tc.mark != "") {
					t.Errorf("%d servers are noted as not verified", noted)
				}
			})
		}
	}
}

// checkTrust looks for a row's error, or for its numbers and its mark.
func checkTrust(t *testing.T, r *result.Row, wantErr, mark, column string) {
	t.Helper()
	if wantErr != "" {
		if !strings.Contains(r.Error, "certificate") || !strings.Contains(r.Error, wantErr) {
			t.Errorf("error %q, want certificate and %s", r.Error, wantErr)
		}
		return
	}
	if !r.OK() || *r.Completed != 4 || r.AcceptLength == nil {
		t.Errorf("error %q, accept_length %v; want 4 completed and the server's statistics", r.Error, r.AcceptLength)
	}
	switch said := r.Warnings.String(); {
	case mark == "" && strings.Contains(said, "tls_not_verified"):
		t.Errorf("warnings %s, want no mark", said)
	case mark != "" && (!strings.Contains(said, mark) || !r.Warnings.On(column)):
		t.Errorf("warnings %s, want %s on %s", said, mark, column)
	}
}

// A server that is not verified has its mark on rows without numbers, too.
func TestNotVerifiedMarksErrorRows(t *testing.T) {
	url, _, _ := serveTLS(t, http.NotFoundHandler())
	s := &sink{}
	if err := sweep(t.Context(), t, oneServer(t, url+", tls: {insecure_skip_verify: true}", 2, "strict: true"), s); err != nil {
		t.Fatal(err)
	}
	if r := s.rows[0]; !strings.Contains(r.Error, "lists no models") || !r.Warnings.On("server") {
		t.Errorf("error %q, warnings %s; want an error row with the mark", r.Error, r.Warnings)
	}
}

// H12: whichever way a server says that it is starting, it is waited for, outside the
// clock; one that never gets ready is sent no prompt.
func TestCaseH12Starting(t *testing.T) {
	const loading = `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`
	for _, tc := range []struct {
		name, path, body string
		status           int
	}{
		{"no models", "/v1/models", `{"object":"list","data":[]}`, 200},
		{"null models", "/v1/models", `{"object":"list","data":null}`, 200},
		{"models refused", "/v1/models", loading, 503},
		{"unhealthy", "/health", loading, 503},
		{"gateway", "/health", "bad gateway", 502},
		{"busy", "/health", "later", 429},
	} {
		for name, never := range map[string]bool{"starts": false, "never": true} {
			t.Run(tc.name+" "+name, func(t *testing.T) {
				t.Parallel()
				var looks, chats atomic.Int64
				ready := func() bool { return !never && looks.Load() > 2 }
				inner := simHandler(t, sim.Config{Engine: "vllm", Model: "toy-target"})
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == tc.path {
						looks.Add(1)
					}
					if r.URL.Path == "/v1/chat/completions" {
						chats.Add(1)
					}
					switch {
					case ready():
						inner.ServeHTTP(w, r)
					case r.URL.Path == tc.path:
						w.WriteHeader(tc.status)
						_, _ = io.WriteString(w, tc.body)
					case r.URL.Path == "/v1/chat/completions":
						w.WriteHeader(http.StatusServiceUnavailable)
						_, _ = io.WriteString(w, loading)
					default:
						inner.ServeHTTP(w, r)
					}
				}))
				t.Cleanup(srv.Close)
				wait := "server_wait_s: 60"
				if never {
					wait = "server_wait_s: 0.6" // two looks
				}
				s := &sink{}
				if err := sweep(t.Context(), t, oneServer(t, srv.URL, 4, wait), s); err != nil {
					t.Fatal(err)
				}
				r := s.rows[0]
				if never {
					if !strings.Contains(r.Error, "not ready after 600ms") || chats.Load() != 0 {
						t.Errorf("error %q after %d prompts, want not ready and none", r.Error, chats.Load())
					}
					return
				}
				if r.Completed == nil {
					t.Fatal(r.Error)
				}
				if !r.OK() || *r.Completed != 4 || *r.Failed != 0 || *r.Retries != 0 || *r.WallClockS >= 1 {
					t.Errorf("error %q, completed %d, failed %d, retries %d, %v s; want 4 completed at once", r.Error, *r.Completed, *r.Failed, *r.Retries, *r.WallClockS)
				}
			})
		}
	}
}
