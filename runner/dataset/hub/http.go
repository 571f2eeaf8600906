package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	// maxTries is how often a request is sent before its error counts.
	maxTries = 5
	// maxRetryAfter bounds what a server may ask for: the Hub's quota is counted over
	// five minutes.
	maxRetryAfter = 5 * time.Minute
	// maxDrained is how much of an unwanted body is read so that its connection can
	// be used again.
	maxDrained = 64 << 10
)

// newHTTP is a client that adds the token where it belongs.
func newHTTP(o Options) *http.Client {
	h := &http.Client{}
	if o.HTTP != nil {
		*h = *o.HTTP
	}
	base := h.Transport
	if o.HTTP == nil {
		t := http.DefaultTransport.(*http.Transport).Clone() // has Proxy from the environment
		t.ResponseHeaderTimeout = time.Minute
		base = t
	}
	if base == nil {
		base = http.DefaultTransport
	}
	hub, _ := url.Parse(o.Endpoint)
	h.Transport = &authTransport{base: base, hub: hub, token: o.Token}
	return h
}

// authTransport sends the token to the Hub's own scheme, host and port and to
// nobody else. A transport sees every hop of a redirect; the standard client alone
// would carry a header along to subdomains and to other ports of the same host.
type authTransport struct {
	base  http.RoundTripper
	hub   *url.URL // nil: the endpoint is no URL, and nothing is sent
	token string
}

func (t *authTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.token != "" && t.hub != nil && r.URL.Scheme == t.hub.Scheme && strings.EqualFold(r.URL.Host, t.hub.Host) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+t.token)
	}
	return t.base.RoundTrip(r)
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through.
func (t *authTransport) CloseIdleConnections() {
	if b, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		b.CloseIdleConnections()
	}
}

// pauses are the waits between tries: 1 s, 2 s, 4 s …, each up to half as much
// more or less, so that many clients do not come back at once.
func pauses() *backoff.ExponentialBackOff {
	p := backoff.NewExponentialBackOff()
	p.InitialInterval = time.Second
	p.Multiplier = 2
	p.MaxInterval = 30 * time.Second
	p.Reset()
	return p
}

// get asks for address, again after transport errors, 429 and 5xx. The answer is
// 200 or 206 and its body is the caller's to close; another status is a
// *statusError; what did not get better with the last try wraps ErrNoNetwork; the
// context's own end is its cause.
func (c *Client) get(ctx context.Context, address string, header http.Header) (*http.Response, error) {
	pause := pauses()
	for try := 1; ; try++ {
		resp, err := c.send(ctx, address, header)
		if err == nil && (resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusPartialContent) {
			return resp, nil
		}
		if ctx.Err() != nil {
			discard(resp)
			return nil, context.Cause(ctx)
		}
		var again bool
		var after time.Duration
		if err == nil {
			again, after = worthRetry(resp)
			err = newStatusError(resp)
			discard(resp)
		} else {
			var cert *tls.CertificateVerificationError
			var dns *net.DNSError
			// A certificate does not mend itself, and a name that nobody knows means
			// no network, which one should hear of at once.
			again = !errors.As(err, &cert) && (!errors.As(err, &dns) || !dns.IsNotFound)
			if !again {
				err = unreachable(err)
			}
		}
		if !again {
			return nil, err
		}
		if try == maxTries {
			return nil, unreachable(err)
		}
		d := max(pause.NextBackOff(), after)
		c.log.Info("asking the Hub again", "wait", d.Round(time.Millisecond), "error", err)
		if err := c.o.Wait(ctx, d); err != nil {
			return nil, err
		}
	}
}

func unreachable(err error) error { return fmt.Errorf("%w: %w", ErrNoNetwork, err) }

// send is one try.
func (c *Client) send(ctx context.Context, address string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "specsweep")
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := c.http.Do(req)
	var u *url.Error
	if errors.As(err, &u) { // its text would show a signed address whole
		where := address
		if at, perr := url.Parse(u.URL); perr == nil {
			where = bare(at)
		}
		return nil, fmt.Errorf("%s: %w", where, u.Err)
	}
	return resp, err
}

// worthRetry says whether the same request may go better later, and when the
// server wants to see it (Retry-After, RFC 9110 section 10.2.3, in seconds or as a
// date beside the answer's own).
func worthRetry(r *http.Response) (bool, time.Duration) {
	if r.StatusCode != http.StatusTooManyRequests && (r.StatusCode < 500 || r.StatusCode == http.StatusNotImplemented) {
		return false, 0
	}
	value := strings.TrimSpace(r.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return true, min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	at, err := http.ParseTime(value)
	now, nowErr := http.ParseTime(r.Header.Get("Date"))
	if err != nil || nowErr != nil {
		return true, 0
	}
	return true, min(max(0, at.Sub(now)), maxRetryAfter)
}

// discard ends an answer that nobody wants.
func discard(r *http.Response) {
	if r == nil {
		return
	}
	_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // its only use is the connection
	_ = r.Body.Close()
}
