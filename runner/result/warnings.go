package result

import (
	"regexp"
)

// warningHead is where a warning starts in a cell.
var warningHead = regexp.MustCompile(`(?:^|; )([a-z][a-z0-9_]*|): `)

// MarshalCSV writes `code: text; code: text`. The columns that a warning marks
// are in rows.jsonl only.
func (w Warnings) MarshalCSV() (string, error) { return w.String(), nil }

// UnmarshalCSV reads what MarshalCSV writes. A text that itself holds `; word: `
// comes back as two warnings; what bears no code becomes one without.
func (w *Warnings) UnmarshalCSV(cell string) error {
	*w = nil
	if cell == "" {
		return nil
	}
	heads := warningHead.FindAllStringSubmatchIndex(cell, -1)
	if len(heads) == 0 || heads[0][0] > 0 {
		end := len(cell)
		if len(heads) > 0 {
			end = heads[0][0]
		}
		*w = append(*w, Warning{Text: cell[:end]})
	}
	for i, h := range heads {
		end := len(cell)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		*w = append(*w, Warning{Code: cell[h[2]:h[3]], Text: cell[h[1]:end]})
	}
	return nil
}
