package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/specsweep/specsweep/report/compare"
	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/report/table"
)

// maxNamed is how many cells or misses a remark names one by one.
const maxNamed = 5

// comparedBest is what a marked verdict means.
const comparedBest = "better or worse: the 95 % interval of the change does not hold 0, and the change is at least min_effect"

// comparedTable is a comparison as data: the verdicts over the datasets first, then
// every cell.
func comparedTable(c Compared) table.Table {
	var notes comparedNotes
	t := table.Table{Title: comparedTitle(c), Caption: comparedCaption(c), Main: comparedOverall(c, &notes), Best: comparedBest}
	cells := comparedCells(c, &notes)
	if len(t.Main.Lines) == 0 {
		cells.Title, t.Main = "", cells
	} else if len(cells.Lines) > 0 {
		t.Details = append(t.Details, cells)
	}
	t.Notes, t.Remarks = notes.texts, comparedRemarks(c)
	return t
}

// comparedNotes collects footnotes.
type comparedNotes struct{ texts []string }

func (n *comparedNotes) mark(text string) []int {
	if text == "" {
		return nil
	}
	text = table.Clean(text, 300)
	if i := slices.Index(n.texts, text); i >= 0 {
		return []int{i + 1}
	}
	n.texts = append(n.texts, text)
	return []int{len(n.texts)}
}

// comparedTitle names the sides and the clearest thing that there is to say.
func comparedTitle(c Compared) string {
	title := fmt.Sprintf("%s against %s", table.Clean(c.New, 80), table.Clean(c.Old, 80))
	if len(c.Misses) > 0 {
		return title + ": " + counted(len(c.Misses), "limit") + " missed"
	}
	var said []string
	for _, metric := range []string{"speedup", "accept_length"} {
		counts := map[compare.Verdict]int{}
		for _, o := range c.Overall {
			if o.Metric == metric {
				counts[o.Verdict]++
			}
		}
		if text := verdicts(counts); text != "" {
			said = append(said, metric+" "+text)
		}
	}
	if len(said) == 0 {
		return title + ": nothing to compare"
	}
	return title + ": " + strings.Join(said, ", ")
}

// verdicts is counts in words; one kind alone needs no number.
func verdicts(counts map[compare.Verdict]int) string {
	words := map[compare.Verdict]string{
		compare.Better: "better", compare.Worse: "worse", compare.Same: "not shown to differ (~)", compare.Unknown: "without a verdict",
	}
	var parts []string
	for _, v := range []compare.Verdict{compare.Better, compare.Worse, compare.Same, compare.Unknown} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%s at %d", words[v], counts[v]))
			if len(counts) == 1 {
				return words[v]
			}
		}
	}
	return strings.Join(parts, ", ")
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func comparedCaption(c Compared) []string {
	measured := c.Measured()
	caption := []string{counted(measured, "cell") + " with numbers on both sides"}
	if n := len(c.Cells) - measured; n > 0 {
		caption = append(caption, fmt.Sprintf("%d without numbers on one side", n))
	}
	for _, side := range []struct {
		name  string
		cells []compare.Identity
	}{{c.Old, c.OnlyOld}, {c.New, c.OnlyNew}} {
		if len(side.cells) > 0 {
			caption = append(caption, fmt.Sprintf("%d only in %s", len(side.cells), table.Clean(side.name, 80)))
		}
	}
	return append(caption, fmt.Sprintf("min_effect %s", percent(c.MinEffect, false)))
}

// axis is a column of identity that is shown where it varies.
type axis struct {
	name  string
	right bool
	of    func(compare.Identity) string
}

