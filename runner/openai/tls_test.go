package openai

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// caFile is a file with the certificate of a TLS server, which vouches for itself.
func caFile(t *testing.T, s *httptest.Server) string {
	t.Helper()
	return writePEM(t, "CERTIFICATE", s.Certificate().Raw)
}

func writePEM(t *testing.T, kind string, der []byte) string {
	t.Helper()
	return writeFile(t, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// selfSigned is a certificate that vouches for itself, good for either side, and the
// PEM files of it and its key.
func selfSigned(t *testing.T, change func(*x509.Certificate)) (cert tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, writePEM(t, "CERTIFICATE", der), writePEM(t, "PRIVATE KEY", pkcs8)
}

func asIs(*x509.Certificate) {}

// serveTLS starts a TLS server and counts its requests.
func serveTLS(t *testing.T, config *tls.Config) (s *httptest.Server, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	s = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		always(200, good)(w, r)
	}))
	s.TLS = config
	s.Config.ErrorLog = discardLog()
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, requests
}

// H14: every request to a TLS server, whatever it is for, is refused unless its
// certificate is trusted, and the error says what to do.
func TestCaseH14TLS(t *testing.T) {
	other, otherFile, _ := selfSigned(t, asIs)
	elsewhere, elsewhereFile, _ := selfSigned(t, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(10, 0, 0, 1)} })
	expired, expiredFile, _ := selfSigned(t, func(c *x509.Certificate) { c.NotAfter = c.NotBefore.Add(time.Hour) })
	_, strangerFile, _ := selfSigned(t, asIs)
	with := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	for _, tt := range []struct {
		name   string
		server *tls.Config
		trust  TLS
		want   string // of the advice; empty: completed
	}{
		{"by default", with(other), TLS{}, "name the certificates to trust as tls.ca_file"},
		{"ca_file", with(other), TLS{CAFile: otherFile}, ""},
		{"not verified", with(other), TLS{InsecureSkipVerify: true}, ""},
		{"another ca_file", with(other), TLS{CAFile: strangerFile}, "no certificate in ca_file " + strangerFile + " vouches for it"},
		{"another name", with(elsewhere), TLS{CAFile: elsewhereFile}, "put a name that the certificate is valid for into the URL"},
		{"another name, not verified", with(elsewhere), TLS{InsecureSkipVerify: true}, ""},
		{"expired", with(expired), TLS{CAFile: expiredFile}, "the server needs another certificate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, requests := serveTLS(t, tt.server)
			c, k := newClient(t, Options{URL: s.URL, MaxRetries: 3, TLS: tt.trust})
			errs := map[string]error{"chat": c.Chat(t.Context(), []byte(request)).Err}
			for _, path := range []string{"/metrics", "/server_info"} {
				_, errs[path] = c.Get(t.Context(), path)
			}
			_, errs["POST"] = c.Post(t.Context(), "/flush_cache", nil)
			for what, err := range errs {
				switch {
				case tt.want == "" && err != nil:
					t.Errorf("%s: %v", what, err)
				case tt.want != "" && (!strings.Contains(errText(err), "certificate") || !strings.Contains(errText(err), tt.want) || !Untrusted(err)):
					t.Errorf("%s: error %v\nwant one of a certificate with %s", what, err, tt.want)
				}
			}
			if want := map[bool]int64{true: 4, false: 0}[tt.want == ""]; requests.Load() != want || len(k.waits) != 0 {
				t.Errorf("%d requests arrived and %d waits, want %d and none", requests.Load(), len(k.waits), want)
			}
		})
	}
}

// A server that wants a client certificate gets it, and says so when it does not.
func TestClientCertificate(t *testing.T) {
	own, certFile, keyFile := selfSigned(t, asIs)
	_, strangerCert, strangerKey := selfSigned(t, func(c *x509.Certificate) { c.Subject.CommonName = "stranger" })
	pool := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(own.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(leaf)
	for _, tt := range []struct {
		name  string
		trust TLS
		want  string
	}{
		{"ours", TLS{CAFile: certFile, CertFile: certFile, KeyFile: keyFile}, ""},
		{"none", TLS{CAFile: certFile}, "a server that wants a client certificate gets it from tls.cert_file and key_file"},
		// net/http's client keeps a certificate that no authority that the server
		// names has signed to itself.
		{"a stranger's", TLS{CAFile: certFile, CertFile: strangerCert, KeyFile: strangerKey}, "does the server take the certificate in cert_file " + strangerCert},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// Up to TLS 1.2 the refusal comes before the request is sent, else maybe
			// only the connection's end is seen.
			s, requests := serveTLS(t, &tls.Config{
				Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MaxVersion: tls.VersionTLS12,
			})
			c, _ := newClient(t, Options{URL: s.URL, TLS: tt.trust})
			_, err := c.Get(t.Context(), "/metrics")
			if tt.want == "" {
				if err != nil || requests.Load() != 1 {
					t.Errorf("error %v after %d requests", err, requests.Load())
				}
				return
			}
			if !strings.Contains(errText(err), tt.want) || !Untrusted(err) {
				t.Errorf("error %v\nwant %s", err, tt.want)
			}
		})
	}
}

// New's errors name the file and what is wrong with it.
func TestTLSFiles(t *testing.T) {
	_, cert, key := selfSigned(t, asIs)
	_, _, otherKey := selfSigned(t, asIs)
	text := writeFile(t, "no PEM at all\n")
	gone := filepath.Join(t.TempDir(), "gone.pem")
	for _, tt := range []struct {
		name  string
		trust TLS
		want  []string
	}{
		{"ca_file is gone", TLS{CAFile: gone}, []string{"reading ca_file", gone, "no such file"}},
		{"ca_file is none", TLS{CAFile: text}, []string{"ca_file " + text, "holds no certificate"}},
		{"ca_file is a key", TLS{CAFile: key}, []string{"ca_file " + key, "holds no certificate"}},
		{"cert_file is gone", TLS{CertFile: gone, KeyFile: key}, []string{"reading cert_file", gone}},
		{"cert_file is none", TLS{CertFile: text, KeyFile: key}, []string{"cert_file " + text, "holds no certificate"}},
		{"key_file is gone", TLS{CertFile: cert, KeyFile: gone}, []string{"reading key_file", gone}},
		{"key_file is none", TLS{CertFile: cert, KeyFile: text}, []string{"key_file " + text, "failed to find any PEM data in key input"}},
		{"another's key", TLS{CertFile: cert, KeyFile: otherKey}, []string{"key_file " + otherKey, "does not match"}},
		{"swapped", TLS{CertFile: key, KeyFile: cert}, []string{"cert_file " + key, "holds no certificate"}},
		{"half", TLS{CertFile: cert}, []string{"give both or neither"}},
		{"the other half", TLS{KeyFile: key}, []string{"give both or neither"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(Options{URL: "https://u:pa55word@a:1", TLS: tt.trust})
			for _, part := range append(tt.want, "server https://a:1: ") {
				if !strings.Contains(errText(err), part) {
					t.Errorf("error %v, want it to hold %q", err, part)
				}
			}
		})
	}
}
