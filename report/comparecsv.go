package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// writeComparedCSV writes one line a cell and metric, in full precision. What is not
// available is an empty cell.
func writeComparedCSV(w io.Writer, c Compared) error {
	out := csv.NewWriter(w)
	records := [][]string{{
		"old", "new", "server", "new_server", "dataset", "concurrency", "max_new_tokens", "temperature", "request_rate", "prompts_asked",
		"metric", "unit", "old_value", "new_value", "old_n", "new_n", "delta", "rel", "delta_low", "delta_high", "ratio_low", "ratio_high",
		"verdict", "reason", "notes",
	}}
	for i := range c.Cells {
		cell := &c.Cells[i]
		for j := range cell.Metrics {
			m := &cell.Metrics[j]
			records = append(records, []string{
				result.SafeCell(c.Old), result.SafeCell(c.New), result.SafeCell(cell.Server), result.SafeCell(cell.NewServer), result.SafeCell(cell.Dataset),
				strconv.Itoa(cell.Concurrency), strconv.Itoa(cell.MaxNewTokens), full(&cell.Temperature), full(cell.RequestRate), strconv.Itoa(cell.PromptsAsked),
				m.Name, m.Unit, full(m.Old), full(m.New), strconv.Itoa(m.OldN), strconv.Itoa(m.NewN), full(m.Delta), full(m.Rel),
				low(m.Difference), high(m.Difference), low(m.Ratio), high(m.Ratio),
				string(m.Verdict), result.SafeCell(m.Reason), result.SafeCell(strings.Join(append(append([]string{}, cell.Notes...), m.Notes...), "; ")),
			})
		}
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

func full(v *float64) string {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

func low(i *stat.Interval) string {
	if i == nil || i.N <= 1 {
		return ""
	}
	return full(&i.Low)
}

func high(i *stat.Interval) string {
	if i == nil || i.N <= 1 {
		return ""
	}
	return full(&i.High)
}
