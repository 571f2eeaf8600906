package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverride(t *testing.T) {
	const text = head + oneServer + `
datasets:
  - {name: d, input_data: prompts.jsonl, max_new_tokens: 5, num_prompts: 6}
concurrency: [1, 8]
repeats: 2
exclude: [{concurrency: 8}]
`
	for _, tt := range []struct {
		name, more string
		override   Override
		want       string
		runs       int
	}{
		{"nothing", "", Override{}, "s d 1 5 0 6\n", 2},
		{"every axis, and a dataset's own", "", Override{
			NumPrompts: []NumPrompts{{N: 20, PerSlot: true}}, Concurrency: []int{4}, MaxNewTokens: []int{7, 9}, Temperature: []float64{1}, Repeats: new(3),
		}, "s d 4 7 1 80\ns d 4 9 1 80\n", 6},
		{"exclude that matches nothing now", "", Override{Concurrency: []int{2}}, "s d 2 5 0 6\n", 2},
		{"include keeps to the override", "include: [{concurrency: 64, temperature: 1}]\n", Override{Concurrency: []int{2}}, "s d 2 5 0 6\ns d 2 5 1 6\n", 4},
		{"include that adds nothing now", "include: [{concurrency: 64}]\n", Override{Concurrency: []int{2}}, "s d 2 5 0 6\n", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options()
			o.Override = tt.override
			p := parseWith(t, text+tt.more, o)
			runs := p.Expand()
			if got := cellText(runs); got != tt.want || len(runs) != tt.runs {
				t.Errorf("%d runs, want %d; cells\n%swant\n%s", len(runs), tt.runs, got, tt.want)
			}
			if tt.override.MaxNewTokens != nil && p.Datasets[0].MaxNewTokens != nil {
				t.Error("the dataset still has its own max_new_tokens")
			}
		})
	}
}

func TestOverrideOfTheRate(t *testing.T) {
	o := options()
	o.Override.RequestRate = []float64{3, math.Inf(1)}
	p := parseWith(t, head+oneServer+oneDataset+"request_rate: 2\ninclude: [{request_rate: 9, concurrency: 1}]\n"+
		"thresholds: [{metric: speedup, min: 1, where: {request_rate: 2}}]\n", o)
	var got []float64
	for _, r := range p.Expand() {
		got = append(got, r.RequestRate)
	}
	if diff := cmp.Diff([]float64{3, 0, 3, 0}, got); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
}

func TestOverrideThatCannotBe(t *testing.T) {
	const zip = "zip: [concurrency, num_prompts]\nconcurrency: [1, 8]\nnum_prompts: [10, 20]\n"
	for _, tt := range []struct {
		name, text string
		override   Override
		want       string
	}{
		{"too small", "", Override{Concurrency: []int{0}}, "concurrency: overridden: must be at least 1 (have 0)"},
		{"negative", "", Override{Temperature: []float64{-1}}, "temperature: overridden: must be at least 0 (have -1)"},
		{"rate", "", Override{RequestRate: []float64{0}}, "request_rate: overridden: must be above 0 (have 0)"},
		{"rate that is no number", "", Override{RequestRate: []float64{math.NaN()}}, "request_rate: overridden: must be above 0 (have NaN)"},
		{"no prompts", "", Override{NumPrompts: []NumPrompts{{PerSlot: true}}}, "num_prompts: overridden: must be at least 1 (have 0)"},
		{"twice", "", Override{MaxNewTokens: []int{1, 1}}, "max_new_tokens: overridden: 1 is in the list twice"},
		{"empty", "", Override{MaxNewTokens: []int{}}, "max_new_tokens: overridden: an empty list: give at least one value"},
		{"repeats", "", Override{Repeats: new(0)}, "repeats: overridden: must be at least 1 (have 0)"},
		{"zip", zip, Override{Concurrency: []int{4}}, "zip: overridden: zipped axes must be equally long: concurrency has 1, num_prompts has 2"},
		{"include of a zip", zip + "include: [{concurrency: 64, num_prompts: 9}]\n", Override{Concurrency: []int{4, 5}},
			"include[0]: overridden: zipped axes must be equally long: concurrency has 2, num_prompts has 1"},
		{"everything is excluded", "exclude: [{max_new_tokens: 7}]\nmax_new_tokens: [7, 8]\n", Override{MaxNewTokens: []int{7}}, "everything is excluded"},
		{"beside a problem of the file", "nosuch: 1\n", Override{Concurrency: []int{0}}, "unknown key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options()
			o.Override = tt.override
			if text := refuse(t, head+oneServer+oneDataset+tt.text, o).Error(); !strings.Contains(text, tt.want) {
				t.Errorf("error %q, want %q", text, tt.want)
			}
		})
	}
}
