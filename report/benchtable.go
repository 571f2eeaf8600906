package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// maxBenchError bounds an error on bench's table, in runes.
const maxBenchError = 200

// BenchTable prints the fixed-width table of NeMo Automodel's bench_sweep: one
// line a row, then the aggregate.
func BenchTable(w io.Writer, rows []result.Row) error {
	header := benchLine("dataset", "completed", "accept_len", "accept_rate", "tok/s", "speedup")
	rule := strings.Repeat("-", len(header)) + "\n"
	out := []string{header + "\n", rule}
	refs := roundedRows(rows)
	for _, r := range refs {
		name := table.Clean(r.Dataset, maxBenchError)
		if !r.OK() {
			out = append(out, fmt.Sprintf("%-12s %9s %s\n", name, "ERROR", table.Clean(r.Error, maxBenchError)))
			continue
		}
		completed := table.NotAvailable
		if r.Completed != nil {
			completed = strconv.Itoa(*r.Completed)
		}
		out = append(out, benchLine(name, completed, fixed(r.AcceptLength, 3), fixed(r.AcceptanceRate, 3),
			fixed(r.OutputThroughputTokS, 1), fixed(r.Speedup, 3))+"\n")
	}
	a := table.AggregateOf(refs)
	out = append(out, rule, benchLine("aggregate", strconv.FormatInt(a.TotalCompleted, 10), fixed(a.AcceptLength, 3),
		fixed(a.AcceptanceRate, 3), fixed(a.OutputThroughputTokS, 1), fixed(a.Speedup, 3))+"\n")
	if _, err := io.WriteString(w, strings.Join(out, "")); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

func benchLine(dataset, completed, length, rate, throughput, speedup string) string {
	return fmt.Sprintf("%-12s %9s %10s %11s %10s %8s", dataset, completed, length, rate, throughput, speedup)
}

func fixed(v *float64, digits int) string {
	if v == nil {
		return table.NotAvailable
	}
	return strconv.FormatFloat(*v, 'f', digits, 64)
}
