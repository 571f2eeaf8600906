package dataset

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSplit(t *testing.T) {
	rows := func(n int) *Bound { return &Bound{N: n} }
	percent := func(n int) *Bound { return &Bound{N: n, Percent: true} }
	tests := []struct {
		in   string
		want Split
	}{
		{"train", Split{{Name: "train"}}},
		{" train ", Split{{Name: "train"}}},
		{"test_prefs.v2", Split{{Name: "test_prefs.v2"}}},
		{"train[:]", Split{{Name: "train"}}},
		{"train[10:20]", Split{{"train", rows(10), rows(20)}}},
		{"train[:10]", Split{{"train", nil, rows(10)}}},
		{"train[1_000:]", Split{{"train", rows(1000), nil}}},
		{"train[-5:-2]", Split{{"train", rows(-5), rows(-2)}}},
		{"train[10%:-5%]", Split{{"train", percent(10), percent(-5)}}},
		{"train[0:10%]", Split{{"train", rows(0), percent(10)}}},
		{"train[:10] + test[20:30]+train", Split{{"train", nil, rows(10)}, {"test", rows(20), rows(30)}, {Name: "train"}}},
	}
	for _, tt := range tests {
		got, err := ParseSplit(tt.in)
		if err != nil {
			t.Errorf("ParseSplit(%q): %v", tt.in, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("ParseSplit(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
	bad := []struct{ in, want string }{
		{"", "no split"},
		{"train[", "no split"},
		{"train[5]", "no split"},
		{"train[::2]", "no split"},
		{"train[a:b]", "no split"},
		{"train[ 1 : 2 ]", "no split"},
		{"train[1.5:]", "no split"},
		{"train[:10]x", "no split"},
		{"train+", "no split"},
		{"train-x", "no split"},
		{"train[:10%](pct1_dropremainder)", "no split"},
		{"train[:101%]", "not between"},
		{"train[-101%:]", "not between"},
		{"train[10:20%]", "one bound in percent and one in rows"},
		{"train[10%:20]", "one bound in percent and one in rows"},
		{"train[:99999999999999999999]", "out of range"},
	}
	for _, tt := range bad {
		got, err := ParseSplit(tt.in)
		if err == nil {
			t.Errorf("ParseSplit(%q) = %v, want an error", tt.in, got)
			continue
		}
		wantParts(t, err.Error(), fmt.Sprintf("split %q", tt.in), tt.want, "name[10:20]")
	}
}

func TestSliceBounds(t *testing.T) {
	tests := []struct {
		in              string
		total, from, to int
	}{
		{"a", 0, 0, math.MaxInt},
		{"a[3:]", 0, 3, math.MaxInt},
		{"a[3:5]", 0, 3, 5},
		{"a[5:3]", 0, 5, 5},
		{"a[-3:]", 10, 7, math.MaxInt},
		{"a[:-3]", 10, 0, 7},
		{"a[-30:]", 10, 0, math.MaxInt},
		{"a[:-30]", 10, 0, 0},
		{"a[25%:75%]", 8, 2, 6},
		{"a[:50%]", 5, 0, 2}, // 2.5 is as near to 2 as to 3: the even one
		{"a[:50%]", 7, 0, 4}, // 3.5
		{"a[:33%]", 100, 0, 33},
		{"a[-50%:]", 5, 3, math.MaxInt}, // 2.5 from the end: 2
		{"a[-1%:]", 10, 0, math.MaxInt}, // rounds to -0, which is 0 in Python
		{"a[:100%]", 7, 0, 7},
	}
	for _, tt := range tests {
		split, err := ParseSplit(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if from, to := split[0].bounds(tt.total); from != tt.from || to != tt.to {
			t.Errorf("%s of %d rows = %d, %d; want %d, %d", tt.in, tt.total, from, to, tt.from, tt.to)
		}
	}
}

// A slice gives the same rows whatever the format and however the rows lie in
// files and row groups.
func TestSlicesOfEveryFormat(t *testing.T) {
	const n = 20
	dir := t.TempDir()
	var lines []string
	for _, q := range questions(n) {
		lines = append(lines, fmt.Sprintf(`{"question":%q}`, q.Question))
	}
	pq, shards := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "shards")
	writeParquet(t, pq, questions(n))
	all, names := questions(n), []string{"train-00000-of-00004.parquet", "train-00001-of-00004.parquet", "train-00002-of-00004.parquet", "train-00003-of-00004.parquet"}
	for i, cut := range [][2]int{{0, 3}, {3, 3}, {3, 11}, {11, n}} { // the second shard is empty
		writeGroups(t, filepath.Join(shards, names[i]), all[cut[0]:cut[1]], 4)
	}
	paths := map[string]string{
		"lines":   write(t, "a.jsonl", "\n"+strings.Join(lines, "\n\n")),
		"packed":  write(t, "a.jsonl.zst", zstded(t, strings.Join(lines, "\n"))),
		"list":    write(t, "a.json", "["+strings.Join(lines, ",\n")+"]"),
		"parquet": pq,
		"folder":  shards,
	}
	span := func(from, to int) []int {
		out := []int{}
		for i := from; i < to; i++ {
			out = append(out, i)
		}
		return out
	}
	tests := []struct {
		split string
		n     int
		want  []int
	}{
		{"train", 64, span(0, 20)},
		{"train", 4, span(0, 4)},
		{"train[3:5]", 64, span(3, 5)},
		{"train[2:12]", 64, span(2, 12)},
		{"train[7:]", 6, span(7, 13)},
		{"train[11:]", 64, span(11, 20)},
		{"train[19:]", 64, span(19, 20)},
		{"train[15:99]", 64, span(15, 20)},
		{"train[-5:]", 64, span(15, 20)},
		{"train[:-15]", 64, span(0, 5)},
		{"train[25%:50%]", 64, span(5, 10)},
		{"train[18:]+train[:2]", 64, []int{18, 19, 0, 1}},
		{"train[:2]+train[18:]", 3, []int{0, 1, 18}},
		{"train[:2]+train[:2]", 64, []int{0, 1, 0, 1}},
	}
	for kind, path := range paths {
		for _, tt := range tests {
			t.Run(kind+"/"+tt.split, func(t *testing.T) {
				d := byPrompt(path, "question")
				d.Split = tt.split
				set := load(t, d, tt.n)
				if diff := cmp.Diff(tt.want, rowsOf(set.Prompts)); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
				for i, text := range texts(t, set.Prompts) {
					if want := fmt.Sprintf("q%d", set.Prompts[i].Row); text != want {
						t.Errorf("row %d holds %q", set.Prompts[i].Row, text)
					}
				}
				if set.Rows != len(tt.want) {
					t.Errorf("%d rows looked at, want %d", set.Rows, len(tt.want))
				}
			})
		}
		for _, split := range []string{"train[20:]", "train[5:5]", "train[9:3]", "train[:0]", "train[0%:0%]"} {
			t.Run(kind+"/"+split, func(t *testing.T) {
				d := byPrompt(path, "question")
				d.Split = split
				want := "no usable prompts loaded (0 rows, 0 skipped): the split " + split + " holds no rows"
				if got := loadErr(t, t.Context(), d, 3); got != want {
					t.Errorf("error %q, want %q", got, want)
				}
			})
		}
	}
}

func TestSplitErrors(t *testing.T) {
	tests := []struct {
		split string
		want  []string
	}{
		{"test", []string{"a.jsonl", "a single file has only the split train, not test"}},
		{"train+test[:5]", []string{"a single file has only the split train, not test"}},
		{"train[", []string{"a.jsonl", `split "train["`, "name[10:20]"}},
	}
	for _, tt := range tests {
		d := byPrompt(write(t, "a.jsonl", `{"p":"x"}`), "p")
		d.Split = tt.split
		wantParts(t, loadErr(t, t.Context(), d, 64), tt.want...)
	}
	d := byPrompt(write(t, "a.jsonl", `{"p":"x"}`), "p")
	d.Split = ""
	if got := len(load(t, d, 64).Prompts); got != 1 {
		t.Errorf("an empty split gave %d prompts, want those of train", got)
	}
}
