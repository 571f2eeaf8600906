package engine

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/specsweep/specsweep/runner/openai"
)

// Fetch is the body that the server gives for GET path, which begins with a
// slash. accept is the Accept header, empty for none. An answer that is not 200
// is an error that wraps *openai.HTTPError. Errors name the address.
func Fetch(ctx context.Context, c *openai.Client, path, accept string) ([]byte, error) {
	r, err := c.GetAccept(ctx, path, accept)
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		return nil, getError(c.URL()+path, err)
	}
	return r.Body, nil
}

// getError says what was asked for, once: net/http's errors repeat it.
func getError(what string, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("GET %s: %w", what, err)
}
