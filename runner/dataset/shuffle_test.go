package dataset

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/plan"
)

// shuffledBy is a dataset in the order of a seed.
func shuffledBy(d *plan.Dataset, seed uint64) *plan.Dataset {
	d.ShuffleSeed = &seed
	return d
}

// everyFormat writes the rows q0, q1, … of n questions in every format, and as a
// folder of shards with row groups of 4.
func everyFormat(t *testing.T, n int) map[string]string {
	t.Helper()
	dir := t.TempDir()
	var lines, values []string
	all := questions(n)
	for _, q := range all {
		lines = append(lines, fmt.Sprintf(`{"question":%q}`, q.Question))
		values = append(values, "a,"+q.Question)
	}
	pq, shards := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "shards")
	writeGroups(t, pq, all, 7)
	for i, cut := range [][2]int{{0, 3}, {3, 3}, {3, 11}, {11, n}} { // the second shard is empty
		writeGroups(t, filepath.Join(shards, fmt.Sprintf("train-%05d-of-00004.parquet", i)), all[cut[0]:cut[1]], 4)
	}
	csv := "answer,question\n" + strings.Join(values, "\n")
	return map[string]string{
		"lines":       write(t, "a.jsonl", "\xef\xbb\xbf\n"+strings.Join(lines, "\n \t\n")),
		"lines, CRLF": write(t, "a.jsonl", strings.Join(lines, "\r\n")+"\r\n\u00a0\r\n"),
		"packed":      write(t, "a.jsonl.zst", zstded(t, "\xef\xbb\xbf"+strings.Join(lines, "\n"))),
		"list":        write(t, "a.json", "\xef\xbb\xbf ["+strings.Join(lines, " ,\n")+"]"),
		"packed list": write(t, "a.json.gz", gzipped(t, "["+strings.Join(lines, ",")+"]")),
		"parquet":     pq,
		"folder":      shards,
		"CSV":         write(t, "a.csv", "\xef\xbb\xbf"+csv+"\n"),
		"CSV, blanks": write(t, "a.csv", strings.ReplaceAll(csv, "\n", "\r\n\r\n")),
		"packed CSV":  write(t, "a.csv.gz", gzipped(t, csv)),
		"TSV":         write(t, "a.tsv", strings.ReplaceAll(csv, ",", "\t")),
	}
}

