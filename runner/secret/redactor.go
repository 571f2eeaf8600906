package secret

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// Mask stands where a secret was.
const Mask = "***"

// MinLength is the length in bytes of the shortest value that is taken out. A shorter
// one would take words apart, and is no secret.
const MinLength = 4

// Redactor takes secrets out of text. It is read-only and may be used by several
// goroutines at once; the nil Redactor knows no secrets.
type Redactor struct {
	first  [256][]string // secrets by their first byte, the longest first
	values int
}

// NewRedactor knows the values, each also as it stands in a URL, and of one with
// several lines each line. Blanks around a value do not belong to it; what is
// shorter than MinLength is left alone.
func NewRedactor(values ...string) *Redactor {
	var all []string
	for _, value := range values {
		value = strings.TrimSpace(value)
		all = append(all, value, url.QueryEscape(value), url.PathEscape(value))
		if strings.ContainsAny(value, "\r\n") {
			for line := range strings.Lines(value) {
				all = append(all, strings.TrimSpace(line))
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	r := &Redactor{}
	for _, value := range all {
		if len(value) >= MinLength {
			r.first[value[0]] = append(r.first[value[0]], value)
			r.values++
		}
	}
	return r
}

// Empty tells whether there is nothing to take out.
func (r *Redactor) Empty() bool { return r == nil || r.values == 0 }

// String is the text with each secret replaced by Mask.
func (r *Redactor) String(text string) string {
	if r.Empty() {
		return text
	}
	out, _, _ := r.scan(nil, text, 0, true)
	return string(out)
}

// scan appends text to out, redacted, up to the end or, when more text may come, to
// what may be the beginning of a secret, which is the rest. mask is how many bytes at
// the start of text belong to a secret that is masked already; left is the same for
// the rest.
func (r *Redactor) scan(out []byte, text string, mask int, last bool) (_ []byte, rest string, left int) {
	for i := range len(text) {
		n, more := r.match(text[i:])
		if more && !last {
			return out, text[i:], mask
		}
		if n > mask { // one that overlaps the one before prolongs its mask
			if mask == 0 {
				out = append(out, Mask...)
			}
			mask = n
		}
		if mask > 0 {
			mask--
			continue
		}
		out = append(out, text[i])
	}
	return out, "", mask
}

// match is the length of the longest secret that text starts with, 0: none, and
// whether more text could make it start with a longer one.
func (r *Redactor) match(text string) (n int, more bool) {
	for _, value := range r.first[text[0]] {
		switch {
		case strings.HasPrefix(text, value):
			return len(value), more // the others are shorter
		case strings.HasPrefix(value, text):
			more = true
		}
	}
	return 0, more
}

// Error is err with its text redacted, still to be unwrapped; nil for nil.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if shown := r.String(text); shown != text {
		return &redacted{err, shown}
	}
	return err
}

type redacted struct {
	err  error
	text string
}

func (e *redacted) Error() string { return e.text }
func (e *redacted) Unwrap() error { return e.err }

// InURL is what is secret in a URL: the password, or the name where it stands alone
// (http://token@host), and both as an HTTP client sends them (RFC 7617). What does not
// parse is secret up to its last @.
func InURL(raw string) []string {
	at := strings.LastIndexByte(raw, '@')
	if at < 0 {
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.User == nil {
		_, rest, ok := strings.Cut(raw[:at], "://")
		if !ok {
			rest = raw[:at]
		}
		_, password, _ := strings.Cut(rest, ":")
		return []string{rest, password}
	}
	name := u.User.Username()
	password, ok := u.User.Password()
	basic := base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
	if !ok {
		return []string{name, basic}
	}
	return []string{password, basic}
}
