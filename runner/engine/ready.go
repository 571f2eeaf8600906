package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/specsweep/specsweep/runner/openai"
)

const (
	defaultPoll = 500 * time.Millisecond
	maxPoll     = 2 * time.Second
)

// waitReady asks until the server is ready, at most for o.Wait. The reasons in
// its errors name the address.
func waitReady(ctx context.Context, c *openai.Client, o PreflightOptions) (modelList, error) {
	limit := []backoff.RetryOption{
		backoff.WithBackOff(pauses(o.Poll)),
		backoff.WithMaxElapsedTime(0), // the deadline below does it, and ends a try that hangs, too
	}
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if o.Wait > 0 {
		waiting, cancel = context.WithTimeout(ctx, o.Wait)
		limit = append(limit, backoff.WithNotify(logOnce(c, o)))
	} else {
		limit = append(limit, backoff.WithMaxTries(1))
	}
	defer cancel()

	var final *backoff.PermanentError // waiting will not help
	var reason error                  // why it was not ready yet
	models, err := backoff.Retry(waiting, func() (modelList, error) {
		m, err := ready(waiting, c)
		// A try that the deadline cut short says less than the one before it.
		if !errors.As(err, &final) && (reason == nil || waiting.Err() == nil) {
			reason = err
		}
		return m, err
	}, limit...)
	switch {
	case err == nil:
		return models, nil
	case ctx.Err() != nil:
		return modelList{}, context.Cause(ctx)
	case final != nil:
		return modelList{}, final.Err
	case o.Wait > 0:
		return modelList{}, fmt.Errorf("not ready after %s: %w", o.Wait, reason)
	}
	return modelList{}, fmt.Errorf("not ready: %w", reason)
}

// pauses is the growing time between two tries.
func pauses(first time.Duration) backoff.BackOff {
	p := backoff.NewExponentialBackOff()
	p.InitialInterval, p.MaxInterval, p.RandomizationFactor = defaultPoll, maxPoll, 0
	if first > 0 {
		p.InitialInterval = first
	}
	return p
}

// logOnce says that a server is waited for, and why, at the first pause.
func logOnce(c *openai.Client, o PreflightOptions) backoff.Notify {
	logged := o.Log == nil
	return func(reason error, _ time.Duration) {
		if !logged {
			logged = true
			o.Log.Info("waiting for the server to be ready", "name", o.Name, "url", c.URL(), "at_most", o.Wait, "reason", reason)
		}
	}
}

// ready asks once. A server without a usable /health is judged by its models.
func ready(ctx context.Context, c *openai.Client) (modelList, error) {
	const path = "/health"
	r, err := c.Get(ctx, path)
	if err != nil {
		return modelList{}, judge(err)
	}
	switch s := r.Status; {
	case s >= http.StatusInternalServerError && s != http.StatusNotImplemented,
		s == http.StatusTooManyRequests, s == http.StatusUnauthorized, s == http.StatusForbidden:
		return modelList{}, judge(fmt.Errorf("GET %s%s: %w", c.URL(), path, r.Err()))
	}
	m, err := listModels(ctx, c)
	if err != nil {
		return modelList{}, judge(err)
	}
	return m, nil
}

// judge makes an error that waiting will not mend a permanent one: the server is
// there and refuses, or it cannot be trusted.
func judge(err error) error {
	var refused *openai.HTTPError
	switch {
	case errors.As(err, &refused):
		switch s := refused.Status; s {
		case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		default:
			if s < http.StatusInternalServerError {
				return backoff.Permanent(err)
			}
		}
	case openai.Untrusted(err):
		return backoff.Permanent(err)
	}
	return err
}
