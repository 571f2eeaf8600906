package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/runner/result"
)

// bigPlan is servers × datasets × concurrencies × repeats, with every column that a
// server can have.
func bigPlan(servers, datasets, levels, repeats int) Set {
	var rows []result.Row
	for s := range servers {
		for d := range datasets {
			for c := range levels {
				for r := range repeats {
					row := run(fmt.Sprintf("ckpt-%d000", s+1), fmt.Sprintf("dataset-%d", d), 1<<c, r, 10+float64(s+c)+0.1*float64(r))
					row.Labels = map[string]string{"step": fmt.Sprint(1000 * (s + 1))}
					row.TTFTP50Ms, row.BaselineTTFTP50Ms, row.E2ELatencyP99Ms = ptr(40.0), ptr(30.0), ptr(900.0)
					if c == 0 {
						row = warn(row, "odd", fmt.Sprintf("something odd about @me | %d %d", s, d), "speedup")
					}
					rows = append(rows, row)
				}
			}
		}
	}
	return NewSet(numbered(rows...), result.Manifest{Plan: "big", Runs: len(rows), Status: result.StatusFinished})
}

// TestBigPlansFit renders plans of many runs and reads them as GitHub would.
func TestBigPlansFit(t *testing.T) {
	for _, tt := range []struct {
		name                               string
		servers, datasets, levels, repeats int
		summary                            int  // lines of the first table
		cut                                bool // the text says that something was left out
	}{
		{"10 runs: the cells come first", 2, 1, 5, 1, 10, false},
		{"30 lines are still shown", 2, 3, 5, 1, 30, false},
		{"200 runs", 2, 4, 5, 5, 2, false},
		{"1000 runs", 5, 5, 8, 5, 5, true},
		{"a server a run", 1000, 1, 1, 1, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := render(t, "markdown", bigPlan(tt.servers, tt.datasets, tt.levels, tt.repeats))
			if len(text) >= maxMarkdown {
				t.Errorf("%d bytes, want less than %d", len(text), maxMarkdown)
			}
			tables := checkTables(t, text)
			if n := len(tables[0]) - 1; tt.summary > 0 && n != tt.summary || n == 0 {
				t.Errorf("%d lines in the first table, want %d", n, tt.summary)
			}
			if cells := tt.servers * tt.datasets * tt.levels; (slices.Contains(tables[0][0], "worst_cell")) != (cells > maxMain) {
				t.Errorf("%d cells: the first table has the columns %q", cells, tables[0][0])
			}
			if cut := strings.Contains(text, "Left out to stay below"); cut != tt.cut {
				t.Errorf("said that something was left out: %v, want %v", cut, tt.cut)
			}
			// Whatever mark a table shows has its footnote.
			for n := 1; n < 200; n++ {
				mark := " " + superscripts(n) + " "
				if !strings.Contains(text, "-"+mark) && strings.Contains(text, mark+"|") {
					t.Errorf("footnote %d is marked and not there", n)
				}
			}
			if strings.Contains(text, "@me") && !strings.Contains(text, "@<!-- -->me") {
				t.Error("somebody is notified")
			}
		})
	}
}

func superscripts(n int) string {
	return strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(fmt.Sprint(n))
}

// TestWhatWasCutIsSaid names every table that is not there.
func TestWhatWasCutIsSaid(t *testing.T) {
	set := bigPlan(5, 4, 6, 3)
	text := render(t, "markdown", set)
	_, cut, _ := strings.Cut(text, "Left out to stay below")
	cut, _, _ = strings.Cut(cut, "\n")
	for _, g := range set.table().Details {
		shown := strings.Contains(text, "<summary>"+mdText(g.Title)+"</summary>") || strings.Contains(text, "**"+mdText(g.Title)+"**\n")
		if said := strings.Contains(cut, mdText(g.Title)); said == shown {
			t.Errorf("%q: shown %v, said to be left out %v", g.Title, shown, said)
		}
	}
}

// TestNothingLeftToCut has a limit that no report can keep.
func TestNothingLeftToCut(t *testing.T) {
	text, err := newMarkdown(bigPlan(2, 4, 5, 1)).fit(10)
	if err != nil {
		t.Fatal(err)
	}
	if n := cellLines(checkTables(t, string(text))); n > 0 || !strings.Contains(string(text), "### big") {
		t.Errorf("%d lines of cells, want the headline alone\n%s", n, text)
	}
}
