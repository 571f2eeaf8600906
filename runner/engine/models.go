package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/runner/openai"
)

// maxListed is how many models a message names.
const maxListed = 20

// modelList is what /v1/models tells.
type modelList struct {
	ids      []string // as listed
	unlisted string   // why there are no ids: the server (often a gateway) has no such route
}

// listModels asks for the served models; an empty list is an error, because
// servers give it while they load.
func listModels(ctx context.Context, c *openai.Client) (modelList, error) {
	ids, err := c.Models(ctx)
	var status *openai.HTTPError
	if errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusMethodNotAllowed) {
		return modelList{unlisted: fmt.Sprintf("GET /v1/models: HTTP %d", status.Status)}, nil
	}
	if err != nil {
		return modelList{}, err
	}
	if len(ids) == 0 {
		return modelList{}, fmt.Errorf("GET %s/v1/models: the list of models is empty", c.URL())
	}
	return modelList{ids: ids}, nil
}

// pick is the model to ask for: the wanted one, or the only one there is.
func (l modelList) pick(wanted, url string) (string, error) {
	switch {
	case l.unlisted != "" && wanted == "":
		return "", fmt.Errorf("server %s lists no models (%s): name the model in the plan", url, l.unlisted)
	case l.unlisted != "":
		return wanted, nil
	case wanted == "" && len(l.ids) == 1:
		return l.ids[0], nil
	case wanted == "":
		return "", fmt.Errorf("server %s serves %d models: name one of them in the plan: %s", url, len(l.ids), l.names())
	case slices.Contains(l.ids, wanted):
		return wanted, nil
	}
	hint := ""
	if slices.ContainsFunc(l.ids, func(id string) bool { return strings.EqualFold(id, wanted) }) {
		hint = " (names are case-sensitive)"
	}
	return "", fmt.Errorf("model %q is not served by %s: it serves %s%s", wanted, url, l.names(), hint)
}

func (l modelList) names() string {
	if more := len(l.ids) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(l.ids[:maxListed], ", "), more)
	}
	return strings.Join(l.ids, ", ")
}
