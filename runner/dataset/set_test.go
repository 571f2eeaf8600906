package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetFirst(t *testing.T) {
	set := &Set{Prompts: []Prompt{{Row: 0}, {Row: 1}, {Row: 2}}}
	tests := []struct {
		n    int
		want []int
	}{
		{-1, []int{}}, {0, []int{}}, {2, []int{0, 1}}, {3, []int{0, 1, 2}}, {9, []int{0, 1, 2}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, rowsOf(set.First(tt.n))); diff != "" {
			t.Errorf("First(%d) (-want +got):\n%s", tt.n, diff)
		}
	}
	_ = append(set.First(1), Prompt{Row: 9})
	if set.Prompts[1].Row != 1 {
		t.Error("appending to First's slice wrote into the set")
	}
}

func TestSetSummary(t *testing.T) {
	tests := []struct {
		name string
		set  Set
		want string
	}{
		{"nothing skipped", Set{Rows: 1}, "1 row, 0 skipped"},
		{"two reasons", Set{Rows: 9, Skipped: []Skip{{"a", 3}, {"b", 1}}}, "9 rows, 4 skipped: a 3, b 1"},
		{"many reasons", Set{Rows: 9, Skipped: []Skip{{"a", 3}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}}}, "9 rows, 7 skipped: a 3, b 1, c 1, 2 more reasons"},
	}
	for _, tt := range tests {
		if got := tt.set.Summary(); got != tt.want {
			t.Errorf("%s: Summary() = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSkippedIsSorted(t *testing.T) {
	rows := `{"p":1}` + "\n" + `{"p":""}` + "\n" + `{"q":1}` + "\n" + `{"p":""}` + "\n" + `{"p":"x"}` + "\n" + `{"p":""}`
	set := load(t, byPrompt(write(t, "a.jsonl", rows), "p"), 64)
	want := []Skip{{"blank prompt", 3}, {`no column "p"`, 1}, {"prompt is not a text", 1}}
	if diff := cmp.Diff(want, set.Skipped); diff != "" {
		t.Errorf("Skipped (-want +got):\n%s", diff)
	}
}

func TestLoadAsksForAtLeastOne(t *testing.T) {
	path := write(t, "a.jsonl", `{"p":"x"}`)
	wantParts(t, loadErr(t, t.Context(), byPrompt(path, "p"), 0), path, "at least 1")
}

// errAfter is a context that ends while rows are read.
type errAfter struct {
	context.Context
	looks *int
}

func (c errAfter) Err() error {
	if *c.looks--; *c.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestLoadStopsWithItsContext(t *testing.T) {
	pq := filepath.Join(t.TempDir(), "a.parquet")
	writeParquet(t, pq, questions(200))
	tests := []struct{ name, path, split string }{
		{"lines", write(t, "a.jsonl", strings.Repeat("{\"question\":\"x\"}\n", 200)), "train"},
		{"lines counted", write(t, "b.jsonl", strings.Repeat("{\"question\":\"x\"}\n", 200)), "train[-1:]"},
		{"list", write(t, "a.json", "["+strings.Repeat(`{"question":"x"},`, 200)+"{}]"), "train"},
		{"parquet", pq, "train"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := byPrompt(tt.path, "question")
			d.Split = tt.split
			looks := 100
			_, err := Load(errAfter{t.Context(), &looks}, d, 1000, Options{})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v, want context.Canceled", err)
			}
			wantParts(t, err.Error(), tt.path)
			looks = 0
			if _, err := Load(errAfter{t.Context(), &looks}, d, 1, Options{}); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v of a context that ended before, want context.Canceled", err)
			}
		})
	}
}

func TestHash(t *testing.T) {
	prompts := func(texts ...string) []Prompt {
		var out []Prompt
		for i, text := range texts {
			out = append(out, Prompt{Messages: json.RawMessage(text), Row: i * 7})
		}
		return out
	}
	const one = `[{"role":"user","content":"é<"}]`
	// printf '[{"content":"é<","role":"user"}]\n' | sha256sum
	const want = "8522083240b4daee"
	if got := Hash(prompts(one)); got != want {
		t.Errorf("Hash = %s, want %s", got, want)
	}
	same := []struct {
		name string
		in   []Prompt
	}{
		{"keys in another order", prompts(`[{"content":"é<","role":"user"}]`)},
		{"blanks", prompts(`[ {"role": "user", "content": "é<"} ]`)},
		{"escapes", prompts(`[{"role":"user","content":"\u00e9\u003c"}]`)},
	}
	for _, tt := range same {
		if got := Hash(tt.in); got != want {
			t.Errorf("%s: Hash = %s, want %s", tt.name, got, want)
		}
	}
	other := map[string]string{Hash(prompts(one)): "the prompt"}
	for name, in := range map[string][]Prompt{
		"none":              nil,
		"twice":             prompts(one, one),
		"another text":      prompts(`[{"role":"user","content":"é< "}]`),
		"a further field":   prompts(`[{"role":"user","content":"é<","n":1}]`),
		"a spelled number":  prompts(`[{"role":"user","content":"é<","n":1.0}]`),
		"a and b":           prompts(`[{"role":"user","content":"a"}]`, `[{"role":"user","content":"b"}]`),
		"b and a":           prompts(`[{"role":"user","content":"b"}]`, `[{"role":"user","content":"a"}]`),
		"one of two turns":  prompts(`[{"role":"user","content":"a"},{"role":"user","content":"b"}]`),
		"what is no JSON":   prompts(`[`),
		"what is no JSON 2": prompts(`]`),
	} {
		h := Hash(in)
		if with, ok := other[h]; ok {
			t.Errorf("%s and %s have the same hash %s", name, with, h)
		}
		other[h] = name
	}
}

// The same conversations have one hash, whatever file they come from.
func TestHashIsTheSameForEveryFormat(t *testing.T) {
	pq := filepath.Join(t.TempDir(), "a.parquet")
	writeParquet(t, pq, []qa{{Question: "q & ü"}, {Question: "r"}})
	lines := write(t, "a.jsonl", `{"question":"q & \u00fc"}`+"\n"+`{"question":"r"}`)
	a, b := Hash(load(t, byPrompt(pq, "question"), 2).Prompts), Hash(load(t, byPrompt(lines, "question"), 2).Prompts)
	if a != b {
		t.Errorf("parquet %s, lines %s", a, b)
	}
}
