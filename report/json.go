package report

import (
	"io"

	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// jsonFormat is the results in bench_sweep's shape, one sweep for each server,
// repeat and point of the plan's axes, with full precision.
func jsonFormat() Format {
	return Format{Name: "json", Ext: ".json", Write: writeJSON}
}

func writeJSON(w io.Writer, s Set) error {
	rows := make([]*result.Row, len(s.Rows))
	for i := range s.Rows {
		rows[i] = &s.Rows[i]
	}
	sweeps := []object{}
	for _, p := range table.Points(rows, s.own()) {
		for _, repeat := range repeats(p.Rows) {
			sweeps = append(sweeps, sweep(p, repeat))
		}
	}
	text, err := indented(object{{"schema_version", result.SchemaVersion}, {"sweeps", sweeps}})
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// repeats is the repeats of the rows, in order of appearance.
func repeats(rows []*result.Row) []int {
	var all []int
	seen := map[int]bool{}
	for _, r := range rows {
		if !seen[r.Repeat] {
			seen[r.Repeat] = true
			all = append(all, r.Repeat)
		}
	}
	return all
}

// sweep is one repeat of a point.
func sweep(p table.Point, repeat int) object {
	var rows []*result.Row
	for _, r := range p.Rows {
		if r.Repeat == repeat {
			rows = append(rows, r)
		}
	}
	return object{
		{"server", p.Server},
		{"repeat", repeat},
		{"concurrency", p.Concurrency},
		{"max_new_tokens", p.MaxNewTokens},
		{"temperature", float(&p.Temperature)},
		{"num_prompts", p.NumPrompts},
		{"request_rate", float(p.RequestRate)},
		{"results", sweepRows(rows)},
		{"aggregate", aggregate(rows)},
	}
}
