package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Chat sends one chat completion, whose body is as Encode makes it, and tries
// again up to MaxRetries times where that may help: after a 5xx, a 429 and after
// transport errors (timeouts, connections and bodies that break off, JSON that
// is broken). A redirect, any other 4xx, a certificate that does not verify and a
// 200 that holds an error are final. Everything that goes wrong is in the
// Completion's Err; when ctx ends, that is the context's error, at once.
func (c *Client) Chat(ctx context.Context, body []byte) Completion {
	var out Completion
	start := c.opts.Now()
	for {
		text, v := c.attempt(ctx, body)
		out.Elapsed = c.opts.Now().Sub(start) // decoding is not the server's time
		if v.err == nil {
			v = c.judge(text, &out)
		}
		out.Err = v.err
		if v.err == nil || !v.retry || out.Retries >= c.opts.MaxRetries {
			return out
		}
		pause := c.opts.Now()
		err := c.opts.Wait(ctx, backoff(out.Retries, v.after))
		out.RetryWait += c.opts.Now().Sub(pause)
		if ctx.Err() != nil {
			err = Ended(ctx)
		}
		if err != nil {
			out.Err, out.Elapsed = err, c.opts.Now().Sub(start)
			return out
		}
		out.Retries++
	}
}

// verdict is what is to be done about an attempt.
type verdict struct {
	err   error
	retry bool
	after time.Duration // the server's Retry-After, zero for none
}

// attempt sends the request once and gives the body of a 2xx.
func (c *Client) attempt(outer context.Context, body []byte) (answer, verdict) {
	ctx, cancel := context.WithTimeout(outer, c.opts.Timeout)
	defer cancel()
	broken := func(err error) verdict {
		final := isFinal(err) || outer.Err() != nil
		err = because(outer, ctx, timeout{c.opts.Timeout, " (timeout_s)"}, err)
		return verdict{err: fmt.Errorf("POST %s%s: %w", c.shown, chatPath, err), retry: !final}
	}
	resp, err := c.send(ctx, c.chat, body)
	if err != nil {
		return answer{}, broken(err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end by then, or broken
	// The whole body before any decoding: a decoder stops at the closing brace and
	// would not see that the answer breaks off behind it.
	text, err := c.readBody(resp)
	if err != nil {
		return answer{}, broken(err)
	}
	if s := resp.StatusCode; s < 200 || s > 299 {
		return answer{}, verdict{
			err:   c.refusal(resp, text),
			retry: s == http.StatusTooManyRequests || s >= 500,
			after: retryAfter(resp.Header, c.opts.Now),
		}
	}
	return answer{text, resp.Header.Get("Content-Type")}, verdict{}
}

// answer is the body of a 2xx.
type answer struct {
	text        []byte
	contentType string // for messages only: the body decides
}

// judge decodes an answer into out.
func (c *Client) judge(a answer, out *Completion) verdict {
	err := decode(a.text, a.contentType, c.clean, out)
	if err == nil {
		out.Body = a.text
		return verdict{}
	}
	var refused *HTTPError
	if errors.As(err, &refused) {
		return verdict{err: err}
	}
	retry := errors.Is(err, errNotJSON)
	return verdict{err: fmt.Errorf("POST %s%s: %w", c.shown, chatPath, err), retry: retry}
}

// isFinal tells the transport errors that no second attempt mends.
func isFinal(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &certificate) || errors.As(err, &record) ||
		errors.Is(err, http.ErrSchemeMismatch) || errors.Is(err, errTooLarge)
}
