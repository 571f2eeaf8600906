package hub

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// What may be wrong with a dataset or the way to it. The errors that wrap these
// name the dataset and what to do; tell them apart with errors.Is.
var (
	ErrNotFound  = errors.New("no such dataset")
	ErrRevision  = errors.New("no such revision")
	ErrFile      = errors.New("no such file")
	ErrGated     = errors.New("gated dataset")
	ErrToken     = errors.New("the Hub refuses the token")
	ErrNoNetwork = errors.New("the Hub does not answer")
	ErrOffline   = errors.New("not in the cache, and offline")
	ErrCorrupt   = errors.New("the file is not what the Hub says it is")
	ErrNoData    = errors.New("no data files that can be read")
)

// ConfigError says that a dataset has several configurations and none was named,
// or not the one that was.
type ConfigError struct {
	ID     string
	Config string   // as asked; empty: none was named
	Have   []string // sorted
}

func (e *ConfigError) Error() string {
	if e.Config == "" {
		return fmt.Sprintf("dataset %s has several configurations: name one as dataset_name (it has %s)", e.ID, listed(e.Have))
	}
	return fmt.Sprintf("dataset %s has no configuration %s (it has %s)", e.ID, e.Config, listed(e.Have))
}

// SplitError says that a configuration has no such split.
type SplitError struct {
	ID, Config, Split string
	Have              []string // the default splits first
}

func (e *SplitError) Error() string {
	return fmt.Sprintf("dataset %s, configuration %s, has no split %s (it has %s)", e.ID, e.Config, e.Split, listed(e.Have))
}

// shownNames is how many names an error lists.
const shownNames = 40

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	text := strings.Join(names[:min(len(names), shownNames)], ", ")
	if more := len(names) - shownNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// statusError is an answer that is no success and was not worth another try, or
// was not better after the last.
type statusError struct {
	status int
	code   string // X-Error-Code
	text   string // X-Error-Message
	url    string // without its query, which may hold a signature
}

func newStatusError(r *http.Response) *statusError {
	return &statusError{
		status: r.StatusCode,
		code:   r.Header.Get("X-Error-Code"),
		text:   r.Header.Get("X-Error-Message"),
		url:    bare(r.Request.URL),
	}
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("%s: HTTP %d %s", e.url, e.status, http.StatusText(e.status))
	if e.text != "" {
		text += ": " + clip(e.text)
	}
	return text
}

// clip bounds a stranger's text.
func clip(s string) string {
	if len(s) > 300 {
		return strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// bare is a URL for a message: the address of a file on the Hub's store carries a
// signature in its query.
func bare(u *url.URL) string {
	b := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return b.String()
}

// explain turns a refusal into what is wrong and what to do. The Hub answers 401
// for a dataset that does not exist, so that nobody learns of private ones.
func (c *Client) explain(id string, err error) error {
	var s *statusError
	if !errors.As(err, &s) {
		return fmt.Errorf("dataset %s: %w", id, err)
	}
	page := c.o.Endpoint + "/datasets/" + id
	switch {
	case s.code == "GatedRepo" && c.o.Token == "":
		return fmt.Errorf("dataset %s: %w: accept its terms at %s and set HF_TOKEN: %w", id, ErrGated, page, err)
	case s.code == "GatedRepo":
		return fmt.Errorf("dataset %s: %w: accept its terms at %s with the account of the token: %w", id, ErrGated, page, err)
	case s.status == http.StatusUnauthorized && c.o.Token != "":
		return fmt.Errorf("dataset %s: %w: make a new one at %s/settings/tokens, or unset HF_TOKEN for a public dataset: %w", id, ErrToken, c.o.Endpoint, err)
	case s.status == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s does not exist at %s, or it is private and HF_TOKEN is not set: %w", ErrNotFound, id, c.o.Endpoint, err)
	case s.status == http.StatusForbidden:
		return fmt.Errorf("dataset %s: %w: it has no right to read this dataset: %w", id, ErrToken, err)
	case s.code == "RevisionNotFound":
		return fmt.Errorf("dataset %s: %w: see its branches and commits at %s/tree/main: %w", id, ErrRevision, page, err)
	case s.code == "EntryNotFound":
		return fmt.Errorf("dataset %s: %w: %w", id, ErrFile, err)
	case s.status == http.StatusNotFound:
		return fmt.Errorf("%w: %s does not exist at %s, or the token's account may not see it: %w", ErrNotFound, id, c.o.Endpoint, err)
	}
	return fmt.Errorf("dataset %s: %w", id, err)
}
