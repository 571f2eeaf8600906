// Package report prints a set of rows, one file a format. What a table holds is
// decided in report/table; a format only prints it, and makes text from outside
// safe for its own markup. Files of a run-set keep full precision; terminal,
// markdown and bench's formats round.
//
// It reads no files and judges nothing.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/report/gate"
	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// Set is what reports are made of.
type Set struct {
	Rows     []result.Row    // by run_index, as NewSet sorts them
	Manifest result.Manifest // the zero value when there is none
	Terminal Terminal        // for the terminal format only

	// Name tells the set from others that it is merged with: the run-set's folder.
	Name string
	// MinEffect is the plan's min_effect: a smaller relative difference is not worth a
	// verdict.
	MinEffect float64

	cells   int      // that were asked for; 0: not known
	remarks []string // on what the set was merged of
}

// Terminal is what the terminal format should know of the terminal.
type Terminal struct {
	Width int  // in columns; 0: not known, no limit
	Color bool // mark what is best by escape sequences, not by a *
}

// NewSet is a set of rows, which may come in any order, and what is known beside
// them.
func NewSet(rows []result.Row, m result.Manifest) Set {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b result.Row) int { return a.RunIndex - b.RunIndex })
	s := Set{Rows: sorted, Manifest: m, cells: len(m.Cells)}
	if m.MinEffect != nil {
		s.MinEffect = *m.MinEffect
	}
	return s
}

// table is the set as data.
func (s Set) table() table.Table {
	t := table.Build(s.Rows, table.Options{
		Plan: s.Manifest.Plan, Own: s.own(), Runs: s.Manifest.Runs, Cells: s.cells, Status: s.Manifest.Status,
		MinEffect: s.MinEffect,
	})
	t.Remarks = slices.Concat(s.judged(), t.Remarks, s.remarks)
	return t
}

// maxMisses is how many missed thresholds a report names.
const maxMisses = 10

// judged says how the rows stand to the thresholds of their plan, which travel with the
// table into a pull request. A sweep that is not finished is not judged yet.
func (s Set) judged() []string {
	limits, err := gate.LimitsOf(s.Manifest)
	switch {
	case err != nil:
		return []string{table.Clean(err.Error(), maxThreshold)}
	case len(limits) == 0:
		return nil
	case s.Manifest.Status != result.StatusFinished:
		return []string{fmt.Sprintf("%d of the plan's thresholds are not judged: the sweep is not finished", len(limits))}
	}
	misses := gate.JudgeLimits(s.Rows, limits)
	if len(misses) == 0 {
		return []string{fmt.Sprintf("all of the plan's thresholds are kept (%d)", len(limits))}
	}
	var out []string
	for i, m := range misses {
		if i == maxMisses {
			out = append(out, fmt.Sprintf("MISSED: %d more", len(misses)-i))
			break
		}
		out = append(out, "MISSED: "+table.Clean(m.String(), maxThreshold))
	}
	return out
}

// maxThreshold is how long one line about a threshold may be.
const maxThreshold = 600

// own is the axes that datasets replace.
func (s Set) own() map[string]table.Own {
	own := map[string]table.Own{}
	for name, axes := range s.Manifest.DatasetAxes {
		own[name] = table.Own{
			MaxNewTokens: slices.Contains(axes, "max_new_tokens"),
			NumPrompts:   slices.Contains(axes, "num_prompts"),
		}
	}
	return own
}

// Format is a way to print a set.
type Format struct {
	Name  string // as in --format
	Ext   string // of a file of that format, with its dot
	Write func(io.Writer, Set) error
}

// Formats is every format.
func Formats() []Format {
	return []Format{
		terminalFormat(),
		markdownFormat(),
		csvFormat(),
		jsonFormat(),
		htmlFormat(),
		svgFormat(),
		benchfmtFormat(),
		githubBenchFormat(),
	}
}

// FormatNamed finds a format by its name.
func FormatNamed(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// File is a report that every run-set holds.
type File struct {
	File   string // its name in the folder
	Format string
}

// HTMLFile is the report of a run-set with pictures.
const HTMLFile = "report.html"

// RunSetFiles is the reports that every run-set holds.
func RunSetFiles() []File {
	return []File{{"results.csv", "csv"}, {"results.md", "markdown"}, {"results.json", "json"}, {HTMLFile, "html"}}
}

// Write prints the set in the format of that name.
func Write(w io.Writer, format string, s Set) error {
	f, ok := FormatNamed(format)
	if !ok {
		var names []string
		for _, f := range Formats() {
			names = append(names, f.Name)
		}
		slices.Sort(names)
		return fmt.Errorf("unknown report format %q (have %s)", format, strings.Join(names, ", "))
	}
	if err := f.Write(w, s); err != nil {
		return fmt.Errorf("writing the %s report: %w", format, err)
	}
	return nil
}
