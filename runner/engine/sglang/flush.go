package sglang

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/specsweep/specsweep/runner/openai"
)

// flushPath empties the prefix cache and sets the server's average to zero
// (Scheduler.flush_cache, which calls reset_metrics).
const flushPath = "/flush_cache"

// busyPauses are the waits between attempts to flush a server that still has
// requests: together about 6 s, in which an aborted answer is noticed and dropped.
var busyPauses = [...]time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond,
	1500 * time.Millisecond, 3 * time.Second,
}

// Reset empties the server's prefix cache by POST /flush_cache. A server with
// requests in flight refuses with HTTP 400 and is waited for, about 6 s. Where the
// server tells its average, that must be gone: else nothing was flushed.
func (e Engine) Reset(ctx context.Context, c *openai.Client) error {
	if err := e.flush(ctx, c); err != nil {
		return err
	}
	i, err := fetch(ctx, c)
	if err != nil {
		return nil //nolint:nilerr // it tells nothing: the status must do
	}
	return stillThere(c, i)
}

func (e Engine) flush(ctx context.Context, c *openai.Client) error {
	wait := e.Wait
	if wait == nil {
		wait = openai.Sleep
	}
	for _, pause := range busyPauses {
		err := postFlush(ctx, c)
		if err == nil || !busy(err) {
			return err
		}
		if err := wait(ctx, pause); err != nil {
			return fmt.Errorf("waiting for %s to be idle: %w", c.URL(), err)
		}
	}
	err := postFlush(ctx, c)
	if busy(err) {
		return fmt.Errorf("the server stays busy, something else sends it requests: %w", err)
	}
	return err
}

func postFlush(ctx context.Context, c *openai.Client) error {
	r, err := c.Post(ctx, flushPath, nil)
	if err != nil {
		return err
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("POST %s%s: %w", c.URL(), flushPath, err)
	}
	return nil
}

func busy(err error) bool {
	var refused *openai.HTTPError
	return errors.As(err, &refused) && refused.Status == http.StatusBadRequest
}

// zeroed sets the average to zero, unless that is done already, and looks whether
// it is: a proxy may answer 200 and do nothing, and a router may reach one of its
// servers only.
func (e Engine) zeroed(ctx context.Context, c *openai.Client, done bool) error {
	if !done {
		if err := e.flush(ctx, c); err != nil {
			return err
		}
	}
	i, err := fetch(ctx, c)
	if err != nil {
		return fmt.Errorf("looking whether the flush worked: %w", err)
	}
	return stillThere(c, i)
}

// stillThere is an error when a flush has left the average.
func stillThere(c *openai.Client, i info) error {
	for _, s := range i.states {
		if _, ok := number(s[keyAverage]); ok {
			return fmt.Errorf("POST %s%s was answered with success, but %s is still there", c.URL(), flushPath, keyAverage)
		}
	}
	return nil
}
