package report

import (
	"strings"
	"unicode"
)

// mdText makes clean one-line text show on GitHub as it is: nothing in it opens
// emphasis, code, a link, an image, a formula, HTML or a new table column, and it
// notifies nobody. GitHub finds @names and #numbers in the finished text, where
// no escape is left; an empty comment parts them without a trace.
func mdText(text string) string {
	runes := []rune(text)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return 0
		}
		return runes[i]
	}
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	var b strings.Builder
	for i, r := range runes {
		switch r {
		case '\\', '`', '*', '[', ']', '~', '$', '|':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '_':
			// Between letters it is no emphasis, and column names stay readable.
			if !word(at(i-1)) || !word(at(i+1)) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@', '#':
			if r == '#' {
				b.WriteByte('\\') // at the end of a heading it would vanish
			}
			b.WriteRune(r)
			if word(at(i + 1)) {
				b.WriteString("<!-- -->")
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
