package engine

import (
	"context"
	"fmt"

	"github.com/specsweep/specsweep/runner/openai"
)

// Fetch is the body that the server gives for GET path, which begins with a
// slash. accept is the Accept header, empty for none. An answer that is not 2xx
// is an error that wraps *openai.HTTPError. Errors name the address.
func Fetch(ctx context.Context, c *openai.Client, path, accept string) ([]byte, error) {
	r, err := c.GetAccept(ctx, path, accept)
	if err != nil {
		return nil, err
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("GET %s%s: %w", c.URL(), path, err)
	}
	return r.Body, nil
}