// The rows that numpy's permutations of 20 and fewer rows pick. A plain slice cuts
// the shuffled split; every other form is shuffled after the cut.
func TestShuffleOfEveryFormat(t *testing.T) {
	const n = 20
	all := permuted(t, 42, n)
	of := func(rows []int) []int {
		out := []int{}
		for _, k := range permuted(t, 42, len(rows)) {
			out = append(out, rows[k])
		}
		return out
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
		{"train", 64, all},
		{"train", 5, all[:5]},
		{"train[:]", 64, all},
		{"train[3:9]", 64, all[3:9]},
		{"train[:6]", 4, all[:4]},
		{"train[15:]", 64, all[15:]},
		{"train[15:99]", 64, all[15:]},
		{"train[-6:]", 64, of(span(14, 20))},
		{"train[:-15]", 64, of(span(0, 5))},
		{"train[:25%]", 64, of(span(0, 5))},
		{"train[25%:50%]", 3, of(span(5, 10))[:3]},
		{"train[:5]+train[15:]", 64, of(append(span(0, 5), span(15, 20)...))},
		{"train[4:6]+train[3:7]", 64, of([]int{4, 5, 3, 4, 5, 6})},
	}
	for kind, path := range everyFormat(t, n) {
		for _, tt := range tests {
			t.Run(kind+"/"+tt.split, func(t *testing.T) {
				d := shuffledBy(byPrompt(path, "question"), 42)
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
		for _, split := range []string{"train[20:]", "train[9:3]", "train[:0]", "train[0%:0%]"} {
			t.Run(kind+"/"+split, func(t *testing.T) {
				d := shuffledBy(byPrompt(path, "question"), 42)
				d.Split = split
				wantParts(t, loadErr(t, t.Context(), d, 3), "the split "+split+" holds no rows")
			})
		}
	}
}

// default_rng(42).permutation(10) is 5 6 0 7 3 2 4 9 1 8.
func TestShuffleSkipsRowsInItsOrder(t *testing.T) {
	var lines []string
	for i := range 10 {
		text := fmt.Sprint("p", i)
		if i == 5 || i == 0 || i == 7 {
			text = " "
		}
		lines = append(lines, fmt.Sprintf(`{"p":%q}`, text))
	}
	lines[9] = "{broken"
	path := write(t, "a.jsonl", "\n"+strings.Join(lines, "\n"))
	set := load(t, shuffledBy(byPrompt(path, "p"), 42), 4)
	if diff := cmp.Diff([]int{6, 3, 2, 4}, rowsOf(set.Prompts)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if got, want := set.Summary(), "7 rows, 3 skipped: blank prompt 3"; got != want {
		t.Errorf("Summary() = %q, want %q", got, want)
	}
	wantParts(t, loadErr(t, t.Context(), shuffledBy(byPrompt(path, "p"), 42), 5), path+":11: bad JSON")
}

// Errors of a shuffled set name the same place as those of one in order.
func TestShuffleErrors(t *testing.T) {
	tests := []struct {
		name, file, text string
		messages         bool
		want             []string
	}{
		{"no messages column", "a.jsonl", "\n\n{\"p\":\"x\"}\n", true, []string{`a.jsonl:3: no column "messages"`}},
		{"row of a list", "a.json", "[{\"p\":\"x\"}]", true, []string{`a.json: row 0: no column "messages"`}},
		{"row of a CSV", "a.csv", "p,q\r\n\r\nx,y\r\n", true, []string{`a.csv:3: no column "messages" (columns: p, q)`}},
		{"not UTF-8", "a.csv", "p\nx\n\xff\n", false, []string{"a.csv:3: the text is not UTF-8"}},
		{"no object", "a.jsonl", "{\"p\":\"x\"}\n[]\n", false, []string{"a.jsonl:2: a row is a JSON object"}},
		{"no object in a list", "a.json", "[{\"p\":\"x\"},\n[]]", false, []string{"a.json: row 1: a row is a JSON object"}},
		{"cut list", "a.json", "[{\"p\":\"x\"},\n", false, []string{"a.json:2: the JSON ends too early"}},
		{"cut gzip", "a.jsonl.gz", gzipped(t, strings.Repeat("{\"p\":\"one\"}\n", 20))[:30], false, []string{"a.jsonl.gz", "unexpected EOF"}},
		{"uneven CSV", "a.csv", "p,q\nx,y\nz\n", false, []string{"a.csv:3: the row has another number of values (1) than the header (2: p, q)"}},
		{"another ending", "a.dat", "p\n", false, []string{"for want of a known ending"}},
		{"no parquet", "a.parquet", "PAR1PAR1", false, []string{"a.parquet is no whole parquet file"}},
		{"empty", "a.jsonl", "", false, []string{"a.jsonl: the file is empty"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := byPrompt(write(t, tt.file, tt.text), "p")
			if tt.messages {
				d = byMessages(d.InputData)
			}
			wantParts(t, loadErr(t, t.Context(), shuffledBy(d, 1), 64), tt.want...)
		})
	}
	for _, split := range []string{"test", "train+test[:5]"} {
		d := shuffledBy(byPrompt(write(t, "a.jsonl", `{"p":"x"}`), "p"), 1)
		d.Split = split
		wantParts(t, loadErr(t, t.Context(), d, 1), "has only the split train, not test")
	}
}

// What is unpacked to be shuffled leaves nothing behind.
func TestShuffleRemovesWhatItUnpacked(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	path := filepath.Join(dir, "a.jsonl.gz")
	if err := os.WriteFile(path, []byte(gzipped(t, "{\"p\":\"x\"}\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	load(t, shuffledBy(byPrompt(path, "p"), 1), 1)
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// readsOf counts where a file is read.
type readsOf struct {
	*content
	at []int64
}

func (r *readsOf) ReadAt(p []byte, at int64) (int, error) {
	r.at = append(r.at, at)
	return r.content.ReadAt(p, at)
}

// A few shuffled rows of a parquet file cost the row groups that hold them.
func TestPickReadsOnlyTheRowGroupsOfItsRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	writeGroups(t, path, questions(1000), 100)
	p, err := openParquet(t.Context(), file{path: path}, []string{"question"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	counted := &readsOf{content: p.bytes}
	again, err := openParquetContent(&content{ReaderAt: counted, size: p.bytes.size, close: func() error { return nil }}, path, []string{"question"})
	if err != nil {
		t.Fatal(err)
	}
	counted.at = nil
	want := []int{250, 251, 299, 900}
	got := []int{}
	for r, err := range again.pick(t.Context(), want) {
		if err != nil {
			t.Fatal(err)
		}
		if text := string(r.columns["question"]); text != fmt.Sprintf(`"q%d"`, r.index) {
			t.Errorf("row %d holds %s", r.index, text)
		}
		got = append(got, r.index)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	chunk := func(group int) (from, to int64) {
		for _, c := range p.data.Metadata().RowGroups[group].Columns {
			if c.MetaData.PathInSchema[0] == "question" {
				from = c.MetaData.DataPageOffset
				if c.MetaData.DictionaryPageOffset > 0 {
					from = min(from, c.MetaData.DictionaryPageOffset)
				}
				return from, from + c.MetaData.TotalCompressedSize
			}
		}
		t.Fatalf("no question in row group %d", group)
		return 0, 0
	}
	index := p.data.Metadata().RowGroups[0].Columns[0].OffsetIndexOffset // after all data
	for _, at := range counted.at {
		inWanted := at >= index
		for _, group := range []int{2, 9} {
			from, to := chunk(group)
			inWanted = inWanted || at >= from && at < to
		}
		if !inWanted {
			t.Errorf("read at byte %d, in no wanted row group", at)
		}
	}
	if len(counted.at) == 0 {
		t.Error("nothing was read")
	}
}

func FuzzLineStarts(f *testing.F) {
	f.Add("{}\n\n \u00a0\n{}\r\n\u2003x\n\n")
	f.Add(strings.Repeat("x", 40) + "\n" + strings.Repeat(" ", 40))
	f.Fuzz(func(t *testing.T, text string) {
		starts, err := lineStarts(t.Context(), strings.NewReader(text), 0, int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for lines := newLineReader(strings.NewReader(text)); ; {
			line, err := lines.next(t.Context())
			if err != nil {
				break
			}
			want = append(want, string(line))
		}
		var got []string
		for _, start := range starts {
			line, _, _ := strings.Cut(text[start:], "\n")
			got = append(got, strings.TrimSpace(line))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("lines of %q: %q, want %q", text, got, want)
		}
	})
}

// Lines are found whatever the chunks that they are read in.
func TestLineStartsAcrossChunks(t *testing.T) {
	var text strings.Builder
	var want []int64
	for i := 0; text.Len() < 3*indexChunk; i++ {
		want = append(want, int64(text.Len()))
		fmt.Fprintf(&text, "{\"p\":%q}\n", strings.Repeat("x", i%977))
		text.WriteString(strings.Repeat(" ", i%13) + "\n")
	}
	got, err := lineStarts(t.Context(), strings.NewReader(text.String()), 0, int64(text.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d starts, want %d, or other ones", len(got), len(want))
	}
}

func TestCategory(t *testing.T) {
	rows := `{"p":"a","c":"math"}` + "\n" + `{"p":"b","c":7}` + "\n" + `{"p":"c","c":null}` + "\n" + `{"p":"d"}` + "\n" + `{"p":"e","c":["x"]}`
	d := byPrompt(write(t, "a.jsonl", rows), "p")
	d.CategoryColumn = "c"
	var got []string
	for _, p := range load(t, d, 64).Prompts {
		got = append(got, p.Category)
	}
	if diff := cmp.Diff([]string{"math", "7", "", "", `["x"]`}, got); diff != "" {
		t.Errorf("categories (-want +got):\n%s", diff)
	}
	d.CategoryColumn = "kind"
	wantParts(t, loadErr(t, t.Context(), d, 64), `no row has the column "kind" of category_column (columns: c, p)`)

	pq := filepath.Join(t.TempDir(), "x.parquet")
	writeParquet(t, pq, questions(2))
	d = byPrompt(pq, "question")
	d.CategoryColumn = "answer"
	if got := load(t, d, 1).Prompts[0].Category; got != "a" {
		t.Errorf("category %q, want a", got)
	}
}

func TestMessagesOfAnObjectOfLists(t *testing.T) {
	tests := []struct{ name, in, want, skip string }{
		{"roles", `{"role":["user","assistant"],"content":["q","a"]}`, `[{"content":"q","role":"user"}]`, ""},
		{"ShareGPT", `{"from":["system","human"],"value":["s","q"]}`, `[{"role":"system","content":"s"},{"role":"user","content":"q"}]`, ""},
		{"null fields are not sent", `{"role":["user"],"content":["q"],"tool_calls":[null]}`, `[{"content":"q","role":"user"}]`, ""},
		{"empty", `{"role":[],"content":[]}`, "", skipNoMessages},
		{"uneven", `{"role":["user"],"content":[]}`, "", skipUneven},
		{"no lists", `{"role":"user","content":"q"}`, "", skipNoList},
		{"nothing", `{}`, "", skipNoList},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, skip := messagesOf(json.RawMessage(tt.in))
			if string(got) != tt.want || skip != tt.skip {
				t.Errorf("messagesOf(%s)\n got %s, %q\nwant %s, %q", tt.in, got, skip, tt.want, tt.skip)
			}
		})
	}
}
