package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/specsweep/specsweep/report/table"
)

// githubBench is one entry of the input of the GitHub action github-action-benchmark
// with tool: customBiggerIsBetter, https://github.com/benchmark-action/github-action-benchmark.
type githubBench struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Range string  `json:"range,omitempty"` // ± the wider side of the interval
	Extra string  `json:"extra,omitempty"` // shown with the point: n, the interval, the doubts
}

// githubBenchFormat is three values a cell, all of which are better when bigger; n/a
// is left out.
func githubBenchFormat() Format {
	return Format{Name: "github-benchmark", Ext: ".github.json", Write: writeGithubBench}
}

func writeGithubBench(w io.Writer, s Set) error {
	out := []githubBench{}
	cells := table.Cells(s.Rows)
	names := benchNames(cells)
	for i, c := range cells {
		for _, m := range []struct{ metric, unit string }{
			{"speedup", "x"}, {"output_throughput_tok_s", "tok/s"}, {"accept_length", "tok"},
		} {
			if b, ok := githubBenchOf(c, m.metric, m.unit); ok {
				b.Name = strings.Join(append(names[i], m.metric), " ")
				out = append(out, b)
			}
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// githubBenchOf is the cell's value of a metric; ok is false where there is none.
func githubBenchOf(c table.CellRows, metric, unit string) (b githubBench, ok bool) {
	rows := c.OK()
	v := table.CellValue(rows, metric)
	if v == nil {
		return b, false
	}
	b = githubBench{Unit: unit, Value: *v}
	extra := []string{fmt.Sprintf("n = %d", len(rows))}
	if i := interval(c, metric); i != nil && i.N > 1 && i.Finite() {
		b.Range = fmt.Sprintf("± %.4g", max(i.High-*v, *v-i.Low))
		kind := "95 % interval over repeats"
		if i.Range {
			kind = "least and greatest repeat"
		}
		extra = append(extra, fmt.Sprintf("%.4g to %.4g (%s)", i.Low, i.High, kind))
	}
	if metric == "speedup" && c.OtherEngine() {
		extra = append(extra, "baseline of another engine")
	}
	seen := map[string]bool{}
	for _, r := range rows {
		for _, warning := range r.Warnings {
			for _, column := range warning.Columns {
				if text := table.Clean(warning.Text, maxField); column == metric && !seen[text] {
					seen[text] = true
					extra = append(extra, text)
				}
			}
		}
	}
	b.Extra = strings.Join(extra, "; ")
	return b, true
}
