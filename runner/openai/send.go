package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

const (
	chatPath = "/v1/chat/completions"
	// defaultMaxReply bounds what is read of one answer; a test lowers it.
	defaultMaxReply = 64 << 20
	// staleAfter is how long after a send a kept connection may break and still
	// count as one that the server had closed while it was idle. Such news takes a
	// round trip; a server that dies over a prompt takes longer.
	staleAfter = time.Second
)

// request makes a request to a path below the root, which begins with a slash
// and may have a query. Its header is the client's own copy.
func (c *Client) request(ctx context.Context, method, path string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.root.String()+path, nil)
	if err != nil {
		return nil, fmt.Errorf("%s %s%s: %w", method, c.shown, path, bare(err))
	}
	req.Header = c.header.Clone()
	if c.host != "" {
		req.Host = c.host
	}
	if user := c.root.User; user != nil && req.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	return req, nil
}

// send sends a request, which it does not change, with a context and a body.
//
// Subtleness ahead! A kept connection may be closed by the server in the moment
// in which a request is written to it: the pause before was just as long as the
// server's patience. That is nobody's failure and must not become a retry, with
// its wait, in the middle of a pass. net/http sends such a request again only
// when it is a GET, or marked idempotent and not yet half written; and marked, it
// would also repeat without a word what broke after a minute of the server's
// work. So the rule is ours: what breaks on a kept connection before an answer
// begins, within staleAfter, goes out again at once. Later breaks, and those of
// new connections, are failed attempts like any other.
//
// The request goes to the transport at once. What http.Client does above it for each
// request, which costs a copy of the header, is for redirects and cookies, and there
// are none here: an answer that redirects is returned as it came.
func (c *Client) send(ctx context.Context, req *http.Request, body []byte) (*http.Response, error) {
	var kept bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(conn httptrace.GotConnInfo) { kept = conn.Reused },
	})
	for sent := time.Now(); ; {
		r := req.WithContext(ctx)
		if len(body) > 0 {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		kept = false
		resp, err := c.http.Transport.RoundTrip(r)
		if err == nil {
			return resp, nil
		}
		if !kept || ctx.Err() != nil || time.Since(sent) >= c.stale {
			return nil, bare(err)
		}
	}
}

// errHungUp is a connection that ends before the first byte of an answer.
var errHungUp = fmt.Errorf("the server closed the connection without an answer: %w", io.ErrUnexpectedEOF)

// bare takes off the method and URL that net/url puts before its errors: the URL may
// hold a password. It tells a server without TLS as http.Client does.
func bare(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var record tls.RecordHeaderError
	if errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/" {
		return http.ErrSchemeMismatch
	}
	if errors.Is(err, io.EOF) {
		return errHungUp
	}
	return err
}

var errTooLarge = errors.New("the answer is too large")

// timeout is the end of one request's time. It is a context.DeadlineExceeded, as
// a context's own end would be, but says which limit it was.
type timeout struct {
	limit time.Duration
	hint  string
}

func (e timeout) Error() string {
	return fmt.Sprintf("no whole answer within %g s%s", e.limit.Seconds(), e.hint)
}
func (timeout) Timeout() bool        { return true }
func (timeout) Is(target error) bool { return target == context.DeadlineExceeded }

// because is the reason of a failed request: the caller's context, when that has
// ended; limit, when the request's own time is up; else err.
func because(outer, own context.Context, limit timeout, err error) error {
	switch {
	case outer.Err() != nil:
		return Ended(outer)
	case own.Err() != nil:
		return limit
	}
	return err
}

// Ended is why a context ended, as errors.Is finds it either way: the context's
// error and the cause that its owner gave.
func Ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
