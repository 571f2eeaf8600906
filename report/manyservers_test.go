package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/runner/result"
)

// TestAHundredCheckpoints has what a training leaves behind.
func TestAHundredCheckpoints(t *testing.T) {
	set := bigPlan(100, 2, 1, 2)
	set.Manifest.Runs = len(set.Rows)
	text := render(t, "markdown", set)
	if len(text) >= maxMarkdown {
		t.Errorf("%d bytes, want less than %d", len(text), maxMarkdown)
	}
	checkTables(t, text)
	shown, folded, _ := strings.Cut(text, "<details>")
	for _, want := range []string{"70 of 100 lines left out", "Best per dataset"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
	if !strings.Contains(folded, "Summary of all 100") {
		t.Error("the whole summary is not folded away below")
	}
	terminal := render(t, "terminal", set)
	if n := strings.Count(terminal, "\n"); n >= 120 {
		t.Errorf("%d lines on the terminal, want fewer than 120\n%s", n, terminal)
	}
	for _, want := range []string{"the 200 cells are too many for a terminal", "Best per dataset", "ckpt-1000 "} {
		if !strings.Contains(terminal, want) {
			t.Errorf("%q is not in\n%s", want, terminal)
		}
	}
	for n := 1; n < 300; n++ { // whatever mark is shown has its footnote
		if mark := superscripts(n); strings.Contains(terminal, " "+mark+" ") && !strings.Contains(terminal, "\n"+mark+" ") {
			t.Errorf("footnote %d is marked and not there", n)
		}
	}
	var points []int
	for _, g := range plots(set) {
		if g.title != "speedup over step" && g.title != "accept_length over step" {
			continue
		}
		for _, c := range g.charts {
			for _, s := range c.Series {
				points = append(points, len(s.Points))
			}
			if svg := c.Inline(); !strings.Contains(svg, "<svg") || strings.Contains(svg, "left out") {
				t.Errorf("%s is not drawn whole", c.Title)
			}
		}
	}
	if got := fmt.Sprint(points); got != "[100 100 100 100]" {
		t.Errorf("points of the series over the label: %s, want 100 for each of two metrics and datasets", got)
	}
}

func TestMergeNamesWhatDoesNotBelongTogether(t *testing.T) {
	set := func(name, prompts string, asked int) Set {
		r := run("s", "gsm8k", 8, 0, 10)
		r.PromptSet, r.PromptsAsked = prompts, asked
		if name == "tue" {
			r.StartedAt = r.StartedAt.AddDate(0, 0, 1)
		}
		s := NewSet(numbered(r), result.Manifest{})
		s.Name = name
		return s
	}
	for _, tt := range []struct {
		name string
		sets []Set
		want string // in the remarks; empty: neither remark
	}{
		{"nothing is wrong", []Set{set("mon", "aa", 64), set("tue", "aa", 64)}, ""},
		{"other prompts", []Set{set("mon", "aa", 64), set("tue", "bb", 64)}, "other prompts: the sets did not send the same 64 prompts of gsm8k, so their numbers do not compare (prompt_set aa in mon, bb in tue)"},
		{"more prompts are other ones anyway", []Set{set("mon", "aa", 64), set("tue", "bb", 80)}, ""},
		{"not known", []Set{set("mon", "aa", 64), set("tue", "", 64)}, ""},
		{"a copy", []Set{set("mon", "aa", 64), set("copy", "aa", 64)}, "mon and copy hold the same runs, 1 of them: they are counted twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(Merge(tt.sets).table().Remarks, "\n")
			if tt.want == "" && (strings.Contains(got, "other prompts") || strings.Contains(got, "same runs")) || !strings.Contains(got, tt.want) {
				t.Errorf("%s\nwant %q", got, tt.want)
			}
		})
	}
}

func TestMergeCountsTheCellsThatWereAskedFor(t *testing.T) {
	set := func(name string, cells ...string) Set {
		s := NewSet(numbered(run(name, "gsm8k", 8, 0, 10)), result.Manifest{Cells: map[string]json.RawMessage{}})
		for _, c := range cells {
			s.Manifest.Cells[c] = json.RawMessage("{}")
		}
		s = NewSet(s.Rows, s.Manifest)
		s.Name = name
		return s
	}
	if got := Merge([]Set{set("a", "1", "2"), set("b", "1", "2", "3")}).table().Caption[0]; got != "2 of 5 cells ok" {
		t.Errorf("%q, want 2 of 5", got)
	}
	if got := Merge([]Set{set("a", "1", "2"), set("b")}).table().Caption[0]; got != "2 of 2 cells ok" {
		t.Errorf("%q of a set that does not say, want 2 of 2", got)
	}
}
