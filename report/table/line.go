package table

import (
	"slices"

	"github.com/specsweep/specsweep/runner/result"
)

// line is the repeats of one cell: one line of the table.
type line struct {
	rows []*result.Row // all, in order
	ok   []*result.Row // those without an error

	least float64 // relative; a smaller effect is not worth a verdict
}

// lineKey tells cells apart. The id alone would do for rows of `run`; rows of
// an older file may lack it.
type lineKey struct {
	cell, server, dataset string
	concurrency, tokens   int
	prompts               int
	temperature           float64
	rate                  float64 // requests per second; 0: a closed loop
}

func rate(r *result.Row) float64 {
	if r.RequestRate == nil {
		return 0
	}
	return *r.RequestRate
}

// lines groups rows by cell, in the order of run_index.
func lines(rows []*result.Row) []line {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b *result.Row) int { return a.RunIndex - b.RunIndex })
	var ls []line
	at := map[lineKey]int{}
	for _, r := range sorted {
		k := lineKey{r.CellID, r.Server, r.Dataset, r.Concurrency, r.MaxNewTokens, r.PromptsAsked, r.Temperature, rate(r)}
		i, ok := at[k]
		if !ok {
			i = len(ls)
			at[k] = i
			ls = append(ls, line{})
		}
		ls[i].rows = append(ls[i].rows, r)
		if r.OK() {
			ls[i].ok = append(ls[i].ok, r)
		}
	}
	return ls
}

// counted is the rows that a value is made of: the ok ones, or all when none is.
func (l line) counted(c Column) []*result.Row {
	if len(l.ok) > 0 && c.Name != "failed" {
		return l.ok
	}
	return l.rows
}

// value is the column's number for the cell.
func (l line) value(c Column) *float64 {
	rows := l.counted(c)
	if c.Combine != nil {
		return c.Combine(c, rows)
	}
	vs := c.values(rows)
	if len(vs) == 0 || slices.Min(vs) != slices.Max(vs) {
		return nil
	}
	return &vs[0]
}

// block names what a best value is the best of: the cells that differ in their
// server only.
func (l line) block() lineKey {
	r := l.rows[0]
	return lineKey{dataset: r.Dataset, concurrency: r.Concurrency, tokens: r.MaxNewTokens,
		prompts: r.PromptsAsked, temperature: r.Temperature, rate: rate(r)}
}

// otherEngine tells whether the speedup compares two engines.
func (l line) otherEngine() bool {
	return slices.ContainsFunc(l.rows, func(r *result.Row) bool {
		return r.BaselineEngine != "" && r.Engine != "" && r.BaselineEngine != r.Engine
	})
}
