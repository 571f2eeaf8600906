package plan

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// url checks the URL of a server and gives its root: without trailing slashes and
// without the /v1 that clients are often given. It is empty after a problem.
func (l *loader) url(at string, raw, text *string, launched bool) string {
	if raw == nil || text == nil {
		return ""
	}
	problem := ""
	switch {
	case literalPassword(*raw):
		problem = "a password must not stand in a plan: use ${VAR}"
	case strings.Contains(*text, "{port}") && !launched:
		problem = "{port} is chosen when launch starts the server: give launch, or a port"
	default:
		problem = checkURL(strings.ReplaceAll(*text, "{port}", "1"), "http", "https")
	}
	if problem != "" {
		l.doc.add(at, "%s", problem)
		return ""
	}
	root := strings.TrimSuffix(strings.TrimRight(*text, "/"), "/v1")
	return strings.TrimRight(root, "/")
}

// userinfo finds what stands before the @ of a URL. It reads the text itself: with
// ${} in it, it is no URL yet.
var userinfo = regexp.MustCompile(`://([^/?#]*)@`)

func literalPassword(raw string) bool {
	m := userinfo.FindStringSubmatch(skeleton(raw))
	if m == nil {
		return false
	}
	_, password, _ := strings.Cut(m[1], ":")
	return password != "" && !strings.Contains(password, fromVar)
}

// checkURL says what is wrong with the root URL of a server or proxy, or nothing.
// It never shows what stands before an @.
func checkURL(text string, schemes ...string) string {
	shown := strconv.Quote(clip(userinfo.ReplaceAllString(text, "://…@")))
	if text == "" {
		return "must not be empty"
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		host, _, _ := strings.Cut(text, "/")
		return "no scheme in " + shown + ": want http://host:port, as in http://" + bracketed(host)
	}
	if !slices.Contains(schemes, strings.ToLower(scheme)) {
		return "want " + strings.Join(schemes, " or ") + " (have " + shown + ")"
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	user, host := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, host = "…@", authority[i+1:]
	}
	if strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "[") {
		return "an IPv6 address needs brackets: " + strings.ToLower(scheme) + "://" + user + bracketed(host)
	}
	u, err := url.Parse(text)
	if err != nil {
		// url.Error repeats the URL with what may be a password in it.
		var inner *url.Error
		if errors.As(err, &inner) && !strings.Contains(authority, "@") {
			return "not a URL: " + inner.Err.Error() + " in " + shown
		}
		return "not a URL: " + shown
	}
	port, portErr := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case u.Hostname() == "":
		return "no host in " + shown
	case strings.HasSuffix(u.Host, ":"):
		return "no port after the colon in " + shown
	case u.Port() != "" && (portErr != nil || port == 0):
		return "no such port: " + u.Port()
	case strings.ContainsAny(text, "?#"):
		return "want a root URL without ? and # (have " + shown + ")"
	}
	return ""
}

// bracketed puts the IPv6 address of host or host:port in brackets.
func bracketed(host string) string {
	if i := strings.LastIndexByte(host, ':'); i > 0 {
		_, portErr := strconv.ParseUint(host[i+1:], 10, 16)
		if isIPv6(host[:i]) && portErr == nil {
			return "[" + host[:i] + "]" + host[i:]
		}
	}
	if isIPv6(host) {
		return "[" + host + "]"
	}
	return host
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6()
}
