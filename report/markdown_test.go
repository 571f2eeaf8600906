package report

import (
	"bytes"
	"encoding/json"
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

var (
	cellStart      = regexp.MustCompile(`<t[hd][^>]*>`)
	commentPattern = regexp.MustCompile(`<!--.*?-->`)
)

// unmarked takes our own bold and what keeps names from notifying somebody off a cell.
func unmarked(cell string) string {
	if strings.Contains(cell, "<!--") {
		cell = commentPattern.ReplaceAllString(cell, "")
	}
	return strings.NewReplacer("<strong>", "", "</strong>", "", "<b>", "", "</b>", "").Replace(cell)
}

// gfmTables reads the tables of a markdown text as GitHub does: tables, rows,
// cells as a reader sees them. Any markup in a cell but our own bold is left in.
func gfmTables(t *testing.T, text string) [][][]string {
	t.Helper()
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	var tables [][][]string
	for _, part := range strings.Split(b.String(), "<table>")[1:] {
		part, _, _ = strings.Cut(part, "</table>")
		var rows [][]string
		for _, tr := range strings.Split(part, "<tr>")[1:] {
			tr, _, _ = strings.Cut(tr, "</tr>")
			var cells []string
			for _, td := range cellStart.Split(tr, -1)[1:] {
				td, _, _ = strings.Cut(td, "</t")
				cells = append(cells, html.UnescapeString(unmarked(td)))
			}
			rows = append(rows, cells)
		}
		tables = append(tables, rows)
	}
	return tables
}

// pipes counts the | of a line that no backslash escapes.
func pipes(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			n++
		}
	}
	return n
}

// checkTables looks whether every line of every table has as many columns as its
// header, by the bytes and by a parser, and gives the tables as that has read them.
func checkTables(t *testing.T, text string) [][][]string {
	t.Helper()
	want := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			want = 0
			continue
		}
		if got := pipes(line); want == 0 {
			want = got
		} else if got != want {
			t.Errorf("%d unescaped pipes, want %d: %s", got, want, line)
		}
	}
	tables := gfmTables(t, text)
	for _, rows := range tables {
		for _, cells := range rows {
			if len(cells) != len(rows[0]) {
				t.Errorf("%d cells, want %d: %q", len(cells), len(rows[0]), cells)
			}
		}
	}
	return tables
}

func TestMarkdownTables(t *testing.T) {
	for name, set := range sets() {
		t.Run(name, func(t *testing.T) {
			text := render(t, "markdown", set)
			main := checkTables(t, text)[0]
			cells := map[string]bool{}
			for _, r := range set.Rows {
				cells[r.CellID] = true
			}
			if len(main) != len(cells)+1 {
				t.Errorf("%d lines in the main table, want a header and %d", len(main), len(cells))
			}
			if !strings.HasPrefix(text, "### ") || !strings.HasSuffix(text, " -->\n") {
				t.Errorf("no headline first or no tag last")
			}
		})
	}
}

// TestCaseR01 has names and errors with what breaks markdown tables.
func TestCaseR01(t *testing.T) {
	data, err := os.ReadFile("testdata/R01.json")
	if err != nil {
		t.Fatal(err)
	}
	var in []struct{ Dataset, Model, Error string }
	if err := json.Unmarshal(data, &in); err != nil {
		t.Fatal(err)
	}
	var rows []result.Row
	for i, x := range in {
		rows = append(rows, result.Row{SchemaVersion: 1, RunIndex: i, Server: "s", Dataset: x.Dataset, Model: x.Model, Error: x.Error})
	}
	text := render(t, "markdown", NewSet(rows, result.Manifest{}))
	main := checkTables(t, text)[0]
	if len(main) != len(rows)+1 {
		t.Fatalf("%d lines, want the header and %d", len(main), len(rows))
	}
	for i, r := range rows {
		want := []string{table.Clean(r.Model, 200), table.Clean(r.Dataset, 200)}
		if diff := cmp.Diff(want, main[i+1][1:3]); diff != "" {
			t.Errorf("row %d: model and dataset as shown (-want +got)\n%s", i, diff)
		}
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(line)); n > 400 && !strings.HasPrefix(line, "|") {
			t.Errorf("a line of %d characters: errors are not shortened", n)
		}
	}
}

// TestCaseR02 wants headers as they are spelled in CSV, in a fixed order.
func TestCaseR02(t *testing.T) {
	data, err := os.ReadFile("testdata/R02.txt")
	if err != nil {
		t.Fatal(err)
	}
	csvHeader, _, _ := strings.Cut(render(t, "csv", Set{}), "\n")
	inCSV := strings.Split(csvHeader, ",")
	var first []string
	for name, set := range map[string]Set{"full": sets()["one_row"], "no values": sets()["nil_values"], "no rows": sets()["zero_rows"]} {
		text := render(t, "markdown", set)
		header := gfmTables(t, text)[0][0]
		source, _, _ := strings.Cut(text[strings.Index(text, "|"):], "\n")
		for _, want := range strings.Fields(string(data)) {
			if !strings.Contains(source, " "+want+" ") {
				t.Errorf("%s: no header %s in %s", name, want, source)
			}
		}
		for _, h := range header {
			if h != "n" && !strings.Contains(","+csvHeader+",", ","+h+",") {
				t.Errorf("%s: header %s is no column of the CSV (%v)", name, h, inCSV)
			}
		}
		if first == nil {
			first = header
		}
		if diff := cmp.Diff(first, header); diff != "" {
			t.Errorf("%s: other columns\n%s", name, diff)
		}
		rule := strings.Split(text[strings.Index(text, "|"):], "\n")[1]
		for i, c := range strings.Split(strings.Trim(rule, "|"), "|") {
			if right := strings.HasSuffix(c, "-:"); right != (i >= 2 && header[i] != "accept_source") {
				t.Errorf("%s: column %s right-aligned is %v", name, header[i], right)
			}
		}
	}
}