// comparedAxes is the columns that tell cells apart.
func comparedAxes(c Compared) []axis {
	all := []axis{
		{"server", false, func(i compare.Identity) string { return i.Server }},
		{"dataset", false, func(i compare.Identity) string { return i.Dataset }},
		{"concurrency", true, func(i compare.Identity) string { return strconv.Itoa(i.Concurrency) }},
		{"max_new_tokens", true, func(i compare.Identity) string { return strconv.Itoa(i.MaxNewTokens) }},
		{"temperature", true, func(i compare.Identity) string { return strconv.FormatFloat(i.Temperature, 'g', -1, 64) }},
		{"request_rate", true, func(i compare.Identity) string {
			if i.RequestRate == nil {
				return "inf"
			}
			return strconv.FormatFloat(*i.RequestRate, 'g', -1, 64)
		}},
	}
	return slices.DeleteFunc(all, func(a axis) bool {
		switch a.name {
		case "server":
			return c.ByServer
		case "dataset", "concurrency":
			return false
		}
		for i := range c.Cells {
			if a.of(c.Cells[i].Identity) != a.of(c.Cells[0].Identity) {
				return false
			}
		}
		return true
	})
}

func headers(axes []axis, more ...table.Header) []table.Header {
	var out []table.Header
	for _, a := range axes {
		out = append(out, table.Header{Name: a.name, Right: a.right})
	}
	return append(out, more...)
}

func identity(axes []axis, i compare.Identity) []table.Cell {
	var out []table.Cell
	for _, a := range axes {
		out = append(out, table.Cell{Text: table.Clean(a.of(i), 80)})
	}
	return out
}

// comparedOverall is the verdicts over the datasets, of the points that have more than
// one: of the others it would repeat the cell.
func comparedOverall(c Compared, notes *comparedNotes) table.Grid {
	axes := slices.DeleteFunc(comparedAxes(c), func(a axis) bool { return a.name == "dataset" })
	g := table.Grid{Columns: headers(axes, table.Header{Name: "metric"}, table.Header{Name: "change", Right: true},
		table.Header{Name: "95 % interval", Right: true}, table.Header{Name: "verdict"}, table.Header{Name: "datasets"})}
	for _, o := range c.Overall {
		if !headlineMetric(o.Metric) || len(o.Datasets)+o.LeftOut < 2 {
			continue
		}
		l := identity(axes, compare.Identity{
			Server: o.Server, NewServer: o.NewServer, Concurrency: o.Concurrency, MaxNewTokens: o.MaxNewTokens,
			Temperature: o.Temperature, RequestRate: o.RequestRate,
		})
		change, interval := table.NotAvailable, table.NotAvailable
		if o.Ratio != nil {
			rel := o.Ratio.Estimate - 1
			change, interval = changeText(o.Metric, o.Delta, &rel), ratioInterval(o.Ratio)
		}
		names := make([]string, len(o.Datasets))
		for i, d := range o.Datasets {
			names[i] = table.Clean(d, 40)
		}
		if len(names) > maxNamed {
			names = append(names[:maxNamed], fmt.Sprintf("and %d more", len(o.Datasets)-maxNamed))
		}
		g.Lines = append(g.Lines, append(l, table.Cell{Text: o.Metric}, table.Cell{Text: change}, table.Cell{Text: interval},
			table.Cell{Text: string(o.Verdict), Best: o.Verdict == compare.Better || o.Verdict == compare.Worse, Marks: notes.mark(o.Reason)},
			table.Cell{Text: strings.Join(names, ", ")}))
	}
	return g
}

// headlineMetric tells the metrics that tables show; CSV and JSON have all.
func headlineMetric(name string) bool {
	switch name {
	case "speedup", "accept_length", "output_throughput_tok_s", "tpot_speedup", "goodput_req_s", "ttft_mean_ms", "tpot_mean_ms", "e2e_latency_mean_ms":
		return true
	}
	return false
}

