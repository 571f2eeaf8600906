package openai

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// relay is a proxy that answers plain requests itself and tunnels CONNECT.
type relay struct {
	mu     sync.Mutex
	seen   []string // method, target and Proxy-Authorization of each request
	status int      // instead of serving; 0: serves
	body   string
}

func (p *relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.seen = append(p.seen, fmt.Sprintf("%s %s %s", r.Method, r.RequestURI, r.Header.Get("Proxy-Authorization")))
	p.mu.Unlock()
	switch {
	case p.status != 0:
		always(p.status, p.body)(w, r)
	case r.Method != http.MethodConnect:
		always(200, good)(w, r)
	default:
		tunnel(w, r.RequestURI)
	}
}

func tunnel(w http.ResponseWriter, to string) {
	out, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	in, _, err := http.NewResponseController(w).Hijack() // first: nothing of the tunnel is read by then
	if err != nil {
		_ = out.Close()
		return
	}
	_, _ = io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n")
	splice(in, out)
}

// splice carries bytes both ways until either side ends, and closes both.
func splice(in, out net.Conn) {
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		wg.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_, _ = in.Close(), out.Close()
		})
	}
	wg.Wait()
}

func basic(user string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(user)) }

func withUser(url, user string) string { return strings.Replace(url, "://", "://"+user+"@", 1) }

