package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/specsweep/specsweep/report/table"
)

// benchNames is each cell as key=value parts. They depend on the cell alone, so that
// the same cell has the same name in every file; axes that few plans have are named
// where they are not at their default. The baseline is not in it: speedups over
// different ones are still to be compared.
func benchNames(cells []table.CellRows) [][]string {
	names := make([][]string, len(cells))
	count := map[string]int{}
	for i, c := range cells {
		parts := []string{
			"server=" + benchValue(c.Server), "dataset=" + benchValue(c.Dataset),
			"concurrency=" + strconv.Itoa(c.Concurrency), "max_new_tokens=" + strconv.Itoa(c.MaxNewTokens),
		}
		if c.Temperature != 0 {
			parts = append(parts, "temperature="+strconv.FormatFloat(c.Temperature, 'f', -1, 64))
		}
		if c.RequestRate != nil {
			parts = append(parts, "request_rate="+strconv.FormatFloat(*c.RequestRate, 'f', -1, 64))
		}
		names[i] = parts
		count[strings.Join(parts, "/")]++
	}
	for i, parts := range names { // num_prompts may be an axis too
		if count[strings.Join(parts, "/")] > 1 {
			names[i] = append(slices.Clone(parts), "prompts_asked="+strconv.Itoa(cells[i].PromptsAsked))
		}
	}
	return names
}

// benchValue is a text from outside within a benchmark's name, which may hold neither
// blanks nor slashes. They are percent-encoded, so that two names never become one.
func benchValue(s string) string {
	if s == "" {
		return "%" // what no other name gives
	}
	var b strings.Builder
	for len(s) > 0 {
		c, size := utf8.DecodeRuneInString(s)
		if c == '/' || c == '%' || unicode.IsSpace(c) || !unicode.IsPrint(c) || c == utf8.RuneError {
			for _, octet := range []byte(s[:size]) {
				fmt.Fprintf(&b, "%%%02X", octet)
			}
		} else {
			b.WriteRune(c)
		}
		s = s[size:]
	}
	return b.String()
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
