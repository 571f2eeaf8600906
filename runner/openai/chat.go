package openai

import (
	"context"
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
//
// A body that asks for a stream wants server-sent events: they are timed as they
// come, and a stream that breaks off is tried again like any other answer.
func (c *Client) Chat(ctx context.Context, body []byte) Completion {
	var out Completion
	stream := asksStream(body)
	start := c.opts.Now()
	for {
		v := c.attempt(ctx, body, stream, start, &out)
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

// attempt sends the request once and reads the answer into out. Its times begin at
// start.
func (c *Client) attempt(outer context.Context, body []byte, stream bool, start time.Time, out *Completion) verdict {
	ctx, cancel := context.WithTimeout(outer, c.opts.Timeout)
	defer cancel()
	broken := func(err error) verdict {
		out.Elapsed = c.opts.Now().Sub(start)
		final := isFinal(err) || outer.Err() != nil
		err = because(outer, ctx, timeout{c.opts.Timeout, " (timeout_s)"}, err)
		return verdict{err: fmt.Errorf("POST %s%s: %w", c.shown, chatPath, err), retry: !final}
	}
	resp, err := c.send(ctx, c.chat, body)
	if err != nil {
		return broken(err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end by then, or broken
	s := c.scratch()
	defer c.putBack(s)
	good := resp.StatusCode >= 200 && resp.StatusCode <= 299
	if good && stream {
		plain, err := c.readStream(resp, s, start)
		if err != nil && isTransport(err) {
			return broken(err)
		}
		out.Elapsed = c.opts.Now().Sub(start)
		if err == nil {
			err = c.judgeStream(plain, s, out)
		}
		return c.judged(err)
	}
	// The whole body before any decoding: a decoder stops at the closing brace and
	// would not see that the answer breaks off behind it.
	text, err := c.readBody(resp, &s.whole)
	if err != nil {
		return broken(err)
	}
	out.Elapsed = c.opts.Now().Sub(start) // decoding is not the server's time
	if !good {
		return verdict{
			err:   c.refusal(resp, text),
			retry: mayPass(resp.StatusCode),
			after: retryAfter(resp.Header, c.opts.Now),
		}
	}
	if err = decode(text, resp.Header.Get("Content-Type"), c.clean, s, out); err == nil {
		out.Body = text
		if c.opts.KeepText {
			thoughts, content := s.chunk.said()
			out.Text, out.Content = thoughts+content, content
		}
	}
	return c.judged(err)
}

// judged is what an answer's own faults, or none, come to.
func (c *Client) judged(err error) verdict {
	var refused *HTTPError
	if err == nil || errors.As(err, &refused) {
		return verdict{err: err}
	}
	return verdict{err: fmt.Errorf("POST %s%s: %w", c.shown, chatPath, err), retry: errors.Is(err, errNotJSON)}
}

// isTransport tells the errors of reading from those of what was read.
func isTransport(err error) bool {
	var refused *HTTPError
	return !errors.As(err, &refused) && !errors.Is(err, errNotJSON)
}

// isFinal tells the transport errors that no second attempt mends: a proxy's refusal
// to connect is judged by its status, as a server's would be.
func isFinal(err error) bool {
	var refused *HTTPError
	if errors.As(err, &refused) {
		return !mayPass(refused.Status)
	}
	return Untrusted(err) || errors.Is(err, errTooLarge)
}

// mayPass tells the statuses after which a second attempt may succeed.
func mayPass(status int) bool { return status == http.StatusTooManyRequests || status >= 500 }
