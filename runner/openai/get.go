package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// getTimeout bounds a plain request: statistics that take longer than this would
// stand between two passes.
const getTimeout = 30 * time.Second

// Reply is an answer to a plain request, whatever its status.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte // at most 64 MiB

	refusal *HTTPError // of a status other than 2xx
}

// Err is the reply's refusal as an *HTTPError, nil for a 2xx.
func (r Reply) Err() error {
	switch {
	case r.Status >= 200 && r.Status <= 299:
		return nil
	case r.refusal != nil:
		return r.refusal
	}
	return &HTTPError{Status: r.Status, Message: oneLine(message(r.Body))}
}

// Get fetches a path below the root, which begins with a slash, with the headers
// and the key of chat completions. It tries once, within Timeout and 30 s. A
// status that refuses is no error but Reply.Err.
func (c *Client) Get(ctx context.Context, path string) (Reply, error) {
	return c.do(ctx, http.MethodGet, path, "", nil)
}

// GetAccept is Get with an Accept header, empty for none.
func (c *Client) GetAccept(ctx context.Context, path, accept string) (Reply, error) {
	return c.do(ctx, http.MethodGet, path, accept, nil)
}

// Post sends a body, JSON or empty, as Get fetches.
func (c *Client) Post(ctx context.Context, path string, body []byte) (Reply, error) {
	return c.do(ctx, http.MethodPost, path, "", body)
}

func (c *Client) do(outer context.Context, method, path, accept string, body []byte) (Reply, error) {
	limit := timeout{limit: min(c.opts.Timeout, getTimeout)}
	ctx, cancel := context.WithTimeout(outer, limit.limit)
	defer cancel()
	fail := func(err error) (Reply, error) {
		return Reply{}, fmt.Errorf("%s %s%s: %w", method, c.shown, path, because(outer, ctx, limit, err))
	}
	req, err := c.request(ctx, method, path)
	if err != nil {
		return Reply{}, err
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.send(ctx, req, body)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end by then, or broken
	text, err := c.readBody(resp, new([]byte))
	if err != nil {
		return fail(err)
	}
	reply := Reply{Status: resp.StatusCode, Header: resp.Header, Body: text}
	if reply.Status < 200 || reply.Status > 299 {
		reply.refusal = c.refusal(resp, text)
	}
	return reply, nil
}

// Models lists the ids of GET /v1/models, each once, in the server's order. A server that
// answers anything but 200 gives an *HTTPError.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	const path = "/v1/models"
	reply, err := c.Get(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := reply.Err(); err != nil {
		return nil, fmt.Errorf("GET %s%s: %w", c.shown, path, err)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(reply.Body, &list); err != nil {
		return nil, fmt.Errorf("GET %s%s: %w: %s", c.shown, path, errNotJSON, c.clean(head(reply.Body)))
	}
	ids := make([]string, 0, len(list.Data))
	listed := map[string]bool{"": true}
	for _, m := range list.Data {
		if !listed[m.ID] {
			listed[m.ID] = true
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}
