package report

import (
	"io"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// benchUnit is a value of a run under the name that benchstat shows.
type benchUnit struct {
	unit, better string
	get          func(*result.Row) *float64
}

// benchUnits is what a run's line holds, in order. Latencies are there when answers
// were streamed.
func benchUnits() []benchUnit {
	return []benchUnit{
		{"tok/s", "higher", func(r *result.Row) *float64 { return r.OutputThroughputTokS }},
		{"speedup", "higher", func(r *result.Row) *float64 { return r.Speedup }},
		{"accept_length", "higher", func(r *result.Row) *float64 { return r.AcceptLength }},
		{"acceptance_rate", "higher", func(r *result.Row) *float64 { return r.AcceptanceRate }},
		{"baseline_tok/s", "higher", func(r *result.Row) *float64 { return r.BaselineThroughputTokS }},
		{"ttft_p50_ms", "lower", func(r *result.Row) *float64 { return r.TTFTP50Ms }},
		{"tpot_p50_ms", "lower", func(r *result.Row) *float64 { return r.TPOTP50Ms }},
		{"e2e_latency_p50_ms", "lower", func(r *result.Row) *float64 { return r.E2ELatencyP50Ms }},
	}
}

// benchfmtFormat is the Go benchmark format, https://golang.org/design/14313-benchmark-format:
// one line a run, so that benchstat takes the repeats for its samples. Runs with an
// error and values that are not available are left out.
func benchfmtFormat() Format {
	return Format{Name: "benchfmt", Ext: ".benchfmt.txt", Write: writeBenchfmt}
}

func writeBenchfmt(w io.Writer, s Set) error {
	out := benchfmt.NewWriter(w)
	units := benchUnits()
	for _, u := range units {
		if !anyRow(s.Rows, u.get) {
			continue
		}
		key := benchfmt.UnitMetadataKey{Unit: u.unit, Key: "better"}
		if err := out.Write(&benchfmt.UnitMetadata{UnitMetadataKey: key, OrigUnit: u.unit, Value: u.better}); err != nil {
			return err
		}
	}
	config := benchConfig(s.Rows)
	cells := table.Cells(s.Rows)
	names := benchNames(cells)
	for i, c := range cells {
		name := benchfmt.Name("Serve/" + strings.Join(names[i], "/"))
		for _, r := range c.OK() {
			line := benchfmt.Result{Config: config, Name: name, Iters: 1}
			for _, u := range units {
				if v := u.get(r); v != nil {
					line.Values = append(line.Values, benchfmt.Value{Value: *v, Unit: u.unit})
				}
			}
			if len(line.Values) == 0 {
				continue
			}
			if err := out.Write(&line); err != nil {
				return err
			}
		}
	}
	return nil
}

func anyRow(rows []result.Row, get func(*result.Row) *float64) bool {
	for i := range rows {
		if rows[i].OK() && get(&rows[i]) != nil {
			return true
		}
	}
	return false
}

// benchConfig is what all rows share and what makes files comparable: benchstat puts
// results of different configurations into different tables. Versions are not in it,
// since comparing two of them is what one wants to do.
func benchConfig(rows []result.Row) []benchfmt.Config {
	var config []benchfmt.Config
	if len(rows) == 0 {
		return nil
	}
	add := func(key, value string) {
		if value = table.Clean(value, maxField); value != "" {
			config = append(config, benchfmt.Config{Key: key, Value: []byte(value), File: true})
		}
	}
	for _, c := range []struct {
		key string
		get func(*result.Row) string
	}{
		{"plan", func(r *result.Row) string { return r.Plan }},
		{"engine", func(r *result.Row) string { return r.Engine }},
		{"model", func(r *result.Row) string { return r.Model }},
	} {
		if sharedBy(rows, c.get) {
			add(c.key, c.get(&rows[0]))
		}
	}
	seen := map[string]bool{}
	for _, name := range sortedKeys(rows[0].Labels) {
		key := "label_" + benchKey(name)
		if !seen[key] && sharedBy(rows, func(r *result.Row) string { return r.Labels[name] }) {
			seen[key] = true
			add(key, rows[0].Labels[name])
		}
	}
	return config
}

func sharedBy(rows []result.Row, get func(*result.Row) string) bool {
	for i := range rows {
		if get(&rows[i]) != get(&rows[0]) {
			return false
		}
	}
	return true
}

// benchKey is a label's name within a configuration key, which may hold neither
// blanks, colons nor capitals.
func benchKey(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ':', unicode.IsSpace(r), !unicode.IsPrint(r):
			return '_'
		}
		return unicode.ToLower(r)
	}, name)
}
