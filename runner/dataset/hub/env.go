package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FromEnv reads Options from the environment as the Hub's Python library does
// (huggingface.co/docs/huggingface_hub/package_reference/environment_variables):
//
//   - endpoint: HF_ENDPOINT;
//   - token: HF_TOKEN, else the file HF_TOKEN_PATH, else the file $HF_HOME/token;
//   - cache: HF_HUB_CACHE, else HUGGINGFACE_HUB_CACHE, else $HF_HOME/hub;
//   - HF_HOME, else $XDG_CACHE_HOME/huggingface, else .cache/huggingface in home;
//   - offline: HF_HUB_OFFLINE is 1, on, yes or true, in any case.
//
// An empty variable is as good as none. lookup is os.LookupEnv's kind; home is the
// user's home folder, for which ~ may stand. The error names the variable or file
// that is of no use, and never the token.
func FromEnv(lookup func(string) (string, bool), home string) (Options, error) {
	e := environment{lookup: lookup, home: home}
	hfHome := e.path("HF_HOME")
	if hfHome == "" {
		base := e.path("XDG_CACHE_HOME")
		if base == "" {
			base = filepath.Join(home, ".cache")
		}
		hfHome = filepath.Join(base, "huggingface")
	}
	o := Options{CacheDir: e.path("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")}
	if o.CacheDir == "" {
		o.CacheDir = filepath.Join(hfHome, "hub")
	}
	o.Offline = slices.Contains([]string{"1", "on", "yes", "true"}, strings.ToLower(e.text("HF_HUB_OFFLINE")))
	var endpointErr, tokenErr error
	o.Endpoint, endpointErr = endpoint(e.text("HF_ENDPOINT"))
	o.Token, tokenErr = e.token(hfHome)
	return o, errors.Join(endpointErr, tokenErr)
}

type environment struct {
	lookup func(string) (string, bool)
	home   string
}

// text is the first of the variables that is not empty.
func (e environment) text(names ...string) string {
	for _, name := range names {
		value, _ := e.lookup(name)
		if value = strings.TrimSpace(value); value != "" {
			return value
		}
	}
	return ""
}

func (e environment) path(names ...string) string {
	value := e.text(names...)
	if value == "~" || strings.HasPrefix(value, "~/") {
		return filepath.Join(e.home, value[1:])
	}
	return value
}

func (e environment) token(hfHome string) (string, error) {
	if token := e.text("HF_TOKEN"); token != "" {
		return token, goodToken("HF_TOKEN", token)
	}
	file := e.path("HF_TOKEN_PATH")
	if file == "" {
		file = filepath.Join(hfHome, "token")
	}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // most people have none
	}
	if err != nil {
		return "", fmt.Errorf("reading the Hub's token: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	return token, goodToken(file, token)
}

// goodToken finds what cannot stand in a header, such as a second line.
func goodToken(where, token string) error {
	for _, r := range token {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("the Hub's token in %s has a blank, a line break or another sign that no token has: put the bare token there", where)
		}
	}
	return nil
}

func endpoint(value string) (string, error) {
	if value == "" {
		return DefaultEndpoint, nil
	}
	value = strings.TrimRight(value, "/")
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", errors.New("HF_ENDPOINT is not the address of a Hub: it looks like https://huggingface.co, with no password, query or fragment")
	}
	return value, nil
}
