package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/specsweep/specsweep/report/table"
)

// terminalFormat is tables for a person at a terminal.
func terminalFormat() Format {
	return Format{Name: "terminal", Ext: ".txt", Write: writeTerminal}
}

func writeTerminal(w io.Writer, s Set) error {
	return printTable(w, forTerminal(s.table()), s.Terminal)
}

// Limits of what is printed to a terminal, in lines.
const (
	maxTerminalMain   = 60 // of the cells; with more the summary stands for them
	maxTerminalDetail = 10 // of a detail, and footnotes, when the cells are left out
)

// forTerminal is the table without the cells when those are too many to be read on a
// terminal and there is a summary, and then with short details.
func forTerminal(t table.Table) table.Table {
	at := slices.IndexFunc(t.Details, func(g table.Grid) bool { return g.Name == table.GridSummary })
	n := len(t.Main.Lines)
	if n <= maxTerminalMain || at < 0 || len(t.Details[at].Lines) >= n {
		return t
	}
	t.Remarks = append(slices.Clone(t.Remarks),
		fmt.Sprintf("the %d cells are too many for a terminal: --format markdown, csv or html has them, and what is cut below", n))
	t.Details = slices.Clone(t.Details)
	t.Main, t.Details = t.Details[at], slices.Delete(t.Details, at, at+1)
	t.Remarks = append([]string{t.Main.Title}, t.Remarks...)
	t.Main.Title = ""
	marks := notesOf(t.Main)
	for i, g := range t.Details {
		if more := len(g.Lines) - maxTerminalDetail; more > 0 && g.Name != table.GridBest {
			g.Lines = g.Lines[:maxTerminalDetail]
			g.Title += fmt.Sprintf(" (the first %d of %d lines)", maxTerminalDetail, maxTerminalDetail+more)
			t.Details[i] = g
		}
		if g.Brief {
			marks = max(marks, notesOf(g))
		}
	}
	t.Notes = t.Notes[:min(marks, len(t.Notes))]
	return t
}

// printTable prints a table and the details that are worth their place.
func printTable(w io.Writer, t table.Table, term Terminal) error {
	p := printer{Terminal: term}
	fmt.Fprintf(&p.b, "%s\n%s\n\n", p.bold(t.Title), strings.Join(t.Caption, " · "))
	if err := p.grid(t.Main); err != nil {
		return err
	}
	for i, note := range t.Notes {
		fmt.Fprintf(&p.b, "%s %s\n", table.Superscript(i+1), note)
	}
	if t.HasBest() {
		mark := "*"
		if p.Color {
			mark = "bold:"
		}
		fmt.Fprintln(&p.b, mark, t.BestText())
	}
	for _, r := range t.Remarks {
		fmt.Fprintln(&p.b, r)
	}
	for _, g := range t.Details {
		if !g.Brief {
			continue
		}
		fmt.Fprintf(&p.b, "\n%s\n", p.bold(g.Title))
		if err := p.grid(g); err != nil {
			return err
		}
	}
	_, err := w.Write(p.b.Bytes())
	return err
}

// printer collects what goes to the terminal.
type printer struct {
	Terminal
	b bytes.Buffer
}

const (
	ansiBold  = "\x1b[1m"
	ansiReset = "\x1b[0m"
)

func (p *printer) bold(s string) string {
	if !p.Color {
		return s
	}
	return ansiBold + s + ansiReset
}

func (p *printer) cell(c table.Cell) string {
	text := c.Text
	switch {
	case c.Best && p.Color:
		text = p.bold(text)
	case c.Best:
		text += "*"
	}
	for _, m := range c.Marks {
		text += " " + table.Superscript(m)
	}
	return text
}

// grid lays a table out. Where it would be wider than the terminal the headers
// are broken at their underscores, as far as that helps; the names stay whole in
// every other format.
func (p *printer) grid(g table.Grid) error {
	rows := make([][]string, len(g.Lines))
	widths := make([]int, len(g.Columns))
	for i, l := range g.Lines {
		rows[i] = make([]string, len(l))
		for j, c := range l {
			rows[i][j] = p.cell(c)
			widths[j] = max(widths[j], twwidth.Width(rows[i][j]))
		}
	}
	headers := make([]string, len(g.Columns))
	total := 0
	for i, c := range g.Columns {
		headers[i] = c.Name
		total += max(widths[i], twwidth.Width(c.Name)) + gap
	}
	if p.Width > 0 && total > p.Width {
		for i := range headers {
			headers[i] = breakHeader(headers[i], max(widths[i], minHeader))
		}
	}
	align := make(tw.Alignment, len(g.Columns))
	for i, c := range g.Columns {
		align[i] = tw.AlignLeft
		if c.Right {
			align[i] = tw.AlignRight
		}
	}
	var b bytes.Buffer
	t := tablewriter.NewTable(&b,
		tablewriter.WithRendition(tw.Rendition{
			Borders: tw.BorderNone,
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off},
				Lines:      tw.Lines{ShowHeaderLine: tw.On},
			},
		}),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithPadding(tw.Padding{Left: "", Right: strings.Repeat(" ", gap), Overwrite: true}),
		tablewriter.WithAlignment(align),
	)
	t.Header(headers)
	for _, r := range rows {
		if err := t.Append(r); err != nil {
			return fmt.Errorf("laying out the table: %w", err)
		}
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("laying out the table: %w", err)
	}
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(&p.b, strings.TrimRight(line, " \n"))
	}
	return nil
}

const (
	gap       = 2  // blanks between columns
	minHeader = 10 // a header is not broken into less
)

// breakHeader breaks a name after underscores and blanks into lines of at most
// width, where it can.
func breakHeader(name string, width int) string {
	var lines []string
	line := ""
	for _, part := range strings.SplitAfter(strings.ReplaceAll(name, " ", " \x00"), "_") {
		for _, word := range strings.Split(part, "\x00") {
			if line != "" && twwidth.Width(line+strings.TrimSpace(word)) > width {
				lines = append(lines, strings.TrimSpace(line))
				line = ""
			}
			line += word
		}
	}
	return strings.Join(append(lines, line), "\n")
}
