package table

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/result"
)

func ptr[T any](v T) *T { return &v }

// okRow is a run of one cell; its numbers fit together.
func okRow(server, dataset string, concurrency, repeat int, tokens int64, seconds float64) result.Row {
	throughput := float64(tokens) / seconds
	return result.Row{
		Plan: "demo", CellID: server + dataset + string(rune('a'+concurrency)), Server: server, Engine: "vllm", Model: "m", Dataset: dataset,
		Concurrency: concurrency, MaxNewTokens: 256, Repeat: repeat, PromptsAsked: 64, NumPrompts: ptr(64), Completed: ptr(64), Failed: ptr(0),
		OutputTokens: &tokens, WallClockS: &seconds, OutputThroughputTokS: &throughput,
		AcceptLength: ptr(2.5), AcceptanceRate: ptr(0.5), AcceptSource: "counters",
		BaselineEngine: "vllm", BaselineThroughputTokS: ptr(100.0), BaselineOutputTokens: &tokens, Speedup: ptr(throughput / 100),
	}
}

// repeated is the repeats of one cell with these speedups over 100 tok/s.
func repeated(server, dataset string, concurrency int, speedups ...float64) []result.Row {
	var rows []result.Row
	for i, s := range speedups {
		r := okRow(server, dataset, concurrency, i, 1000, 10/s)
		r.Speedup = ptr(s)
		rows = append(rows, r)
	}
	return numbered(rows...)
}

func numbered(rows ...result.Row) []result.Row {
	for i := range rows {
		rows[i].RunIndex = i
	}
	return rows
}

// cellOf is the main table's cell in line i of a column.
func cellOf(t *testing.T, tab Table, i int, column string) Cell {
	t.Helper()
	for j, h := range tab.Main.Columns {
		if h.Name == column {
			return tab.Main.Lines[i][j]
		}
	}
	t.Fatalf("no column %s in %v", column, tab.Main.Columns)
	return Cell{}
}

// TestColumnsAreThoseOfTheRow fails for a field of the row without a column and
// for a column without a field.
func TestColumnsAreThoseOfTheRow(t *testing.T) {
	var want, got []string
	rt := reflect.TypeFor[result.Row]()
	for i := range rt.NumField() {
		if name, _, _ := strings.Cut(rt.Field(i).Tag.Get("csv"), ","); name != "-" {
			want = append(want, name)
		}
	}
	for _, c := range Columns() {
		got = append(got, c.Name)
		if (c.Text == nil) == (c.Value == nil) {
			t.Errorf("column %s has both or none of Text and Value", c.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-row +columns)\n%s", diff)
	}
}

// TestColumnsReadTheirField sets one field after the other and looks whether the
// column of that name, and no other, changes.
func TestColumnsReadTheirField(t *testing.T) {
	rt := reflect.TypeFor[result.Row]()
	for i := range rt.NumField() {
		name, _, _ := strings.Cut(rt.Field(i).Tag.Get("csv"), ",")
		if name == "-" {
			continue
		}
		var empty, r result.Row
		if v := reflect.ValueOf(&r).Elem().Field(i); v.Kind() == reflect.Pointer {
			v.Set(reflect.New(v.Type().Elem()))
			v.Elem().Set(nonZero(t, v.Elem()))
		} else {
			v.Set(nonZero(t, v))
		}
		for _, c := range Columns() {
			if changed := c.cell(&r) != c.cell(&empty); changed != (c.Name == name) {
				t.Errorf("setting the field %s: column %s changed is %v", name, c.Name, changed)
			}
		}
	}
}

func nonZero(t *testing.T, v reflect.Value) reflect.Value {
	t.Helper()
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return reflect.ValueOf(7).Convert(v.Type())
	case reflect.Float64:
		return reflect.ValueOf(7.5)
	case reflect.String:
		return reflect.ValueOf("seven")
	}
	switch v.Interface().(type) {
	case result.Floats:
		return reflect.ValueOf(result.Floats{0.5})
	case result.Warnings:
		return reflect.ValueOf(result.Warnings{{Code: "c", Text: "t"}})
	}
	return reflect.ValueOf(testTime())
}

