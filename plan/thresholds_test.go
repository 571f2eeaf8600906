package plan

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThresholdsMeetTheirCells(t *testing.T) {
	p, err := Load(filepath.Join("testdata", "good", "thresholds.yaml"), options())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, limit := range p.Thresholds {
		var meant []Run
		for _, r := range p.Expand() {
			if limit.Where.Matches(&r) {
				meant = append(meant, r)
			}
		}
		got = append(got, cellText(meant))
	}
	all := "a d 1 256 0 64\na d 8 256 0 64\nb d 1 256 0 64\nb d 8 256 0 64\n"
	want := []string{all, all, "a d 8 256 0 64\nb d 8 256 0 64\n", "b d 1 256 0 64\nb d 8 256 0 64\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells of the thresholds (-want +got):\n%s", diff)
	}
	if p.MinEffect != 0.02 {
		t.Errorf("min_effect %v", p.MinEffect)
	}
}

func TestWhereMatches(t *testing.T) {
	r := &Run{
		Server: &Server{Name: "s", Endpoint: Endpoint{Labels: map[string]string{"step": "1000", "empty": ""}}}, Dataset: &Dataset{Name: "d"},
		Concurrency: 8, NumPrompts: 80,
	}
	label := func(name string, values ...string) Where { return Where{Labels: map[string][]string{name: values}} }
	for _, tt := range []struct {
		name  string
		where Where
		want  bool
	}{
		{"nothing said", Where{}, true},
		{"a label", label("step", "2000", "1000"), true},
		{"another value", label("step", "2000"), false},
		{"no such label", label("nosuch", ""), false},
		{"an empty label", label("empty", ""), true},
		{"a server", Where{Match: Match{Servers: []string{"s"}}}, true},
		{"a label of another server", Where{Match: Match{Servers: []string{"t"}}, Labels: map[string][]string{"step": {"1000"}}}, false},
		{"prompts per slot", Where{Match: Match{NumPrompts: []NumPrompts{{N: 10, PerSlot: true}}}}, true},
		{"a closed loop", Where{Match: Match{RequestRate: []float64{math.Inf(1)}}}, true},
		{"a rate", Where{Match: Match{RequestRate: []float64{2}}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.where.Matches(r); got != tt.want {
				t.Errorf("Matches() = %v", got)
			}
		})
	}
}

// Who knows no columns checks none; a threshold may be left without cells by values
// that replace the plan's.
func TestThresholdsThatCannotBeChecked(t *testing.T) {
	const text = head + oneServer + oneDataset + "concurrency: 8\nthresholds: [{metric: speedupp, max: 1, where: {concurrency: 8}}]\n"
	o := options()
	if problems := refuse(t, text, o); len(problems) != 1 {
		t.Errorf("problems %v", problems)
	}
	o.Metrics = nil
	o.Override.Concurrency = []int{2}
	if p := parseWith(t, text, o); !slices.Equal(p.Axes.Concurrency, []int{2}) || p.Thresholds[0].Metric != "speedupp" {
		t.Errorf("thresholds %+v", p.Thresholds)
	}
}
