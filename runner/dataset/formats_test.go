package dataset

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func zstded(t testing.TB, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

func TestFormats(t *testing.T) {
	const (
		lines = "{\"p\":\"one\"}\n{\"p\":\"two\"}\n"
		list  = "[\n {\"p\": \"one\"},\n {\"p\": \"two\"}\n]\n"
	)
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{"jsonl", "a.jsonl", lines, []string{"one", "two"}},
		{"ndjson", "a.ndjson", lines, []string{"one", "two"}},
		{"ending in capitals", "A.JSONL", lines, []string{"one", "two"}},
		{"no newline at the end", "a.jsonl", strings.TrimSpace(lines), []string{"one", "two"}},
		{"CRLF", "a.jsonl", strings.ReplaceAll(lines, "\n", "\r\n"), []string{"one", "two"}},
		{"BOM", "a.jsonl", "\xef\xbb\xbf" + lines, []string{"one", "two"}},
		{"blank lines", "a.jsonl", "\n  \n" + strings.ReplaceAll(lines, "\n", "\n\t\r\n"), []string{"one", "two"}},
		{"gzip", "a.jsonl.gz", gzipped(t, lines), []string{"one", "two"}},
		{"gzip of two members", "a.jsonl.gz", gzipped(t, lines) + gzipped(t, lines), []string{"one", "two", "one", "two"}},
		{"zstd", "a.ndjson.zst", zstded(t, lines), []string{"one", "two"}},
		{"gzip with BOM", "a.jsonl.gz", gzipped(t, "\xef\xbb\xbf"+lines), []string{"one", "two"}},
		{"list", "a.json", list, []string{"one", "two"}},
		{"list with BOM", "a.json", "\xef\xbb\xbf\n " + list, []string{"one", "two"}},
		{"packed list", "a.json.gz", gzipped(t, list), []string{"one", "two"}},
		{"one row", "a.json", "{\"p\":\n\"one\"}", []string{"one"}},
		{"another ending", "a.txt", list, []string{"one", "two"}},
		{"no ending", "data", list, []string{"one", "two"}},
		{"packed, another ending", "a.dat.zst", zstded(t, list), []string{"one", "two"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := load(t, byPrompt(write(t, tt.file, tt.text), "p"), 64)
			if diff := cmp.Diff(tt.want, texts(t, set.Prompts)); diff != "" {
				t.Errorf("prompts (-want +got):\n%s", diff)
			}
			for i, p := range set.Prompts {
				if p.Row != i {
					t.Errorf("prompt %d is of row %d", i, p.Row)
				}
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	cut := gzipped(t, strings.Repeat("{\"p\":\"one\"}\n", 20))
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{"empty", "a.jsonl", "", []string{"a.jsonl: the file is empty (0 bytes)"}},
		{"bad line", "a.jsonl", "{\"p\":\"\"}\n\n{\"p\":\n", []string{"a.jsonl:3: bad JSON: unexpected end"}},
		{"two values on a line", "a.jsonl", "{\"p\":\"\"} {}\n", []string{"a.jsonl:1: bad JSON", "after top-level value"}},
		{"a list on a line", "a.jsonl", "[{\"p\":\"\"}]\n", []string{"a.jsonl:1: a row is a JSON object, this is a JSON array"}},
		{"null on a line", "a.jsonl", "null\n", []string{"a.jsonl:1: a row is a JSON object, this is null"}},
		{"not UTF-8", "a.jsonl", "{\"p\":\"\"}\n{\"p\":\"caf\xe9\"}\n", []string{"a.jsonl:2: the text is not UTF-8"}},
		{"list: not UTF-8", "a.json", "[{\"p\":\"\"},\n{\"p\":\"caf\xe9\"}]", []string{"a.json: row 1: the text is not UTF-8"}},
		{"list: row of another kind", "a.json", "[{\"p\":\"\"},\n7]", []string{"a.json: row 1: a row is a JSON object, this is a JSON number"}},
		{"list: bad JSON", "a.json", "[\n{\"p\":\"\"},\n{\"p\": x}\n]", []string{"a.json:3: bad JSON: invalid character 'x'"}},
		{"list: no comma", "a.json", "[\n{\"p\":\"\"}\n\n{\"p\":\"\"}\n]", []string{"a.json:4: bad JSON"}},
		{"list: cut in a row", "a.json", "[\n{\"p\":\"\"},\n{\"p\":", []string{"a.json:3: the JSON ends too early, the file may be cut"}},
		{"list: cut between rows", "a.json", "[\n{\"p\":\"\"}", []string{"a.json:2: the JSON ends too early"}},
		{"list: more after it", "a.json", "[\n{\"p\":\"\"}]\n{}", []string{"a.json:3: more follows"}},
		{"lines named JSON", "a.json", "\n{\"p\":\"one\"}\n{\"p\":\"two\"}\n", []string{"a.json:3: more follows", ".jsonl"}},
		{"neither list nor row", "a.json", "\n\"text\"", []string{"a.json:2: bad JSON: it must be a list of rows"}},
		{"blanks only", "a.json", " \n\n", []string{"a.json:3: the file holds no JSON, only blanks"}},
		{"another ending", "a.dat", "p,q\n1,2\n", []string{"a.dat:1: bad JSON", "for want of a known ending: .jsonl .ndjson .json .parquet .csv .tsv"}},
		{"no gzip", "a.jsonl.gz", "{\"p\":\"one\"}\n", []string{"a.jsonl.gz", "gzip: invalid header"}},
		{"cut gzip", "a.jsonl.gz", cut[:len(cut)-10], []string{"a.jsonl.gz", "unexpected EOF"}},
		{"cut gzip of a list", "a.json.gz", gzipped(t, "[{\"p\":\"\"}]")[:20], []string{"a.json.gz"}},
		{"no zstd", "a.jsonl.zst", "{\"p\":\"one\"}\n", []string{"a.jsonl.zst", "magic number mismatch"}},
		{"packed parquet", "a.parquet.gz", gzipped(t, "PAR1"), []string{"a.parquet.gz: a packed parquet file cannot be read"}},
		{"not parquet", "a.parquet", "{\"p\":\"one\"}\n{\"p\":\"one\"}\n", []string{"a.parquet is no whole parquet file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := loadErr(t, t.Context(), byPrompt(write(t, tt.file, tt.text), "p"), 64)
			wantParts(t, got, tt.want...)
		})
	}
	t.Run("missing", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "none.jsonl")
		_, err := Load(t.Context(), byPrompt(path, "p"), 1, Options{})
		wantParts(t, fmt.Sprint(err), path, "reading prompts")
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want fs.ErrNotExist", err)
		}
	})
}

// The first prompts of a file cost no look at the rest of it.
func TestReadsNoFurtherThanItMust(t *testing.T) {
	tests := []struct{ name, file, text string }{
		{"lines", "a.jsonl", "{\"p\":\"one\"}\n{\"p\":\"two\"}\n{broken\n"},
		{"list", "a.json", "[{\"p\":\"one\"},{\"p\":\"two\"},{broken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := byPrompt(write(t, tt.file, tt.text), "p")
			if diff := cmp.Diff([]string{"one", "two"}, texts(t, load(t, d, 2).Prompts)); diff != "" {
				t.Errorf("prompts (-want +got):\n%s", diff)
			}
			d.Split = "train[:2]"
			if diff := cmp.Diff([]string{"one", "two"}, texts(t, load(t, d, 64).Prompts)); diff != "" {
				t.Errorf("prompts of the slice (-want +got):\n%s", diff)
			}
			d.Split = "train"
			wantParts(t, loadErr(t, t.Context(), d, 3), tt.file)
		})
	}
}

func TestFormatNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats() {
		for _, name := range append(f.Extensions, f.Name) {
			if seen[name] {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
		}
	}
}
