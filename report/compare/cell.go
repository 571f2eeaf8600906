package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// compareCell compares what both sides have of one cell.
func compareCell(p pair, o Options, ds *differences) Cell {
	c := Cell{Identity: p.old.Identity, OldRows: p.old.tally(), NewRows: p.new.tally()}
	if o.byServer() {
		c.NewServer = p.new.Server
	}
	c.Notes = ds.cell(p)
	c.Incomparable = incomparable(p)
	for _, side := range []struct {
		name string
		*rowsOf
	}{{"old", p.old}, {"new", p.new}} {
		if side.errors > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%d of %d %s rows are errors and left out: %s", side.errors, len(side.all), side.name,
				table.Clean(strings.Join(texts(side.all, func(r *result.Row) string { return r.Error }), "; "), 200)))
		}
	}
	for _, col := range columns() {
		if m := compareMetric(col, p, o); m != nil {
			if c.Incomparable != "" {
				m.withhold(c.Incomparable)
			}
			c.Metrics = append(c.Metrics, *m)
		}
	}
	return c
}

// compareMetric is nil when neither side has the column.
func compareMetric(col table.Column, p pair, o Options) *Metric {
	m := &Metric{
		Name: col.Name, Unit: col.Unit, LowerIsBetter: col.Better == table.Lower,
		Old: shown(col, p.old.ok), New: shown(col, p.new.ok),
	}
	if m.Old == nil && m.New == nil {
		return nil
	}
	m.OldN, m.NewN = len(values(col, p.old.ok)), len(values(col, p.new.ok))
	m.doubts(p)
	if m.Old == nil || m.New == nil {
		side, rows := "old", p.old
		if m.New == nil {
			side, rows = "new", p.new
		}
		m.unknown("n/a on the " + side + " side" + why(col.Name, rows))
		return m
	}
	m.change(*m.New-*m.Old, stat.Ratio(*m.New, *m.Old))
	switch {
	case perPrompt(col.Name):
		m.byPrompt(p)
	case o.byServer():
		m.byBlock(col, p)
	default:
		m.byRepeat(col, p)
	}
	m.baselines(p)
	m.judge(o.MinEffect)
	return m
}

// change sets the estimates.
func (m *Metric) change(delta float64, ratio *float64) {
	m.Delta = &delta
	m.Rel = nil
	if ratio != nil {
		rel := *ratio - 1
		m.Rel = &rel
	}
}

// byRepeat treats the repeats of the two sides as independent samples.
func (m *Metric) byRepeat(col table.Column, p pair) {
	m.ratio(values(col, p.old.ok), values(col, p.new.ok), stat.UnpairedRatio)
	if m.OldN != m.NewN {
		m.note("%d old and %d new repeats", m.OldN, m.NewN)
	}
}

// byBlock pairs the two servers' passes of one block. A baseline that they share
// cancels from the ratio of their speedups, which is then that of their throughputs.
func (m *Metric) byBlock(col table.Column, p pair) {
	old := map[int]float64{}
	for _, r := range p.old.ok {
		if v := value(col, r); v != nil {
			old[r.Repeat] = *v
		}
	}
	var olds, news []float64
	for _, r := range p.new.ok {
		a, paired := old[r.Repeat]
		v := value(col, r)
		if v == nil || !paired {
			continue
		}
		olds, news = append(olds, a), append(news, *v)
	}
	if most := max(m.OldN, m.NewN); len(olds) < most {
		m.note("%d of %d blocks have both servers", len(olds), most)
	}
	m.OldN, m.NewN = len(olds), len(olds)
	if len(olds) == 0 {
		m.unknown("no block has both servers")
		return
	}
	m.ratio(olds, news, pairedRatio)
}

// pairedRatio is the interval of b over a, paired by position.
func pairedRatio(a, b []float64) *stat.Interval {
	ratios := make([]float64, len(a))
	for i := range a {
		if ratio := stat.Ratio(b[i], a[i]); ratio != nil { // else 0, of which there is no interval
			ratios[i] = *ratio
		}
	}
	return stat.GeoMeanInterval(ratios)
}

// ratio takes over the interval of new / old over those values, its estimate, and what
// it is the quotient of.
func (m *Metric) ratio(old, new []float64, interval func(a, b []float64) *stat.Interval) {
	i, a, b := interval(old, new), stat.GeoMean(old), stat.GeoMean(new)
	if i == nil || a == nil || b == nil {
		m.unknown("a value is not positive, so there is no ratio")
		return
	}
	m.Ratio, m.Old, m.New = i, a, b
	ratio := i.Estimate
	m.change(*b-*a, &ratio)
	switch {
	case !i.Range:
	case i.N == 1:
		m.unknown("n = 1: nothing is known of how much the value changes from run to run")
	default:
		m.unknown(fmt.Sprintf("n = %d: there is only a range; repeats: 3 or more give an interval", i.N))
	}
}

// baselines says when the speedups are over different things.
func (m *Metric) baselines(p pair) {
	if m.Name != "speedup" && m.Name != "tpot_speedup" {
		return
	}
	engine := func(r *result.Row) string { return r.BaselineEngine }
	a, b := texts(p.old.ok, engine), texts(p.new.ok, engine)
	if len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
		m.unknown(fmt.Sprintf("the baselines are of different engines: %s and %s", strings.Join(a, ", "), strings.Join(b, ", ")))
		return
	}
	for _, r := range slices.Concat(p.old.ok, p.new.ok) {
		if r.BaselineEngine != "" && r.BaselineEngine != r.Engine {
			m.alone = true
			m.note("the baseline is of another engine: %s; left out of the overall means", r.BaselineEngine)
			return
		}
	}
}

// doubts repeats the rows' own doubts about the column, each kind once a side.
func (m *Metric) doubts(p pair) {
	for _, side := range []struct {
		name string
		rows []*result.Row
	}{{"old", p.old.ok}, {"new", p.new.ok}} {
		var seen []string
		for _, r := range side.rows {
			for _, w := range r.Warnings {
				if slices.Contains(w.Columns, m.Name) && !slices.Contains(seen, w.Code) {
					seen = append(seen, w.Code)
					m.note("%s: %s", side.name, table.Clean(w.Text, 200))
				}
			}
		}
	}
}

// why is the reason that the rows give for a null, with a colon before it.
func why(column string, rows *rowsOf) string {
	if len(rows.ok) == 0 {
		return ": all of its rows are errors"
	}
	for _, r := range rows.ok {
		for _, w := range r.Warnings {
			if slices.Contains(w.Columns, column) {
				return ": " + table.Clean(w.Text, 200)
			}
		}
	}
	return ""
}

func (m *Metric) note(format string, args ...any) {
	m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
}
