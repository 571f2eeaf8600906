package report

import (
	"fmt"
	"io"

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
	text, err := newMarkdown(s).fit(maxMarkdown)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
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
