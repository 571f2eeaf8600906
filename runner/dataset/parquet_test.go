package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

type qa struct {
	Question string `parquet:"question"`
	Answer   string `parquet:"answer"`
}

// turn has the fields of a chat message that not every message uses.
type turn struct {
	Role      *string  `parquet:"role,optional"`
	Content   *string  `parquet:"content,optional"`
	ToolCalls []call   `parquet:"tool_calls,optional,list"`
	Weight    *float64 `parquet:"weight,optional"`
}

type call struct {
	ID   string  `parquet:"id"`
	Args *string `parquet:"args,optional"`
}

type chat struct {
	Messages []turn `parquet:"messages,optional,list"`
}

func writeParquet[T any](t testing.TB, path string, rows []T, options ...parquet.WriterOption) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(path, rows, options...); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// questions are n rows q0, q1, …
func questions(n int) []qa {
	rows := make([]qa, n)
	for i := range rows {
		rows[i] = qa{Question: fmt.Sprintf("q%d", i), Answer: "a"}
	}
	return rows
}

func TestParquetCodecs(t *testing.T) {
	codecs := map[string]compress.Codec{
		"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "brotli": &parquet.Brotli,
	}
	for name, codec := range codecs {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.parquet")
			writeParquet(t, path, questions(100), parquet.Compression(codec), parquet.MaxRowsPerRowGroup(7))
			set := load(t, byPrompt(path, "question"), 1000)
			if len(set.Prompts) != 100 || set.Prompts[99].Row != 99 {
				t.Fatalf("%d prompts, want 100, the last of row 99", len(set.Prompts))
			}
			for i, text := range texts(t, set.Prompts) {
				if want := fmt.Sprintf("q%d", i); text != want {
					t.Fatalf("prompt %d = %q, want %q", i, text, want)
				}
			}
		})
	}
	t.Run("LZ4 is refused by name", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.parquet")
		writeParquet(t, path, questions(3), parquet.Compression(&parquet.Lz4Raw))
		wantParts(t, loadErr(t, t.Context(), byPrompt(path, "question"), 3), path, "LZ4_RAW", "question")
	})
	t.Run("only the columns that are read count", func(t *testing.T) {
		type mixed struct {
			Question string `parquet:"question,snappy"`
			Extra    string `parquet:"extra,lz4"`
		}
		path := filepath.Join(t.TempDir(), "x.parquet")
		writeParquet(t, path, []mixed{{"q", "e"}})
		if diff := cmp.Diff([]string{"q"}, texts(t, load(t, byPrompt(path, "question"), 3).Prompts)); diff != "" {
			t.Errorf("prompts (-want +got):\n%s", diff)
		}
	})
}

func TestParquetMessageFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	user, assistant, tool, hi, nan := "user", "assistant", "tool", "a < b & ü", math.NaN()
	args := "{}"
	writeParquet(t, path, []chat{{Messages: []turn{
		{Role: &user, Content: &hi, Weight: &nan},
		{Role: &assistant, ToolCalls: []call{{ID: "1", Args: &args}, {ID: "2"}}},
		{Role: &tool, Content: &hi},
		{Role: &assistant, Content: &hi},
	}}})
	want := `[{"content":"a < b & ü","role":"user"},` +
		`{"role":"assistant","tool_calls":[{"args":"{}","id":"1"},{"id":"2"}]},` +
		`{"content":"a < b & ü","role":"tool"}]`
	if got := string(load(t, byMessages(path), 1).Prompts[0].Messages); got != want {
		t.Errorf("messages = %s\nwant %s", got, want)
	}
}

func TestParquetColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	writeParquet(t, path, questions(3))
	t.Run("no messages column", func(t *testing.T) {
		wantParts(t, loadErr(t, t.Context(), byMessages(path), 1), path, `no column "messages"`, "question", "answer")
	})
	t.Run("no prompt column", func(t *testing.T) {
		_, err := Load(t.Context(), byPrompt(path, "qestion"), 1, Options{})
		want := `no usable prompts loaded (3 rows, 3 skipped: no column "qestion" 3): ` + path +
			`: no row has the column "qestion" of prompt_column (columns: answer, question)`
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	})
	t.Run("no rows", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "none.parquet")
		writeParquet(t, path, []qa{})
		want := "no usable prompts loaded (0 rows, 0 skipped): the split train holds no rows"
		if got := loadErr(t, t.Context(), byPrompt(path, "question"), 1); got != want {
			t.Errorf("error %q, want %q", got, want)
		}
	})
	t.Run("binary that is no text", func(t *testing.T) {
		type blob struct {
			Question []byte `parquet:"question"`
		}
		path := filepath.Join(t.TempDir(), "blob.parquet")
		writeParquet(t, path, []blob{{[]byte("text")}, {[]byte{0xff}}})
		wantParts(t, loadErr(t, t.Context(), byPrompt(path, "question"), 2), path, "row 1", "not UTF-8")
		if diff := cmp.Diff([]string{"text"}, texts(t, load(t, byPrompt(path, "question"), 1).Prompts)); diff != "" {
			t.Errorf("prompts before the fault (-want +got):\n%s", diff)
		}
	})
}

// A file whose footer is whole and whose pages are not must not be half a
// dataset, nor end the program.
func TestParquetBrokenPages(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "x.parquet")
	writeParquet(t, whole, questions(50), parquet.Compression(&parquet.Snappy))
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4; i < len(data)/3; i++ {
		data[i] ^= 0x5a
	}
	path := write(t, "broken.parquet", string(data))
	wantParts(t, loadErr(t, t.Context(), byPrompt(path, "question"), 50), path)
}

// writeGroups writes row groups of that many rows.
func writeGroups(t testing.TB, path string, rows []qa, size int64) {
	t.Helper()
	writeParquet(t, path, rows, parquet.MaxRowsPerRowGroup(size))
}

// longGroup claims more rows than its pages hold.
type longGroup struct{ parquet.RowGroup }

func (g longGroup) NumRows() int64 { return g.RowGroup.NumRows() + 1 }

func TestParquetGroupThatEndsEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	writeParquet(t, path, questions(3))
	p, err := openParquet(t.Context(), file{path: path}, []string{"question", "answer"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	rows := 0
	var last error
	p.readGroup(t.Context(), longGroup{p.data.RowGroups()[0]}, 0, 0, func(_ row, err error) bool {
		if last = err; err == nil {
			rows++
		}
		return true
	})
	if rows != 3 || !errors.Is(last, io.ErrUnexpectedEOF) {
		t.Errorf("%d rows, then %v; want 3 and an unexpected end", rows, last)
	}
}

func TestGuardTurnsAPanicIntoAnError(t *testing.T) {
	err := guard(func() error { panic("index out of range") })
	if err == nil {
		t.Fatal("no error")
	}
	wantParts(t, err.Error(), "broken parquet data: index out of range")
}
