package report

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/report/table"
)

// maxMain is the lines that people read in a comment. Of a longer table the summary
// comes first and the table itself folded away.
const maxMain = 30

// markdown is a report on its way to the size that a comment may have.
type markdown struct {
	table.Table
	plan   string
	first  []table.Grid // shown before everything that is folded away
	folded bool         // the main table is folded away too
	folds  [][]byte     // Details as printed, each once: laying tables out is what takes time

	all  int      // lines of the main table before any was cut
	cuts []string // what was left out
}

func newMarkdown(s Set) *markdown { return markdownOf(s.table(), s.plan(), environment(s)) }

// markdownOf is a table, what its comment is known by, and what comes last.
func markdownOf(t table.Table, plan string, last []table.Grid) *markdown {
	m := &markdown{Table: t, plan: plan, all: len(t.Main.Lines)}
	m.folded = m.all > maxMain && slices.ContainsFunc(t.Details, func(g table.Grid) bool { return g.Name == table.GridSummary })
	m.Details = nil
	for _, g := range t.Details {
		if m.folded && (g.Name == table.GridSummary || g.Name == table.GridBest || g.Name == table.GridPerDataset && len(g.Lines) <= maxMain) {
			m.first = append(m.first, g)
		} else {
			m.Details = append(m.Details, g)
		}
	}
	for _, g := range last {
		if len(g.Lines) > 0 {
			m.Details = append(m.Details, g)
		}
	}
	return m
}

// fit leaves out details, the longest first, then lines of the main table and then
// the whole summary and lines of what is before it, until the report is small enough, and says so.
func (m *markdown) fit(limit int) ([]byte, error) {
	if err := m.fold(limit); err != nil {
		return nil, err
	}
	for {
		text, err := m.render()
		if err != nil || len(text) < limit {
			return text, err
		}
		switch {
		case len(m.Details) > 0 && (len(m.Main.Lines) == 0 || m.Details[m.longest()].Name != table.GridSummaryAll):
			longest := m.longest()
			m.cuts = append(m.cuts, m.Details[longest].Title)
			m.Details = slices.Delete(m.Details, longest, longest+1)
			m.folds = slices.Delete(m.folds, longest, longest+1)
			m.trimNotes()
		case len(m.Main.Lines) > 0:
			m.Main.Lines = m.Main.Lines[:fitting(len(m.Main.Lines), limit, len(text))]
			m.trimNotes()
		case slices.ContainsFunc(m.first, func(g table.Grid) bool { return len(g.Lines) > 0 }):
			for i, g := range m.first {
				n := fitting(len(g.Lines), limit, len(text))
				m.first[i].Lines = g.Lines[:n]
				m.cuts = append(m.cuts, fmt.Sprintf("all but the first %d lines of %s", n, g.Title))
			}
			m.trimNotes()
		case len(m.Remarks) > 0:
			m.Remarks = nil
		default:
			return text, nil // a few short lines; there is nothing left to cut
		}
	}
}

// longest is the detail that takes the most room. The whole of a summary that is shown
// in part goes last, after the cells.
func (m *markdown) longest() int {
	room := func(i int) int {
		if m.Details[i].Name == table.GridSummaryAll {
			return 0
		}
		return len(m.folds[i])
	}
	longest := 0
	for i := range m.folds {
		if room(i) > room(longest) {
			longest = i
		}
	}
	return longest
}

// fold prints the details. A table of which the least size is already too much is
// left out, or cut, without being laid out.
func (m *markdown) fold(limit int) error {
	var kept []table.Grid
	for _, g := range m.Details {
		if leastSize(g) >= limit {
			m.cuts = append(m.cuts, g.Title)
			continue
		}
		var b bytes.Buffer
		if err := mdFolded(&b, g, nil); err != nil {
			return err
		}
		kept, m.folds = append(kept, g), append(m.folds, b.Bytes())
	}
	m.Details = kept
	if size := leastSize(m.Main); size >= limit {
		m.Main.Lines = m.Main.Lines[:len(m.Main.Lines)*limit/size]
	}
	m.trimNotes()
	return nil
}

