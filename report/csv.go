package report

import (
	"io"

	"github.com/specsweep/specsweep/runner/result"
)

// csvFormat is the rows themselves, never aggregates.
func csvFormat() Format {
	return Format{Name: "csv", Ext: ".csv", Write: func(w io.Writer, s Set) error {
		return result.WriteCSV(w, s.Rows)
	}}
}