func comparedCells(c Compared, notes *comparedNotes) table.Grid {
	axes := comparedAxes(c)
	g := table.Grid{Title: "Every cell", Brief: true, Columns: headers(axes, table.Header{Name: "metric"},
		table.Header{Name: "old", Right: true}, table.Header{Name: "new", Right: true}, table.Header{Name: "change", Right: true},
		table.Header{Name: "95 % interval", Right: true}, table.Header{Name: "verdict"}, table.Header{Name: "n"})}
	for i := range c.Cells {
		cell := &c.Cells[i]
		for j := range cell.Metrics {
			m := &cell.Metrics[j]
			if !headlineMetric(m.Name) {
				continue
			}
			why := m.Reason
			if why == "" && len(m.Notes) > 0 {
				why = strings.Join(m.Notes, "; ")
			}
			change, interval := comparedChange(m)
			g.Lines = append(g.Lines, append(identity(axes, cell.Identity), table.Cell{Text: m.Name},
				table.Cell{Text: metricText(m.Name, m.Old)}, table.Cell{Text: metricText(m.Name, m.New)},
				table.Cell{Text: change}, table.Cell{Text: interval},
				table.Cell{Text: string(m.Verdict), Best: m.Verdict == compare.Better || m.Verdict == compare.Worse, Marks: notes.mark(why)},
				table.Cell{Text: fmt.Sprintf("%d/%d", m.OldN, m.NewN)}))
		}
	}
	return g
}

// comparedChange is the change and its interval, which is absolute where the prompt is
// the unit, else relative.
func comparedChange(m *compare.Metric) (change, interval string) {
	change, interval = changeText(m.Name, m.Delta, m.Rel), table.NotAvailable
	switch i := m.Difference; {
	case i != nil && i.Range && i.Low == i.High: // of too few prompts nothing is known
	case i != nil:
		interval = fmt.Sprintf("%+.3f to %+.3f", i.Low, i.High)
	case m.Ratio != nil:
		interval = ratioInterval(m.Ratio)
	}
	return change, interval
}

// changeText is a change in per cent and, of accept_length, in tokens before it.
func changeText(metric string, delta, rel *float64) string {
	switch {
	case metric == "accept_length" && delta != nil && rel != nil:
		return fmt.Sprintf("%+.3f (%s)", *delta, percent(*rel, true))
	case metric == "accept_length" && delta != nil:
		return fmt.Sprintf("%+.3f", *delta)
	case rel != nil:
		return percent(*rel, true)
	}
	return table.NotAvailable
}

// ratioInterval is what is known of a ratio's error. Two values have a range, and one
// has nothing.
func ratioInterval(i *stat.Interval) string {
	switch {
	case i.N <= 1, i.Range && i.Low == i.High:
		return table.NotAvailable
	case i.Range:
		return percent(i.Low-1, true) + " to " + percent(i.High-1, true) + " (range)"
	}
	return percent(i.Low-1, true) + " to " + percent(i.High-1, true)
}

func percent(v float64, sign bool) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "unbounded"
	}
	if sign {
		return fmt.Sprintf("%+.1f %%", 100*v)
	}
	return strconv.FormatFloat(100*v, 'g', 3, 64) + " %"
}

// metricText is a value with the decimals that its column has.
func metricText(name string, v *float64) string {
	if v == nil {
		return table.NotAvailable
	}
	for _, col := range table.Columns() {
		if col.Name == name {
			return strconv.FormatFloat(*v, 'f', col.Digits, 64)
		}
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}

// comparedRemarks is what failed, what was measured in another way, and how to read.
func comparedRemarks(c Compared) []string {
	var out []string
	for i, m := range c.Misses {
		if i == maxNamed*2 {
			out = append(out, fmt.Sprintf("and %d more limits missed, which --format json lists", len(c.Misses)-i))
			break
		}
		out = append(out, "MISSED "+table.Clean(m.String(), 300))
	}
	for _, d := range c.Differences {
		out = append(out, "measured differently: "+table.Clean(d, 300))
	}
	for _, side := range []struct {
		name  string
		cells []compare.Identity
	}{{c.Old, c.OnlyOld}, {c.New, c.OnlyNew}} {
		for i, cell := range side.cells {
			if i == maxNamed {
				out = append(out, fmt.Sprintf("and %d more cells only in %s", len(side.cells)-i, table.Clean(side.name, 80)))
				break
			}
			out = append(out, fmt.Sprintf("only in %s: %s", table.Clean(side.name, 80), table.Clean(cell.String(), 200)))
		}
	}
	for _, n := range c.Notes {
		out = append(out, table.Clean(n, 300))
	}
	return append(out, "~ not shown to differ, or by less than min_effect; n is the sample of each side: prompts for acceptance where the answers tell, else repeats")
}
