package report

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/specsweep/specsweep/report/table"
)

// maxMarkdown is the size that a report stays below, in bytes: GitHub takes
// 65,536 characters in a comment, and people write something above the table.
const maxMarkdown = 60_000

// markdownFormat is a table to paste into a pull request.
func markdownFormat() Format {
	return Format{Name: "markdown", Ext: ".md", Write: writeMarkdown}
}

func writeMarkdown(w io.Writer, s Set) error {
	text, err := fitMarkdown(s, maxMarkdown)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// fitMarkdown leaves out details, the longest first, and then lines of the main
// table, until the report is small enough, and says what it has left out.
func fitMarkdown(s Set, limit int) ([]byte, error) {
	t := s.table()
	plan := s.Manifest.Plan
	if plan == "" && len(s.Rows) > 0 {
		plan = s.Rows[0].Plan
	}
	t.Details = append(t.Details, environment(s)...)
	all := len(t.Main.Lines)
	cut := ""
	for {
		text, err := renderMarkdown(t, plan, cut)
		if err != nil || len(text) < limit {
			return text, err
		}
		switch {
		case len(t.Details) > 0:
			longest := 0
			for i, g := range t.Details {
				if len(g.Lines) > len(t.Details[longest].Lines) {
					longest = i
				}
			}
			t.Details = slices.Delete(t.Details, longest, longest+1)
			cut = "Left out to stay below the size that a comment may have: details. They are in the files of the run-set."
		case len(t.Main.Lines) > 0:
			n := len(t.Main.Lines) * limit / len(text) * 9 / 10
			t.Main.Lines = t.Main.Lines[:n]
			t.Notes = t.Notes[:notesOf(t.Main)]
			cut = fmt.Sprintf("Left out to stay below the size that a comment may have: details, and all but the first %d of %d lines. "+
				"They are in the files of the run-set.", n, all)
		case len(t.Remarks) > 0:
			t.Remarks = nil
		default:
			return text, nil // a few short lines; there is nothing left to cut
		}
	}
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

func renderMarkdown(t table.Table, plan, cut string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s\n\n%s\n\n", mdText(t.Title), mdText(strings.Join(t.Caption, " · ")))
	if err := mdGrid(&b, t.Main); err != nil {
		return nil, err
	}
	var list []string
	for i, note := range t.Notes {
		list = append(list, table.Superscript(i+1)+" "+mdText(note))
	}
	if t.Main.HasBest() {
		list = append(list, "**bold**: the best of the cells that differ in their server only")
	}
	for _, r := range t.Remarks {
		list = append(list, mdText(r))
	}
	if cut != "" {
		list = append(list, "**"+cut+"**")
	}
	if len(list) > 0 {
		fmt.Fprintf(&b, "\n- %s\n", strings.Join(list, "\n- "))
	}
	for _, g := range t.Details {
		if len(g.Lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n", mdText(g.Title))
		if err := mdGrid(&b, g); err != nil {
			return nil, err
		}
		b.WriteString("\n</details>\n")
	}
	// A tool that updates its comment in place finds it by this.
	fmt.Fprintf(&b, "\n<!-- specsweep plan=%s -->\n", url.PathEscape(table.Clean(plan, 100)))
	return b.Bytes(), nil
}

// mdGrid prints a table. tablewriter escapes nothing and would rewrite headers,
// wrap cells and centre columns; it is told not to and gets finished text.
func mdGrid(w io.Writer, g table.Grid) error {
	align := make(tw.Alignment, len(g.Columns))
	headers := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		align[i] = tw.AlignLeft
		if c.Right {
			align[i] = tw.AlignRight
		}
		headers[i] = mdText(c.Name)
	}
	t := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewMarkdown()),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(align),
	)
	t.Header(headers)
	for _, l := range g.Lines {
		cells := make([]string, len(l)) // tablewriter keeps it
		for i, c := range l {
			cells[i] = mdCell(c)
		}
		if err := t.Append(cells); err != nil {
			return fmt.Errorf("laying out the table: %w", err)
		}
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("laying out the table: %w", err)
	}
	return nil
}

func mdCell(c table.Cell) string {
	text := mdText(c.Text)
	if c.Best {
		text = "**" + text + "**"
	}
	for _, m := range c.Marks {
		text += " " + table.Superscript(m)
	}
	return text
}