func TestRepeatsAreCombined(t *testing.T) {
	a, b := okRow("s", "d", 8, 0, 1000, 10), okRow("s", "d", 8, 1, 1000, 5) // 100 and 200 tok/s
	a.NumDrafts, a.NumDraftTokens, a.NumAcceptedTokens = ptr(int64(100)), ptr(int64(300)), ptr(int64(100))
	b.NumDrafts, b.NumDraftTokens, b.NumAcceptedTokens = ptr(int64(300)), ptr(int64(900)), ptr(int64(600))
	a.AcceptLength, b.AcceptLength = ptr(2.0), ptr(3.0)
	a.AcceptanceRate, b.AcceptanceRate = ptr(1.0/3), ptr(2.0/3)
	a.BaselineThroughputTokS, b.BaselineThroughputTokS = ptr(100.0), ptr(50.0) // 10 s and 20 s
	a.Speedup, b.Speedup = ptr(1.0), ptr(4.0)
	a.Failed, b.Failed = ptr(1), ptr(2)
	uncounted := func(r result.Row) result.Row { r.NumDrafts = nil; r.NumDraftTokens = nil; return r }
	cumulative := func(r result.Row) result.Row { r.AcceptSource = "cumulative"; return r }
	for _, tt := range []struct {
		name string
		rows []result.Row
		want map[string]string
	}{
		{"two repeats", numbered(a, b), map[string]string{
			"output_throughput_tok_s":   "133.3", // 2000 / 15, not 150
			"baseline_throughput_tok_s": "66.7",  // 2000 / 30, not 75
			"accept_length":             "2.750", // 1 + 700/400, not 2.5
			"acceptance_rate":           "0.583", // 700/1200
			"speedup":                   "2.000 (1.000–4.000) ~",
			"failed":                    "3",
			"n":                         "2",
		}},
		{"counts missing in one: the mean", numbered(a, uncounted(b)), map[string]string{"accept_length": "2.500", "acceptance_rate": "0.500"}},
		{"a server's totals are no counts of the pass", numbered(cumulative(a), cumulative(b)),
			map[string]string{"accept_length": "2.500", "accept_source": "cumulative"}},
		{"sources differ", numbered(a, cumulative(b)), map[string]string{"accept_source": "counters, cumulative"}},
		{"one run", numbered(a), map[string]string{"output_throughput_tok_s": "100.0", "speedup": "1.000", "accept_length": "2.000", "n": "1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tab := Build(tt.rows, Options{})
			if len(tab.Main.Lines) != 1 {
				t.Fatalf("%d lines, want the repeats in one", len(tab.Main.Lines))
			}
			for column, want := range tt.want {
				if got := cellOf(t, tab, 0, column).Text; got != want {
					t.Errorf("%s = %q, want %q", column, got, want)
				}
			}
		})
	}
}

