package plot

import (
	"fmt"
	"strings"
)

// textWidth is about how wide a text is at 13 px; letters of East Asia count double.
func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		if r >= 0x1100 {
			w += 13.5
		} else {
			w += 7.8
		}
	}
	return w
}

// short cuts a text that is longer than n runes.
func short(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimSpace(string(r[:n-1])) + "…"
}

// wrap breaks a text at blanks into lines of at most n runes; a longer word is cut.
func wrap(s string, n int) []string {
	var lines []string
	for _, word := range strings.Fields(s) {
		word = short(word, n)
		last := len(lines) - 1
		if last >= 0 && len([]rune(lines[last]))+1+len([]rune(word)) <= n {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

func clamp(v, low, high float64) float64 { return max(low, min(v, high)) }

// marker draws the i-th series' marker; title is shown by a pointer that rests on it.
func marker(b *strings.Builder, i int, x, y float64, title string) {
	shapes := [MaxSeries]string{
		`M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z`, // circle
		`M-4 -4h8v8h-8z`,                      // square
		`M0 -5l5 9h-10z`,                      // triangle
		`M0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z`, // diamond
		`M0 5l5 -9h-10z`,                      // triangle, point down
		`M-1.5 -5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z`, // plus
		`M-5 0l2.5 -4.5h5l2.5 4.5l-2.5 4.5h-5z`,              // hexagon
		`M-5 -2h10v4h-10z`,                                   // bar
	}
	fmt.Fprintf(b, "<path class=\"f%d\" transform=\"translate(%.1f %.1f)\" d=\"%s\">", i, x, y, shapes[i])
	if title != "" {
		fmt.Fprintf(b, "<title>%s</title>", escape(title))
	}
	b.WriteString("</path>\n")
}
