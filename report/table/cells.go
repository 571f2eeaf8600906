package table

import (
	"slices"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// CellRows is one cell of the plan's matrix: the repeats of one measurement.
type CellRows struct {
	ID           string // cell_id; empty in files without one
	Server       string
	Dataset      string
	Concurrency  int
	MaxNewTokens int
	PromptsAsked int
	Temperature  float64
	RequestRate  *float64 // requests per second; nil: a closed loop

	Rows []*result.Row // every repeat, ok or not, by run_index; never empty
}

// Cells groups rows by cell, in the order of run_index. The rows are not copied.
func Cells(rows []result.Row) []CellRows {
	refs := make([]*result.Row, len(rows))
	for i := range rows {
		refs[i] = &rows[i]
	}
	ls := lines(refs)
	cells := make([]CellRows, len(ls))
	for i, l := range ls {
		r := l.rows[0]
		cells[i] = CellRows{
			ID: r.CellID, Server: r.Server, Dataset: r.Dataset, Concurrency: r.Concurrency, MaxNewTokens: r.MaxNewTokens,
			PromptsAsked: r.PromptsAsked, Temperature: r.Temperature, RequestRate: r.RequestRate, Rows: l.rows,
		}
	}
	return cells
}

// OK is the repeats without an error.
func (c CellRows) OK() []*result.Row {
	return slices.DeleteFunc(slices.Clone(c.Rows), func(r *result.Row) bool { return !r.OK() })
}

// OtherEngine tells whether the speedup is over a baseline of another engine; it
// then belongs in no mean.
func (c CellRows) OtherEngine() bool { return line{rows: c.Rows}.otherEngine() }

// Speedup is the geometric mean of the repeats' speedups with its interval; nil
// where there is none.
func (c CellRows) Speedup() *stat.Interval { return lineOf(c.Rows).speedup() }

// CellValue is the value that tables show of one cell's rows for a metric, which is
// a column of the row: of the ok repeats, or of all when none is. It is nil where
// there is none, where repeats of a column that cannot be combined differ, and for a
// metric that is no number or no column.
func CellValue(rows []*result.Row, metric string) *float64 {
	if len(rows) == 0 {
		return nil
	}
	if c, ok := byName()[metric]; ok && c.Value != nil {
		return lineOf(rows).value(c)
	}
	return nil
}

// lineOf is the line that the rows of one cell make.
func lineOf(rows []*result.Row) line {
	l := line{rows: rows}
	for _, r := range rows {
		if r.OK() {
			l.ok = append(l.ok, r)
		}
	}
	return l
}

// speedup is the cell's speedup with its interval, nil where there is none.
func (l line) speedup() *stat.Interval { return l.interval(column("speedup")) }

// interval is that of a column of ratios over the ok repeats.
func (l line) interval(c Column) *stat.Interval { return stat.GeoMeanInterval(c.values(l.ok)) }
