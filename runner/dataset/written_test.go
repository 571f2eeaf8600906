package dataset

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The same five rows as pyarrow 26 and duckdb write them: with the element names
// of old pyarrow (item) and of today, with and without dictionaries, page versions
// 1 and 2, and every codec that is read. The values are those put in.
func TestParquetAsOthersWriteIt(t *testing.T) {
	files := []string{"pyarrow_item_gzip", "pyarrow_brotli_v2", "pyarrow_zstd", "duckdb_snappy"}
	messages := []struct {
		column string
		want   []string
	}{
		{"messages", []string{
			`[{"content":"s","role":"system"},{"content":"q0 <ü>","role":"user"}]`,
			`[{"content":"q1","role":"user"},{"role":"assistant","tool_calls":[{"args":"{}","id":"1"},{"id":"2"}]},{"content":"r","name":"f","role":"tool"}]`,
			`[{"content":"q4","role":"user"}]`,
		}},
		{"parts", []string{
			`[{"content":[{"text":"p0","type":"text"},{"text":"more","type":"text"}],"role":"user"}]`,
			`[{"content":[{"text":"p1","type":"text"}],"role":"user"}]`,
			`[{"content":[],"role":"user"}]`,
		}},
		{"conversations", []string{
			`[{"role":"user","content":"c0"}]`,
			`[{"role":"system","content":"s"},{"role":"user","content":"c1"}]`,
			`[{"role":"assistant","content":"a"},{"role":"user","content":"c4"}]`,
		}},
	}
	prompts := []struct {
		column, context string
		want            []string
	}{
		{"turns", "", []string{"t0", "t1", "t4"}},
		{"question", "", []string{"d0", "d0", "d3", "d4"}},
		{"question", "context", []string{"d0", "d0", "d3\n\nk3", "d4"}},
	}
	for _, name := range files {
		path := filepath.Join("testdata/formats", name+".parquet")
		for _, tt := range messages {
			t.Run(name+"/"+tt.column, func(t *testing.T) {
				d := byMessages(path)
				d.MessagesColumn = tt.column
				var got []string
				for _, p := range load(t, d, 64).Prompts {
					got = append(got, string(p.Messages))
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
				// In another order, by row numbers, the same rows hold the same.
				shuffled := load(t, shuffledBy(d, 3), 64)
				for _, p := range shuffled.Prompts {
					at := map[int]int{0: 0, 1: 1, 4: 2}[p.Row]
					if diff := cmp.Diff(tt.want[at], string(p.Messages)); diff != "" {
						t.Errorf("row %d shuffled (-want +got):\n%s", p.Row, diff)
					}
				}
				if len(shuffled.Prompts) != len(tt.want) {
					t.Errorf("%d prompts shuffled, want %d", len(shuffled.Prompts), len(tt.want))
				}
			})
		}
		for _, tt := range prompts {
			t.Run(name+"/"+tt.column+tt.context, func(t *testing.T) {
				d := byPrompt(path, tt.column)
				d.PromptContextColumn, d.CategoryColumn = tt.context, "category"
				set := load(t, d, 64)
				if diff := cmp.Diff(tt.want, texts(t, set.Prompts)); diff != "" {
					t.Errorf("prompts (-want +got):\n%s", diff)
				}
				categories := map[int]string{0: "math", 1: "code", 2: "math", 4: "code"}
				for _, p := range set.Prompts {
					if p.Category != categories[p.Row] {
						t.Errorf("row %d is of category %q, want %q", p.Row, p.Category, categories[p.Row])
					}
				}
			})
		}
	}
}

func TestParquetCodecThatIsNotRead(t *testing.T) {
	d := byPrompt("testdata/formats/pyarrow_lz4.parquet", "question")
	wantParts(t, loadErr(t, t.Context(), d, 1), "pyarrow_lz4.parquet", `column "question" is compressed with LZ4_RAW`, "zstd or snappy")
	wantParts(t, loadErr(t, t.Context(), shuffledBy(d, 1), 1), "pyarrow_lz4.parquet", `column "question" is compressed with LZ4_RAW`)
}
