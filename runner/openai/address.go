package openai

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/specsweep/specsweep/runner/secret"
)

// RootURL strips trailing slashes, then one trailing /v1, then slashes again:
// people paste both http://host:8000 and http://host:8000/v1/.
func RootURL(raw string) string {
	root := strings.TrimRight(raw, "/")
	root = strings.TrimSuffix(root, "/v1")
	return strings.TrimRight(root, "/")
}

// parseRoot reads a server's URL. Its errors show no userinfo.
func parseRoot(raw string) (*url.URL, error) {
	raw = RootURL(strings.TrimSpace(raw))
	_, host, _ := strings.Cut(withoutUserinfo(raw), "://")
	host, _, _ = strings.Cut(host[strings.LastIndexByte(host, '@')+1:], "/")
	if strings.Count(host, ":") > 1 && !strings.Contains(host, "[") {
		return nil, fmt.Errorf("server URL %q: an IPv6 address stands in brackets, as in http://[::1]:8000", withoutUserinfo(raw))
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("server URL %q: %w", withoutUserinfo(raw), bare(err))
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("server URL %q: want http://host:port or https://host:port", withoutUserinfo(raw))
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("server URL %q: a query or fragment cannot be part of a server's root", display(u))
	}
	return u, nil
}

// withoutUserinfo is a URL, maybe one that does not parse, without what stands
// before its last @.
func withoutUserinfo(raw string) string {
	at := strings.LastIndexByte(raw, '@')
	if at < 0 {
		return raw
	}
	scheme, _, ok := strings.Cut(raw[:at], "://")
	if !ok {
		return "***@" + raw[at+1:]
	}
	return scheme + "://***@" + raw[at+1:]
}

// display is a URL as messages may show it: without userinfo and query, where
// keys stand.
func display(u *url.URL) string {
	shown := *u
	shown.User, shown.RawQuery, shown.ForceQuery, shown.Fragment, shown.RawFragment = nil, "", false, "", ""
	return shown.String()
}

// headers is what every request carries, and the virtual host if there is one.
func headers(o Options) (h http.Header, host string, err error) {
	h = http.Header{}
	for name, value := range o.Headers {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == ':' || r > '~' }) {
			return nil, "", fmt.Errorf("header %q: not a header's name", name)
		}
		value = strings.TrimSpace(value)
		if strings.ContainsFunc(value, unicode.IsControl) {
			return nil, "", fmt.Errorf("header %s: the value holds a line break or another control character", name)
		}
		if strings.EqualFold(name, "Host") {
			host = value
			continue
		}
		h.Set(name, value)
	}
	if key := strings.TrimSpace(o.APIKey); key != "" {
		if strings.ContainsFunc(key, unicode.IsControl) {
			return nil, "", fmt.Errorf("the API key holds a line break or another control character")
		}
		h.Set("Authorization", "Bearer "+key)
	}
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", "specsweep")
	}
	return h, host, nil
}

// scrubber takes out what is secret, because servers and gateways like to repeat
// a wrong key in their message. What is shorter than four bytes is left alone: it
// would take words apart and is no secret. proxy may be nil.
func scrubber(o Options, root, proxy *url.URL) *strings.Replacer {
	secrets := []string{strings.TrimSpace(o.APIKey)}
	for name, value := range o.Headers {
		if secret.Name(name) {
			value = strings.TrimSpace(value)
			secrets = append(secrets, value)
			if _, token, ok := strings.Cut(value, " "); ok { // Bearer …
				secrets = append(secrets, token)
			}
		}
	}
	for _, u := range []*url.URL{root, proxy} {
		if u != nil {
			secrets = append(secrets, userSecrets(u.User)...)
		}
	}
	// A longer secret may hold a shorter one, of which the rest would stay.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		if len(s) >= 4 {
			pairs = append(pairs, s, "***")
		}
	}
	return strings.NewReplacer(pairs...)
}

// userSecrets is what is secret of a URL's userinfo, which may be nil: the password,
// or the user where there is none (http://token@host), as it is, as it is written
// in a URL and as basic auth sends it.
func userSecrets(user *url.Userinfo) []string {
	if user == nil {
		return nil
	}
	written := user.String()
	password, ok := user.Password()
	if !ok {
		password = user.Username()
	} else {
		_, written, _ = strings.Cut(written, ":")
	}
	auth := user.Username() + ":"
	if ok {
		auth += password
	}
	return []string{password, written, base64.StdEncoding.EncodeToString([]byte(auth))}
}
