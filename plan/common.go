package plan

import (
	"regexp"
	"slices"
	"strings"
)

// common checks what the plan, a server or a baseline says, where it says it.
func (l *loader) common(at string, raw, c commonYAML) {
	dot := ""
	if at != "" {
		dot = at + "."
	}
	if c.Engine != nil && !slices.Contains(l.opts.Engines, *c.Engine) {
		l.doc.add(dot+"engine", "unknown engine %q %s", clip(*c.Engine), have(l.opts.Engines))
	}
	if c.Model != nil && strings.TrimSpace(*c.Model) == "" {
		l.doc.add(dot+"model", "must not be empty: leave it out to use the only model that the server lists")
	}
	for _, key := range sortedKeys(c.Labels) {
		if strings.TrimSpace(key) == "" {
			l.doc.add(join(dot+"labels", key), "a label's name must not be empty")
		}
	}
	l.headers(dot+"headers", raw.Headers, c.Headers)
	l.apiKey(dot, raw, c)
	l.checkProxy(dot+"proxy", raw.Proxy, c.Proxy)
	l.reserved(l.doc, dot+"extra_body", c.ExtraBody)
}

func (l *loader) apiKey(dot string, raw, c commonYAML) {
	switch {
	case c.APIKeyEnv == nil:
	// The value is not shown: where ${KEY} was written it would be the key itself.
	case strings.Contains(*raw.APIKeyEnv, "${"), !varName.MatchString(*c.APIKeyEnv):
		l.doc.add(dot+"api_key_env", "want the name of a variable, as in api_key_env: MY_KEY, and no value and no ${}")
	case c.APIKeyFile != nil:
		l.doc.add(dot+"api_key_env", "give one of api_key_env and api_key_file")
	}
	switch {
	case c.APIKeyFile == nil:
	case *c.APIKeyFile == "":
		l.doc.add(dot+"api_key_file", "must not be empty")
	default:
		l.exists(dot+"api_key_file", *c.APIKeyFile)
	}
}

var (
	// headerName is a token of RFC 9110, section 5.6.2.
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	// secretHeader also finds X-Api-Key, Ocp-Apim-Subscription-Key, X-Auth-Token … Its
	// words are those of package runner/secret, which this package may not import.
	secretHeader = regexp.MustCompile(`(?i)auth|cookie|credential|key|passwd|password|secret|token`)
)

// ownHeaders belong to the connection or to the body: set from outside, they
// would bend the measurement or break the request.
func ownHeaders() []string {
	return []string{"connection", "content-length", "content-type", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
}

// headers never shows a value: it may be a secret.
func (l *loader) headers(at string, raw, headers texts) {
	first := map[string]string{}
	for _, name := range sortedKeys(headers) {
		here := join(at, name)
		other, taken := first[strings.ToLower(name)]
		first[strings.ToLower(name)] = name
		literal := skeleton(raw[name])
		switch {
		case !headerName.MatchString(name):
			l.doc.add(here, "not the name of an HTTP header")
		case slices.Contains(ownHeaders(), strings.ToLower(name)):
			l.doc.add(here, "specsweep sets this header itself")
		case taken:
			l.doc.add(here, "the same header as %s", other)
		case strings.ContainsFunc(headers[name], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			l.doc.add(here, "the value holds a line break or another control character; does the variable end in one?")
		case secretHeader.MatchString(name) && literal != "" && !strings.Contains(literal, fromVar):
			l.doc.add(here, "a secret must not stand in a plan: use ${VAR}")
		}
	}
}

// reserved refuses fields of the body that specsweep sets itself.
func (l *loader) reserved(doc *document, at string, body anything) {
	own := map[string]string{
		"model": "from model", "messages": "from the datasets", "max_tokens": "from max_new_tokens", "max_completion_tokens": "from max_new_tokens",
		"temperature": "from temperature", "top_p": "from top_p", "stream": "from stream",
	}
	if valueOr(l.file.Stream, false) {
		own["stream_options"] = "from stream"
	}
	if l.file.TopK != nil {
		own["top_k"] = "from top_k"
	}
	for _, field := range sortedKeys(body) {
		if why, ok := own[field]; ok {
			doc.add(join(at, field), "specsweep sets this field itself (%s)", why)
		}
	}
}
