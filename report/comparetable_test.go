package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/report/compare"
	"github.com/specsweep/specsweep/report/gate"
	"github.com/specsweep/specsweep/runner/result"
)

// side is a run-set of one server on the datasets, k times as fast as the other one.
func side(name string, k float64, repeats int, datasets ...string) compare.Side {
	s := compare.Side{Name: name, Requests: map[string][]result.Request{}}
	for _, d := range datasets {
		for repeat := range repeats {
			r := run("s", d, 8, repeat, (10+0.1*float64(repeat))/k)
			r.TTFTMeanMs, r.TTFTP99Ms = ptr(50/k), ptr(90/k)
			s.Rows = append(s.Rows, r)
			for i := range 10 {
				s.Requests[r.RunID] = append(s.Requests[r.RunID], result.Request{RunID: r.RunID, Prompt: i, PromptHash: string(rune('a' + i)),
					Drafts: 100, DraftTokens: ptr(int64(200)), Accepted: int64(k * float64(120+i))})
			}
		}
	}
	return s
}

func compared(t *testing.T, format string, c Compared) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCompared(&b, format, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestComparedTables(t *testing.T) {
	one := Compared{Comparison: compare.Compare(side("old", 1, 3, "gsm8k"), side("new", 1.2, 3, "gsm8k"), compare.Options{MinEffect: 0.01})}
	two := Compared{Comparison: compare.Compare(side("old", 1, 3, "gsm8k", "mbpp"), side("new", 1.2, 3, "gsm8k", "mbpp"), compare.Options{MinEffect: 0.01})}
	rest := Compared{Comparison: compare.Compare(side("old", 1, 2, "gsm8k", "mbpp"), side("new", 1.2, 2, "gsm8k"), compare.Options{})}
	for i := range rest.Cells {
		for j := range rest.Cells[i].Metrics {
			if m := &rest.Cells[i].Metrics[j]; m.Name == "ttft_mean_ms" && (!m.Ratio.Range || m.Ratio.Low != m.Ratio.High) {
				t.Fatalf("%+v should be a range of no width", m)
			}
		}
	}
	for _, format := range []string{"terminal", "markdown"} {
		for _, tt := range []struct {
			name     string
			compared Compared
			has, not []string
		}{
			{"one dataset: the cells are all", one,
				[]string{"1 cell with numbers on both sides", "speedup", "ttft_mean_ms", "+0.24", "%)", comparedBest},
				[]string{"Every cell", "datasets", "acceptance_rate", "ttft_p99_ms", "cells that differ in their server only"}},
			{"two datasets: a summary first", two, []string{"Every cell", "gsm8k, mbpp", "2 cells with numbers"}, nil},
			{"two repeats, and a cell is gone", rest, []string{"only in old: s on mbpp", "(range)"}, []string{"-16.7 % to -16.7 %"}},
		} {
			t.Run(format+"/"+tt.name, func(t *testing.T) {
				text := strings.ReplaceAll(compared(t, format, tt.compared), `\`, "")
				for _, want := range tt.has {
					if !strings.Contains(text, want) {
						t.Errorf("%q is not in\n%s", want, text)
					}
				}
				for _, no := range tt.not {
					if strings.Contains(text, no) {
						t.Errorf("%q is in\n%s", no, text)
					}
				}
			})
		}
	}
	// accept_length in tokens and per cent, in the summary and in each of the cells.
	text := compared(t, "terminal", two)
	n := 0
	for line := range strings.Lines(text) {
		if strings.Contains(line, " accept_length  ") {
			n++
			if !strings.Contains(line, "+0.2") || !strings.Contains(line, " %)") {
				t.Errorf("no change in tokens and per cent: %s", line)
			}
		}
	}
	if n != 3 {
		t.Errorf("%d lines of accept_length, want a mean and two cells\n%s", n, text)
	}
}

func TestMissesAreSaidOnce(t *testing.T) {
	rule, err := gate.ParseRule("speedup<-5%")
	if err != nil {
		t.Fatal(err)
	}
	c := Compared{Comparison: compare.Compare(side("old", 1, 3, "gsm8k", "mbpp"), side("new", 0.5, 3, "gsm8k"), compare.Options{}), Rules: 1}
	c.Misses = gate.Judge(c.Comparison, []gate.Rule{rule})
	text := compared(t, "terminal", c)
	for _, want := range []string{
		"MISSED speedup fell by 50.0 % on s on gsm8k", "MISSED speedup cannot be judged on s on mbpp", "has no counterpart in new", "2 limits missed",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q stands %d times in\n%s", want, strings.Count(text, want), text)
		}
	}
}

// No number is so odd that a comparison of it cannot be written.
func TestComparedOddNumbers(t *testing.T) {
	old, changed := side("old", 1, 3, "gsm8k"), side("new", 1, 3, "gsm8k")
	for i, v := range []float64{1e-300, 1e300, 1} {
		old.Rows[i].Speedup, changed.Rows[2-i].Speedup = &v, &v
	}
	c := Compared{Comparison: compare.Compare(old, changed, compare.Options{MinEffect: math.NaN()})}
	for _, format := range []string{"terminal", "markdown", "csv", "json"} {
		text := compared(t, format, c)
		if strings.Contains(text, "Inf") || strings.Contains(text, "NaN") {
			t.Errorf("%s holds what is no number\n%s", format, text)
		}
	}
	if !json.Valid([]byte(compared(t, "json", c))) {
		t.Error("JSON that is none")
	}
	if _, err := csv.NewReader(strings.NewReader(compared(t, "csv", c))).ReadAll(); err != nil {
		t.Error(err)
	}
}

func TestGithubBenchLeavesAnInfiniteRangeOut(t *testing.T) {
	var rows []result.Row
	for i, v := range []float64{1e-300, 1e300, 1} {
		r := run("s", "gsm8k", 8, i, 10)
		r.Speedup = &v
		rows = append(rows, r)
	}
	text := render(t, "github-benchmark", NewSet(numbered(rows...), result.Manifest{}))
	if strings.Contains(text, "Inf") || !strings.Contains(text, `"unit": "x"`) {
		t.Errorf("want a speedup without a range\n%s", text)
	}
}
