package table

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes are terminal escape sequences: CSI (colours, cursor), OSC and its kin
// (titles, links) up to their terminator, and the two-character ones.
var escapes = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]` +
	`|\x1b[\]PX^_][^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?` +
	`|\x1b[ -/]*[0-~]?`)

// Clean makes text from outside (names, labels, a server's error) fit for one
// line of a table: no escape sequences, control characters or invisible ones
// that turn the reading direction; every run of blanks and line breaks is one
// blank. What is longer than limit runes is cut and ends in an ellipsis. Markup
// is not its business; that is each renderer's.
func Clean(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.ContainsAny(text, "\x1b\u009b") { // few have any, and every cell comes by here
		text = escapes.ReplaceAllString(text, "")
	}
	var b strings.Builder
	runes, blank := 0, false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			blank = runes > 0
			continue
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r) && r != zeroWidthJoiner && r != zeroWidthNonJoiner:
			continue
		}
		if blank {
			b.WriteByte(' ')
			runes++
			blank = false
		}
		if runes >= limit {
			return strings.TrimSpace(cut(b.String(), limit-1)) + "…"
		}
		b.WriteRune(r)
		runes++
	}
	return b.String()
}

// These join letters and emoji; names of some scripts are wrong without.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// cut is the first n runes.
func cut(s string, n int) string {
	r := []rune(s)
	return string(r[:max(0, min(n, len(r)))])
}