// leastSize is what a table takes at least: every line is as wide as the header.
func leastSize(g table.Grid) int {
	line := len("|\n")
	for _, h := range g.Columns {
		line += len("|  ") + len([]rune(h.Name))
	}
	return len(g.Lines) * line
}

// fitting is how many of n lines are left so that size comes below limit.
func fitting(n, limit, size int) int { return n * limit / size * 9 / 10 }

// trimNotes drops the footnotes that no table needs any more.
func (m *markdown) trimNotes() {
	n := notesOf(m.Main)
	for _, g := range slices.Concat(m.first, m.Details) {
		n = max(n, notesOf(g))
	}
	m.Notes = m.Notes[:n]
}

// notesOf is the greatest footnote of a grid. Footnotes count up in the order of
// their appearance, so the first lines need the first footnotes.
func notesOf(g table.Grid) int {
	n := 0
	for _, l := range g.Lines {
		for _, c := range l {
			for _, m := range c.Marks {
				n = max(n, m)
			}
		}
	}
	return n
}

// leftOut is what the reader does not see, empty when that is nothing.
func (m *markdown) leftOut() string {
	cuts := slices.Clone(m.cuts)
	if len(m.Main.Lines) < m.all {
		cuts = append([]string{fmt.Sprintf("all but the first %d of the %d cells", len(m.Main.Lines), m.all)}, cuts...)
	}
	if len(cuts) == 0 {
		return ""
	}
	return "Left out to stay below the size that a comment may have: " + strings.Join(cuts, "; ") + ". It is in the files of the run-set."
}

func (m *markdown) render() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s\n\n%s\n", mdText(m.Title), mdText(strings.Join(m.Caption, " · ")))
	if m.folded {
		for _, g := range m.first {
			fmt.Fprintf(&b, "\n**%s**\n\n", mdText(g.Title))
			if err := mdGrid(&b, g); err != nil {
				return nil, err
			}
		}
		mdList(&b, m.remarks())
		if len(m.Main.Lines)+len(m.Notes) > 0 {
			m.Main.Title = "Every cell"
			if err := mdFolded(&b, m.Main, m.notes()); err != nil {
				return nil, err
			}
		}
	} else {
		b.WriteByte('\n')
		if err := mdGrid(&b, m.Main); err != nil {
			return nil, err
		}
		mdList(&b, append(m.notes(), m.remarks()...))
	}
	for _, text := range m.folds {
		b.Write(text)
	}
	// A tool that updates its comment in place finds it by this.
	fmt.Fprintf(&b, "\n<!-- specsweep plan=%s -->\n", url.PathEscape(table.Clean(m.plan, 100)))
	return b.Bytes(), nil
}

// notes is the footnotes of the main table.
func (m *markdown) notes() []string {
	var list []string
	for i, note := range m.Notes {
		list = append(list, table.Superscript(i+1)+" "+mdText(note))
	}
	return list
}

// remarks is how to read the tables, and what they lack.
func (m *markdown) remarks() []string {
	var list []string
	if m.HasBest() {
		list = append(list, "**bold**: "+mdText(m.BestText()))
	}
	for _, r := range m.Remarks {
		list = append(list, mdText(r))
	}
	if cut := m.leftOut(); cut != "" {
		list = append(list, "**"+mdText(cut)+"**")
	}
	return list
}

// mdFolded prints a table that shows when one asks for it.
func mdFolded(b *bytes.Buffer, g table.Grid, notes []string) error {
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n", mdText(g.Title))
	if err := mdGrid(b, g); err != nil {
		return err
	}
	mdList(b, notes)
	b.WriteString("\n</details>\n")
	return nil
}

func mdList(b *bytes.Buffer, list []string) {
	if len(list) > 0 {
		fmt.Fprintf(b, "\n- %s\n", strings.Join(list, "\n- "))
	}
}
