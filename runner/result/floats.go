package result

import (
	"fmt"
	"strconv"
	"strings"
)

// Floats is a list of numbers in one field: a JSON array, or null when it is not
// available; in CSV `0.8;0.6`, or an empty cell.
type Floats []float64

// MarshalCSV writes the numbers with full precision.
func (f Floats) MarshalCSV() (string, error) {
	parts := make([]string, len(f))
	for i, v := range f {
		parts[i] = strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strings.Join(parts, ";"), nil
}

// UnmarshalCSV reads what MarshalCSV writes; an empty cell gives nil.
func (f *Floats) UnmarshalCSV(cell string) error {
	*f = nil
	if strings.TrimSpace(cell) == "" {
		return nil
	}
	for i, part := range strings.Split(cell, ";") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !finite(v) {
			return fmt.Errorf("%q is not a list of numbers like 0.8;0.6 (number %d: %q)", cell, i+1, part)
		}
		*f = append(*f, v)
	}
	return nil
}
