package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// varying is the columns that identify a cell, in order: server, dataset and
// concurrency always, the others when they differ between rows or a warning
// speaks of them.
func varying(rows []*result.Row) []Column {
	var cols []Column
	for _, name := range []string{"server", "engine", "model", "dataset", "concurrency", "request_rate", "max_new_tokens", "temperature", "num_prompts"} {
		c := column(name)
		switch name {
		case "server", "dataset", "concurrency":
			cols = append(cols, c)
		case "num_prompts":
			if differ(column("prompts_asked"), rows) || differ(c, rows) || marked(name, rows) {
				cols = append(cols, c)
			}
		default:
			if differ(c, rows) || marked(name, rows) {
				cols = append(cols, c)
			}
		}
	}
	return cols
}

// differ tells whether the column has more than one value; n/a is none.
func differ(c Column, rows []*result.Row) bool {
	seen := map[string]bool{}
	for _, r := range rows {
		if s := c.cell(r); s != NotAvailable {
			seen[s] = true
		}
	}
	return len(seen) > 1
}

func marked(column string, rows []*result.Row) bool {
	return slices.ContainsFunc(rows, func(r *result.Row) bool { return r.Warnings.On(column) })
}

// cell is the column of one row as text.
func (c Column) cell(r *result.Row) string {
	if c.Text == nil {
		return format(c.Value(r), c.Digits)
	}
	if s := Clean(c.Text(r), maxText); s != "" {
		return s
	}
	return NotAvailable
}

func (c Column) header() Header {
	return Header{c.Name, c.Text == nil || c.Name == "temperature" || c.Name == "request_rate"}
}

// measured is the columns of the main table that hold results.
func measured(rows []*result.Row) []Column {
	cols := []Column{
		column("baseline_throughput_tok_s"), column("output_throughput_tok_s"), column("speedup"),
		column("accept_length"), column("acceptance_rate"), column("accept_source"),
	}
	failed := column("failed")
	if sum := total(failed, rows); sum != nil && *sum > 0 {
		cols = append(cols, failed)
	}
	return cols
}

// mainGrid is one line a cell, with its footnotes.
func mainGrid(ls []line, rows []*result.Row, axes []Column, notes *footnotes) Grid {
	cols := append(slices.Clone(axes), measured(rows)...)
	var g Grid
	for _, c := range cols {
		g.Columns = append(g.Columns, c.header())
	}
	g.Columns = append(g.Columns, Header{"n", true})
	for _, l := range ls {
		cells := make([]Cell, 0, len(cols)+1)
		for _, c := range cols {
			cells = append(cells, l.cell(c, notes))
		}
		n := Cell{Text: fmt.Sprint(len(l.ok))}
		if failed := len(l.rows) - len(l.ok); failed > 0 && len(l.ok) > 0 {
			n.Marks = append(n.Marks, notes.mark(fmt.Sprintf("%d of %d repeats failed: %s", failed, len(l.rows), l.errors())))
		}
		g.Lines = append(g.Lines, append(cells, n))
	}
	for i, c := range cols {
		if c.Name == "output_throughput_tok_s" || c.Name == "speedup" {
			markBest(g, i, c, ls)
		}
	}
	return g
}

// cell is the line's cell of a column with its marks.
func (l line) cell(c Column, notes *footnotes) Cell {
	cell := Cell{Text: l.text(c)}
	add := func(text string) {
		if n := notes.mark(text); !slices.Contains(cell.Marks, n) {
			cell.Marks = append(cell.Marks, n)
		}
	}
	if c.Name == "server" {
		for _, text := range l.notes("") {
			add(text)
		}
	}
	for _, text := range l.notes(c.Name) {
		add(text)
	}
	if c.Name == "output_throughput_tok_s" && len(l.ok) == 0 {
		add(l.errors())
	}
	if c.Combine != nil && len(l.ok) > 0 {
		if n := len(c.values(l.ok)); n > 0 && n < len(l.ok) {
			add(fmt.Sprintf("from %d of %d repeats", n, len(l.ok)))
		}
	}
	slices.Sort(cell.Marks)
	return cell
}

// text is the line's value of a column in words or digits.
func (l line) text(c Column) string {
	rows := l.counted(c)
	if c.Text != nil {
		var texts []string
		for _, r := range rows {
			if s := c.cell(r); !slices.Contains(texts, s) {
				texts = append(texts, s)
			}
		}
		return strings.Join(texts, ", ")
	}
	if iv := l.interval(c); c.Spread && iv != nil {
		return ratioText(iv, c.Digits, l.least)
	}
	low, high, ok := stat.Range(c.values(rows))
	spread := formatNumber(low, c.Digits) + "–" + formatNumber(high, c.Digits)
	if c.Combine == nil {
		if ok && low != high {
			return spread
		}
		return format(l.value(c), c.Digits)
	}
	text := format(l.value(c), c.Digits)
	if c.Spread && text != NotAvailable && len(c.values(rows)) > 1 {
		text += " (" + spread + ")"
	}
	return text
}

// markBest marks the highest value of each block where it is shown to be the
// highest. A speedup over another engine's baseline does not compare, and acceptance
// is never marked; see bestOf.
func markBest(g Grid, at int, c Column, ls []line) {
	for _, members := range blocks(ls, c) {
		if i := bestOf(ls, members, c); i >= 0 {
			g.Lines[i][at].Best = true
		}
	}
}