// Every request goes through the proxy, with its user and password, be the server
// http or https, the proxy http or https.
func TestProxy(t *testing.T) {
	server, _ := serveTLS(t, nil)
	trust := TLS{CAFile: caFile(t, server)} // httptest's servers all have the same certificate
	https := strings.TrimPrefix(server.URL, "https://")
	for _, tt := range []struct {
		name  string
		url   string
		tls   bool // of the proxy
		trust TLS
		want  []string
	}{
		{"http", "http://server.invalid:8000", false, TLS{}, []string{
			"POST http://server.invalid:8000/v1/chat/completions " + basic("u:pa55/word"), "GET http://server.invalid:8000/metrics " + basic("u:pa55/word")}},
		{"https", server.URL, false, trust, []string{"CONNECT " + https + " " + basic("u:pa55/word")}}, // one connection
		{"http by https", "http://server.invalid:8000", true, trust, []string{
			"POST http://server.invalid:8000/v1/chat/completions " + basic("u:pa55/word"), "GET http://server.invalid:8000/metrics " + basic("u:pa55/word")}},
		{"https by https", server.URL, true, trust, []string{"CONNECT " + https + " " + basic("u:pa55/word")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &relay{}
			s := httptest.NewUnstartedServer(p)
			if tt.tls {
				s.StartTLS()
			} else {
				s.Start()
			}
			t.Cleanup(s.Close)
			c, _ := newClient(t, Options{URL: tt.url, TLS: tt.trust, Proxy: withUser(s.URL, "u:pa55%2Fword")})
			if got := c.Chat(t.Context(), []byte(request)); got.Err != nil {
				t.Fatal(got.Err)
			}
			if _, err := c.Get(t.Context(), "/metrics"); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Join(p.seen, "\n"), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("the proxy saw\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// insecure_skip_verify is about the server: the proxy, which is sent a password, must
// be who it is, and never sees the client's certificate.
func TestProxyIsVerified(t *testing.T) {
	server, _ := serveTLS(t, nil)
	_, cert, key := selfSigned(t, asIs)
	p := &relay{}
	s := httptest.NewUnstartedServer(p)
	s.Config.ErrorLog = discardLog()
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, VerifyConnection: func(c tls.ConnectionState) error {
		if len(c.PeerCertificates) > 0 {
			t.Error("the proxy was shown the client's certificate")
		}
		return nil
	}}
	s.StartTLS()
	t.Cleanup(s.Close)
	c, _ := newClient(t, Options{URL: server.URL, TLS: TLS{InsecureSkipVerify: true, CertFile: cert, KeyFile: key}, Proxy: s.URL})
	_, err := c.Get(t.Context(), "/metrics")
	if !Untrusted(err) || len(p.seen) != 0 || !strings.Contains(errText(err), "proxy "+s.URL) {
		t.Errorf("error %v, the proxy saw %q; want its certificate refused", err, p.seen)
	}
	c, _ = newClient(t, Options{URL: server.URL, TLS: TLS{CAFile: caFile(t, s), CertFile: cert, KeyFile: key}, Proxy: s.URL})
	if _, err := c.Get(t.Context(), "/metrics"); err != nil {
		t.Error(err)
	}
}

// What a proxy refuses says so, and what it repeats of the password stays unsaid.
func TestProxyRefuses(t *testing.T) {
	echo := `no entry for ` + basic("u:pa55/word") + ` u:pa55/word u:pa55%2Fword`
	for _, tt := range []struct{ name, url, want string }{
		{"http", "http://server.invalid:8000", "HTTP 407: no entry for Basic *** u:*** u:***"},
		{"https", "https://server.invalid:8000", "HTTP 407: Proxy Authentication Required"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(&relay{status: http.StatusProxyAuthRequired, body: echo})
			t.Cleanup(s.Close)
			c, _ := newClient(t, Options{URL: tt.url, Proxy: withUser(s.URL, "u:pa55%2Fword")})
			reply, err := c.Get(t.Context(), "/metrics")
			if err == nil {
				err = reply.Err()
			}
			var refused *HTTPError
			if !errors.As(err, &refused) || !strings.HasSuffix(err.Error(), tt.want) || strings.Contains(err.Error(), "pa55") {
				t.Errorf("error %v\nwant …%s", err, tt.want)
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		c, _ := newClient(t, Options{URL: "http://server.invalid:8000", Proxy: "http://u:pa55word@127.0.0.1:1"})
		_, err := c.Get(t.Context(), "/metrics")
		if !strings.Contains(errText(err), "127.0.0.1:1: connect: connection refused") || strings.Contains(errText(err), "pa55") {
			t.Errorf("error %v, want the proxy's address refused", err)
		}
	})
}

// A proxy that will not connect is asked again only where that may help, as a server is.
func TestProxyRefusesToConnect(t *testing.T) {
	for _, tt := range []struct{ status, retries int }{{407, 0}, {403, 0}, {429, 2}, {502, 2}} {
		t.Run(http.StatusText(tt.status), func(t *testing.T) {
			s := httptest.NewServer(&relay{status: tt.status})
			t.Cleanup(s.Close)
			c, _ := newClient(t, Options{URL: "https://server.invalid:8000", Proxy: s.URL, MaxRetries: 2})
			got := c.Chat(t.Context(), []byte(request))
			var refused *HTTPError
			if !errors.As(got.Err, &refused) || refused.Status != tt.status || got.Retries != tt.retries {
				t.Errorf("Chat() error = %v after %d retries, want HTTP %d after %d", got.Err, got.Retries, tt.status, tt.retries)
			}
		})
	}
}

// A socks5 proxy (RFC 1928) is told the server's name and the user (RFC 1929).
func TestSOCKS5(t *testing.T) {
	var asked []byte
	url := serveRaw(t, func(_ int, conn net.Conn, r *bufio.Reader) {
		take := func(n int) []byte {
			b := make([]byte, n)
			_, _ = io.ReadFull(r, b)
			return b
		}
		say := func(b ...byte) { _, _ = conn.Write(b) }
		take(int(take(2)[1])) // version, methods
		say(5, 2)             // user and password
		user := take(int(take(2)[1]))
		password := take(int(take(1)[0]))
		say(1, 0)
		host := take(int(take(5)[4])) // version, connect, reserved, a name, its length
		take(2)                       // port
		say(5, 0, 0, 1, 127, 0, 0, 1, 0, 80)
		asked = fmt.Appendf(nil, "%s %s %s", user, password, host)
		if readRequest(r) == nil {
			writeAnswer(conn)
		}
	})
	c, _ := newClient(t, Options{URL: "http://server.invalid:8000", Proxy: "socks5://u:pa55word@" + strings.TrimPrefix(url, "http://")})
	if got := c.Chat(t.Context(), []byte(request)); got.Err != nil {
		t.Fatal(got.Err)
	}
	if string(asked) != "u pa55word server.invalid" {
		t.Errorf("the proxy was told %q", asked)
	}
}

func TestParseProxy(t *testing.T) {
	for _, tt := range []struct{ name, raw, want, err string }{
		{"none", "", "", ""},
		{"blank", " ", "", ""},
		{"http", "http://u:pa55word@a:3128/", "http://a:3128", ""},
		{"https", "https://a", "https://a", ""},
		{"socks5", "socks5://[::1]:1080", "socks5://[::1]:1080", ""},
		{"another scheme", "ftp://u:pa55word@a", "", `proxy "ftp://***@a": want http://host:port`},
		{"no scheme", "u:pa55word@a:3128", "", `want http://host:port`},
		{"no host", "http://u:pa55word@", "", `want http://host:port`},
		{"no URL", "http://u:pa55word@a:b", "", `proxy "http://***@a:b": `},
		{"a path", "http://u:pa55word@a/b?c=pa55word", "", `proxy "http://a/b": a path`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := parseProxy(tt.raw)
			got := ""
			if u != nil {
				got = display(u)
			}
			if got != tt.want || (err == nil) != (tt.err == "") || !strings.Contains(errText(err), tt.err) || strings.Contains(errText(err), "pa55word") {
				t.Errorf("parseProxy(%q) = %q, %v\nwant %q, %s", tt.raw, got, err, tt.want, tt.err)
			}
		})
	}
}

func FuzzParseProxy(f *testing.F) {
	for _, s := range []string{"", "http://a:1", "socks5://u:p@a", "http://u:p@[::1", "https://a/%zz", "://@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := parseProxy(raw)
		if err == nil && u != nil && (u.Hostname() == "" || u.Path != "") {
			t.Errorf("parseProxy(%q) = %v", raw, u)
		}
		if _, err := parseProxy("http://u:pa55word@" + raw); err != nil && strings.Contains(err.Error(), "pa55word") {
			t.Errorf("parseProxy: %v", err)
		}
	})
}
