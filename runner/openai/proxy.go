package openai

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// parseProxy reads a proxy's URL, nil for none. Its errors show no userinfo.
func parseProxy(raw string) (*url.URL, error) {
	raw = strings.TrimRight(strings.TrimSpace(raw), "/")
	if raw == "" {
		return nil, nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("proxy %q: %w", withoutUserinfo(raw), bare(err))
	}
	if !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) || u.Hostname() == "" {
		return nil, fmt.Errorf("proxy %q: want http://host:port, https://host:port or socks5://host:port", withoutUserinfo(raw))
	}
	if u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, fmt.Errorf("proxy %q: a path, query or fragment cannot be part of a proxy's URL", display(u))
	}
	return u, nil
}

// through sends all of a transport's requests through a proxy, those to this
// machine, too. net/http sends the URL's user and password as Proxy-Authorization
// (RFC 9110, section 11.7.2), or as RFC 1929 has it to a socks5 proxy.
func through(t *http.Transport, proxy *url.URL, trust TLS) error {
	t.Proxy = http.ProxyURL(proxy)
	shown := display(proxy)
	t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		return fmt.Errorf("proxy %s: %w", shown, &HTTPError{Status: resp.StatusCode})
	}
	if proxy.Scheme != "https" {
		return nil
	}
	// The plan's tls is about the server. Would net/http use it for the proxy, too,
	// then insecure_skip_verify gave the proxy's password to anybody, and the proxy
	// would be shown our certificate. What is trusted besides the system's is ca_file.
	pool, err := x509.SystemCertPool()
	if err != nil {
		return fmt.Errorf("reading the system's certificates for proxy %s: %w", shown, err)
	}
	if pool, err = trust.roots(pool); err != nil {
		return err
	}
	dialer := &tls.Dialer{
		NetDialer: &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive},
		Config:    &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool},
	}
	// The first hop only: TLS with the server, inside, is the transport's own.
	t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, t.TLSHandshakeTimeout+dialTimeout)
		defer cancel()
		conn, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, fmt.Errorf("proxy %s: %w", shown, err)
		}
		return conn, nil
	}
	return nil
}
