package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/specsweep/specsweep/runner/result"
)

const (
	maxText     = 200 // runes of a name or of one warning or error
	maxVariants = 3   // texts of one kind that a footnote lists for one cell
)

// footnotes collects texts in the order of their first appearance.
type footnotes struct {
	texts []string
	at    map[string]int
}

// mark is the number, from 1, of the footnote with that text.
func (f *footnotes) mark(text string) int {
	if n, ok := f.at[text]; ok {
		return n
	}
	if f.at == nil {
		f.at = map[string]int{}
	}
	f.texts = append(f.texts, text)
	f.at[text] = len(f.texts)
	return len(f.texts)
}

// notes is what the cell's rows have to say about a column, one text for each
// code. The column "" stands for warnings that name none.
func (l line) notes(column string) []string {
	said := map[string][]saying{}
	var codes []string
	for _, r := range l.rows {
		for _, w := range r.Warnings {
			if column == "" && len(w.Columns) > 0 || column != "" && !slices.Contains(w.Columns, column) {
				continue
			}
			if _, ok := said[w.Code]; !ok {
				codes = append(codes, w.Code)
			}
			said[w.Code] = say(said[w.Code], w.Text, r)
		}
	}
	var texts []string
	for _, code := range codes {
		texts = append(texts, l.join(said[code])...)
	}
	return texts
}

// errors is the runs' errors in one text, "" when there is none.
func (l line) errors() string {
	var said []saying
	for _, r := range l.rows {
		if !r.OK() {
			said = say(said, r.Error, r)
		}
	}
	return strings.Join(l.join(said), "; ")
}

// saying is a text and the repeats that say it.
type saying struct {
	text    string
	repeats []string
}

func say(said []saying, text string, r *result.Row) []saying {
	text = Clean(text, maxText)
	repeat := "r" + strconv.Itoa(r.Repeat)
	for i := range said {
		if said[i].text == text {
			if !slices.Contains(said[i].repeats, repeat) {
				said[i].repeats = append(said[i].repeats, repeat)
			}
			return said
		}
	}
	return append(said, saying{text, []string{repeat}})
}

// join makes footnotes of what one kind of warning says in the repeats of a
// cell. Of a single run each text stands for itself; texts of several repeats
// share one footnote that tells which said what.
func (l line) join(said []saying) []string {
	var parts []string
	for i, s := range said {
		if len(l.rows) > 1 && i == maxVariants {
			parts = append(parts, fmt.Sprintf("and %d more of the kind", len(said)-i))
			break
		}
		if len(s.repeats) < len(l.rows) {
			s.text += " (" + strings.Join(s.repeats, ", ") + ")"
		}
		parts = append(parts, s.text)
	}
	if len(l.rows) > 1 && len(parts) > 1 {
		return []string{strings.Join(parts, "; ")}
	}
	return parts
}

// Superscript is a footnote's number as it stands in a cell.
func Superscript(n int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	var b strings.Builder
	for _, d := range strconv.Itoa(n) {
		b.WriteRune(digits[d-'0'])
	}
	return b.String()
}