func TestFootnotes(t *testing.T) {
	warned := func(r result.Row, text string, columns ...string) result.Row {
		r.Warnings = append(r.Warnings, result.Warning{Code: "usage_missing", Text: text, Columns: columns})
		return r
	}
	failed := func(r result.Row, text string) result.Row {
		return result.Row{CellID: r.CellID, Server: r.Server, Dataset: r.Dataset, Concurrency: r.Concurrency, Repeat: r.Repeat,
			MaxNewTokens: r.MaxNewTokens, PromptsAsked: r.PromptsAsked, Error: text}
	}
	a, b := okRow("s", "d", 8, 0, 1000, 10), okRow("s", "d", 8, 1, 1000, 5)
	other := okRow("s", "e", 8, 0, 1000, 10)
	noSpeedup := func(r result.Row) result.Row { r.Speedup = nil; return r }
	type marks map[string][]int
	for _, tt := range []struct {
		name  string
		rows  []result.Row
		notes []string
		marks []marks // by line
	}{
		{"no doubt", numbered(a), nil, []marks{{"speedup": nil}}},
		{"one text in two columns and lines", numbered(warned(a, "few tokens", "speedup", "output_throughput_tok_s"), warned(other, "few tokens", "speedup")),
			[]string{"few tokens"}, []marks{{"output_throughput_tok_s": {1}, "speedup": {1}}, {"speedup": {1}}}},
		{"numbered as they appear", numbered(warned(warned(a, "second", "speedup"), "first", "baseline_throughput_tok_s")),
			[]string{"first", "second"}, []marks{{"baseline_throughput_tok_s": {1}, "speedup": {2}}}},
		{"a column that is not shown", numbered(warned(a, "not reported", "cached_tokens")), nil, []marks{{}}},
		{"an axis that a warning speaks of is shown", numbered(warned(a, "asked 64, got 12", "num_prompts")),
			[]string{"asked 64, got 12"}, []marks{{"num_prompts": {1}}}},
		{"no column named: the server", numbered(warned(a, "strange")), []string{"strange"}, []marks{{"server": {1}}}},
		{"repeats that differ share a footnote", numbered(warned(a, "3 of 64", "speedup"), warned(b, "5 of 64", "speedup")),
			[]string{"3 of 64 (r0); 5 of 64 (r1)"}, []marks{{"speedup": {1}}}},
		{"repeats that agree", numbered(warned(a, "x", "speedup"), warned(b, "x", "speedup")), []string{"x"}, []marks{{"speedup": {1}}}},
		{"an error row", numbered(failed(a, "HTTP 503\n<html>")), []string{"HTTP 503 <html>"}, []marks{{"output_throughput_tok_s": {1}, "speedup": nil, "n": nil}}},
		{"one repeat failed", numbered(a, failed(b, "HTTP 503")), []string{"1 of 2 repeats failed: HTTP 503 (r1)"}, []marks{{"n": {1}, "output_throughput_tok_s": nil}}},
		{"one repeat has no speedup", numbered(a, noSpeedup(b)), []string{"from 1 of 2 repeats"}, []marks{{"speedup": {1}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tab := Build(tt.rows, Options{})
			if diff := cmp.Diff(tt.notes, tab.Notes); diff != "" {
				t.Errorf("notes (-want +got)\n%s", diff)
			}
			for i, columns := range tt.marks {
				for column, want := range columns {
					if diff := cmp.Diff(want, cellOf(t, tab, i, column).Marks); diff != "" {
						t.Errorf("line %d, %s: marks (-want +got)\n%s", i, column, diff)
					}
				}
			}
		})
	}
}

func TestBest(t *testing.T) {
	a, b := okRow("a", "d", 8, 0, 1000, 10), okRow("b", "d", 8, 0, 1000, 5)
	elsewhere := okRow("b", "d", 1, 0, 1000, 1)
	twin := okRow("a", "d", 8, 0, 1000, 5)
	twin.CellID = "another extra_body"
	weaker := func(r result.Row) result.Row { r.AcceptSource = "cumulative"; r.AcceptLength = ptr(9.0); return r }
	foreign := func(r result.Row) result.Row { r.BaselineEngine = "sglang"; return r }
	longer := func(r result.Row) result.Row { r.AcceptLength = ptr(9.0); return r }
	times := func(n int, rows []result.Row) []result.Row {
		var out []result.Row
		for _, r := range rows {
			for repeat := range n {
				again := r
				again.Repeat = repeat
				out = append(out, again)
			}
		}
		return numbered(out...)
	}
	twice := func(rows ...result.Row) []result.Row { return times(2, rows) }
	threeTimes := func(rows ...result.Row) []result.Row { return times(3, rows) }
	for _, tt := range []struct {
		name   string
		rows   []result.Row
		column string
		want   []bool
	}{
		{"the higher throughput, three times", threeTimes(a, b), "output_throughput_tok_s", []bool{false, true}},
		{"the higher speedup, three times", threeTimes(b, a), "speedup", []bool{true, false}},
		{"one run shows nothing", numbered(a, b), "speedup", []bool{false, false}},
		{"nor do two", twice(a, b), "speedup", []bool{false, false}},
		{"what varies more than it differs", numbered(slices.Concat(repeated("a", "d", 8, 1, 2, 3), repeated("b", "d", 8, 3, 2, 1.5))...), "speedup", []bool{false, false}},
		{"acceptance: repeats say nothing about other prompts", threeTimes(a, longer(b)), "accept_length", []bool{false, false}},
		{"equal values have no best", numbered(a, b), "accept_length", []bool{false, false}},
		{"one server has none", threeTimes(a), "speedup", []bool{false}},
		{"two cells of one server have none", threeTimes(a, twin), "speedup", []bool{false, false}},
		{"other points do not compare", threeTimes(a, elsewhere), "speedup", []bool{false, false}},
		{"acceptance from different sources", numbered(a, weaker(b)), "accept_length", []bool{false, false}},
		{"a baseline of another engine does not compare", threeTimes(a, foreign(b)), "speedup", []bool{false, false}},
		{"what is no merit", numbered(a, b), "baseline_throughput_tok_s", []bool{false, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tab := Build(tt.rows, Options{})
			var got []bool
			for i := range tab.Main.Lines {
				got = append(got, cellOf(t, tab, i, tt.column).Best)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestColumnsThatShowOnlyWhenTheyVary(t *testing.T) {
	a, b := okRow("s", "d", 8, 0, 1000, 10), okRow("s", "e", 8, 0, 1000, 10)
	change := func(r result.Row, f func(*result.Row)) result.Row { f(&r); return r }
	always := []string{"server", "dataset", "concurrency"}
	for _, tt := range []struct {
		name string
		b    result.Row
		want []string
	}{
		{"none", b, always},
		{"max_new_tokens", change(b, func(r *result.Row) { r.MaxNewTokens = 512 }), append(always[:3:3], "max_new_tokens")},
		{"temperature", change(b, func(r *result.Row) { r.Temperature = 0.5 }), append(always[:3:3], "temperature")},
		{"num_prompts", change(b, func(r *result.Row) { r.PromptsAsked = 80; r.NumPrompts = ptr(80) }), append(always[:3:3], "num_prompts")},
		{"model", change(b, func(r *result.Row) { r.Model = "n" }), []string{"server", "model", "dataset", "concurrency"}},
		{"engine", change(b, func(r *result.Row) { r.Engine = "sglang" }), []string{"server", "engine", "dataset", "concurrency"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tab := Build(numbered(a, tt.b), Options{})
			var got []string
			for _, h := range tab.Main.Columns {
				if h.Name == "baseline_throughput_tok_s" {
					break
				}
				got = append(got, h.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "two\nlines", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07x", "a\u202eb", "\x1b", "\u009b1m", "日本語 モデル", "\xff\xfe"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 1 || limit > 1000 {
			limit = 20
		}
		got := Clean(s, limit)
		if n := len([]rune(got)); n > limit {
			t.Errorf("%d runes, limit %d", n, limit)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) && r != ' ' }) ||
			strings.Contains(got, "  ") || strings.TrimSpace(got) != got {
			t.Errorf("Clean(%q) = %q", s, got)
		}
		if again := Clean(got, limit); again != got {
			t.Errorf("cleaned again %q becomes %q", got, again)
		}
	})
}

func TestClean(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "gsm8k", "gsm8k"},
		{"line breaks and tabs", "two\r\n lines\there\u2028x", "two lines here x"},
		{"blanks around", "  a  b ", "a b"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"a link", "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"window title without its end", "\x1b]0;title", ""},
		{"C1 controls", "a\u009b31mb\u0085c", "ab c"},
		{"reading direction", "a\u202egnp.exe", "agnp.exe"},
		{"bytes that are no text", "a\xffb", "a\ufffdb"},
		{"letters that need a joiner", "\u0646\u200c\u0647", "\u0646\u200c\u0647"},
		{"exactly the limit", strings.Repeat("x", 20), strings.Repeat("x", 20)},
		{"too long", strings.Repeat("x", 21), strings.Repeat("x", 19) + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Clean(tt.in, 20); got != tt.want {
				t.Errorf("Clean = %q, want %q", got, tt.want)
			}
		})
	}
}