// TestCaseR04 reports a CSV in which a speedup was not measured.
func TestCaseR04(t *testing.T) {
	for file, want := range map[string][]string{"results.csv": {"1.500", "n/a", "0.000"}, "old.csv": {"n/a"}} {
		f, err := os.Open("testdata/R04/" + file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rows, err := result.ReadCSV(f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		lines := gfmTables(t, render(t, "markdown", NewSet(rows, result.Manifest{})))[0]
		for i, h := range lines[0] {
			for _, l := range lines[1:] {
				if h == "speedup" {
					got = append(got, l[i])
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: speedup (-want +got)\n%s", file, diff)
		}
		if file == "results.csv" {
			if a := table.AggregateOf([]*result.Row{&rows[0], &rows[1], &rows[2]}); a.Speedup == nil || *a.Speedup != 0.75 {
				t.Errorf("mean of the speedups %v, want 0.75", a.Speedup)
			}
		}
	}
}

// TestMarkdownFits makes sweeps of 200 cells, with ever longer errors.
func TestMarkdownFits(t *testing.T) {
	for _, tt := range []struct {
		name      string
		cells     int
		note      int // length of each footnote
		positions bool
		whole     bool // every line is there
		details   bool // and every detail
	}{
		{"200 cells", 200, 0, true, true, true},
		{"200 cells with a footnote each", 200, 90, false, true, true},
		{"the longest detail goes first", 200, 90, true, true, false},
		{"800 cells with a footnote each", 800, 150, false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rows []result.Row
			for i := range tt.cells {
				r := run("s", "dataset-"+strings.Repeat("x", i%7), i+1, 0, 10)
				if !tt.positions {
					r.PerPosition = nil
				}
				if tt.note > 0 {
					r = warn(r, "odd", strings.Repeat("ab ", tt.note/3)+string(rune('A'+i%26))+strings.Repeat("z", i/26), "speedup")
				}
				rows = append(rows, r)
			}
			text := render(t, "markdown", NewSet(numbered(rows...), result.Manifest{Plan: "demo"}))
			if len(text) >= maxMarkdown {
				t.Errorf("%d bytes, want less than %d", len(text), maxMarkdown)
			}
			if len(text) < maxMarkdown/3 {
				t.Errorf("%d bytes: more was cut than needed", len(text))
			}
			lines := cellLines(checkTables(t, text))
			if (lines == tt.cells) != tt.whole {
				t.Errorf("%d of %d lines shown", lines, tt.cells)
			}
			if cut := strings.Contains(text, "Left out"); cut == tt.details {
				t.Errorf("the text says that something was left out: %v", cut)
			}
			if tt.whole && !tt.details && (strings.Contains(text, "<summary>Acceptance by draft position") || !strings.Contains(text, "<summary>Servers")) {
				t.Error("the longest detail, and no other, should be left out")
			}
		})
	}
}

// cellLines is how many lines the table of the cells has; a long one is not the first.
func cellLines(tables [][][]string) int {
	for _, rows := range tables {
		if rows[0][0] == "server" && slices.Contains(rows[0], "accept_source") && !slices.Contains(rows[0], "repeat") {
			return len(rows) - 1
		}
	}
	return 0
}

// FuzzMarkdownCell puts any text in a table and reads it as GitHub would: one
// cell, that text, no markup.
func FuzzMarkdownCell(f *testing.F) {
	for _, s := range []string{"a|b", "`p|q`", "\\|", "<b>x</b>", "&lt;", "*a* _b_ __c__ ~~d~~", "[x](y) ![z](w)", "@a #1 $x$", "http://x/y", "\\`|`", "a\\", "日本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := table.Clean(s, 200)
		if text == "" || strings.ContainsRune(text, '\ufffd') {
			return
		}
		var b bytes.Buffer
		g := table.Grid{Columns: []table.Header{{Name: "a"}, {Name: "b", Right: true}}, Lines: [][]table.Cell{{{Text: text}, {Text: "1"}}}}
		if err := mdGrid(&b, g); err != nil {
			t.Fatal(err)
		}
		got := gfmTables(t, b.String())
		want := [][][]string{{{"a", "b"}, {text, "1"}}}
		if diff := cmp.Diff(want, unlinked(got)); diff != "" {
			t.Errorf("(-want +got)\n%s\n%s", diff, b.String())
		}
	})
}

var linkPattern = regexp.MustCompile(`</?a\b[^>]*>`)

// unlinked takes off the links that GitHub makes of plain addresses, which show
// the text as it is.
func unlinked(tables [][][]string) [][][]string {
	for _, rows := range tables {
		for _, cells := range rows {
			for i := range cells {
				cells[i] = linkPattern.ReplaceAllString(cells[i], "")
			}
		}
	}
	return tables
}
