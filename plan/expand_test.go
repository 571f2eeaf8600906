package plan

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestExpandOrder(t *testing.T) {
	const two = "servers: [{name: a, server: \"http://h:1\"}, {name: b, server: \"http://h:2\"}]\n"
	tests := []struct{ name, text, want string }{
		{"server, dataset, axes, repeat", two + `
datasets: [{name: d, input_data: prompts.jsonl}, {name: e, input_data: prompts.jsonl}]
concurrency: [2, 1]
`, `
a d 2 256 0 64
a d 1 256 0 64
a e 2 256 0 64
a e 1 256 0 64
b d 2 256 0 64
b d 1 256 0 64
b e 2 256 0 64
b e 1 256 0 64`},
		{"the axes in their own order", oneServer + oneDataset + `
num_prompts: [1, 2]
temperature: [0, 1]
max_new_tokens: [10, 20]
concurrency: [3, 4]
exclude: [{concurrency: 4}]
`, `
s d 3 10 0 1
s d 3 10 0 2
s d 3 10 1 1
s d 3 10 1 2
s d 3 20 0 1
s d 3 20 0 2
s d 3 20 1 1
s d 3 20 1 2`},
		{"zipped axes at the place of the first", oneServer + oneDataset + `
zip: [num_prompts, max_new_tokens]
concurrency: [1, 2]
max_new_tokens: [10, 20]
num_prompts: [3, 4]
temperature: [0, 1]
exclude: [{concurrency: 2}]
`, `
s d 1 10 0 3
s d 1 10 1 3
s d 1 20 0 4
s d 1 20 1 4`},
		{"prompts per slot", oneServer + oneDataset + `
concurrency: [1, 8, 32]
num_prompts: 10x
`, `
s d 1 256 0 64
s d 8 256 0 80
s d 32 256 0 320`},
		{"a dataset's own values", oneServer + `
datasets:
  - {name: d, input_data: prompts.jsonl, max_new_tokens: 5, num_prompts: 3x}
  - {name: e, input_data: prompts.jsonl}
concurrency: 30
max_new_tokens: [10, 20]
num_prompts: 7
`, `
s d 30 5 0 90
s e 30 10 0 7
s e 30 20 0 7`},
		{"exclude by every key", oneServer + oneDataset + `
concurrency: [1, 2, 3]
temperature: [0, 0.5]
num_prompts: 10x
exclude:
  - {server: s, dataset: [d], concurrency: [1, 2], temperature: 0.50, num_prompts: 64, max_new_tokens: 256}
  - {concurrency: 3}
`, `
s d 1 256 0 64
s d 2 256 0 64`},
		{"entries of exclude may overlap", oneServer + oneDataset + `
concurrency: [1, 2]
exclude: [{concurrency: 2}, {concurrency: [2, 3]}]
`, `
s d 1 256 0 64`},
		{"include adds, once", oneServer + oneDataset + `
concurrency: [1, 2]
include: [{concurrency: [2, 64], max_new_tokens: 256}, {concurrency: 64, max_new_tokens: [256, 9]}]
`, `
s d 1 256 0 64
s d 2 256 0 64
s d 64 256 0 64
s d 64 9 0 64`},
		{"include brings back what exclude dropped", two + oneDataset + `
concurrency: [1, 2]
exclude: [{concurrency: 2}]
include: [{server: b, concurrency: 2}]
`, `
a d 1 256 0 64
b d 1 256 0 64
b d 2 256 0 64`},
		{"include replaces a dataset's own value", oneServer + `
datasets: [{name: d, input_data: prompts.jsonl, max_new_tokens: 5}]
include: [{max_new_tokens: 6}]
`, `
s d 16 5 0 64
s d 16 6 0 64`},
		{"include beside a zip", oneServer + oneDataset + `
zip: [concurrency, num_prompts]
concurrency: [1, 2]
num_prompts: [10, 20]
include: [{concurrency: [4, 8], num_prompts: [40, 80]}, {temperature: 1}]
`, `
s d 1 256 0 10
s d 2 256 0 20
s d 4 256 0 40
s d 8 256 0 80
s d 1 256 1 10
s d 2 256 1 20`},
		{"only include", oneServer + oneDataset + `
exclude: [{server: s}]
include: [{concurrency: 5}]
`, `
s d 5 256 0 64`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := cellText(parse(t, head+tt.text).Expand())
			if want := strings.TrimPrefix(tt.want, "\n") + "\n"; got != want {
				t.Errorf("cells:\n%swant:\n%s", got, want)
			}
		})
	}
}

// The number of runs is the product of what is listed, indices count them, and
// repeats are innermost.
func TestExpandIsTheProduct(t *testing.T) {
	for _, tt := range []struct{ servers, datasets, concurrency, temperature, repeats int }{
		{1, 1, 1, 1, 1}, {2, 1, 3, 1, 4}, {3, 2, 2, 5, 2}, {1, 4, 1, 2, 3},
	} {
		p := parse(t, matrixText(tt.servers, tt.datasets, tt.concurrency, tt.temperature, tt.repeats))
		runs := p.Expand()
		if want := tt.servers * tt.datasets * tt.concurrency * tt.temperature * tt.repeats; len(runs) != want {
			t.Errorf("%+v: %d runs, want %d", tt, len(runs), want)
		}
		seen := map[string]bool{}
		for i, r := range runs {
			if r.Index != i || r.Repeat != i%tt.repeats || r.RunID != fmt.Sprintf("%s-r%d", r.CellID, r.Repeat) || seen[r.RunID] {
				t.Fatalf("run %d is %+v", i, r)
			}
			seen[r.RunID] = true
		}
	}
}

func matrixText(servers, datasets, concurrency, temperature, repeats int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%srepeats: %d\nservers:\n", head, repeats)
	for i := range servers {
		fmt.Fprintf(&b, "  - {name: s%d, server: \"http://h:%d\"}\n", i, i+1)
	}
	b.WriteString("datasets:\n")
	for i := range datasets {
		fmt.Fprintf(&b, "  - {name: d%d, input_data: prompts.jsonl}\n", i)
	}
	list := func(key string, n int) {
		fmt.Fprintf(&b, "%s: [1", key)
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, ", %d", i+1)
		}
		b.WriteString("]\n")
	}
	list("concurrency", concurrency)
	list("temperature", temperature)
	return b.String()
}

// Two cells with one id are refused, not run as one.
func TestIDsThatCollide(t *testing.T) {
	l := &loader{
		opts: options(), doc: &document{lines: map[string]int{"": 1}}, serverIDs: []serverID{{name: "s"}},
		datasetIDs: []datasetID{{}}, plan: &Plan{Servers: make([]Server, 1), Datasets: make([]Dataset, 1), Repeats: 1},
	}
	m := newMatrix(l)
	m.hash = func([]byte) string { return "0123456789" }
	m.product(0, 0, Axes{[]int{1, 2}, []int{1}, []float64{0}, []NumPrompts{{N: 1}}, []float64{math.Inf(1)}})
	if len(l.doc.problems) != 1 || !strings.Contains(l.doc.problems[0].Text, "0123456789") {
		t.Errorf("problems %v", l.doc.problems)
	}
}

// 10,000 runs must expand within 100 ms, loading included.
func BenchmarkExpand(b *testing.B) {
	text := matrixText(10, 10, 10, 10, 1)
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if n := len(parse(b, text).Expand()); n != 10_000 {
				b.Fatalf("%d runs", n)
			}
		}
	})
	p := parse(b, text)
	b.Run("expand", func(b *testing.B) {
		for b.Loop() {
			p.Expand()
		}
	})
}
