package dataset

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCSV(t *testing.T) {
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{"plain", "a.csv", "id,p\n1,one\n2,two\n", []string{"one", "two"}},
		{"no newline at the end", "a.csv", "id,p\n1,one", []string{"one"}},
		{"BOM and CRLF", "a.csv", "\xef\xbb\xbfp,id\r\none,1\r\n", []string{"one"}},
		{"BOM before a quote", "a.csv", "\xef\xbb\xbf\"p\",id\none,1\n", []string{"one"}},
		{"quoted", "a.csv", "p\n\"a, \"\"b\"\"\nc <&> \u2028\"\n", []string{"a, \"b\"\nc <&> \u2028"}},
		{"numbers are texts", "a.csv", "p\n007\n1e3\ntrue\nnull\n", []string{"007", "1e3", "true", "null"}},
		{"blanks are kept", "a.csv", "p,q\n  x  ,\n", []string{"  x  "}},
		{"empty values are blank prompts", "a.csv", "p,q\n,x\n\"\",x\ny,\n", []string{"y"}},
		{"blank lines are no rows", "a.csv", "\np\n\n\nx\n\n", []string{"x"}},
		{"ending in capitals", "A.CSV", "p\nx\n", []string{"x"}},
		{"TSV", "a.tsv", "p\tq\na, b\tc\n", []string{"a, b"}},
		{"quoted TSV", "a.tsv", "p\tq\n\"a\tb\"\tc\n", []string{"a\tb"}},
		{"packed", "a.tsv.zst", zstded(t, "p\tq\na\tb\n"), []string{"a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := byPrompt(write(t, tt.file, tt.text), "p")
			if diff := cmp.Diff(tt.want, texts(t, load(t, d, 64).Prompts)); diff != "" {
				t.Errorf("prompts (-want +got):\n%s", diff)
			}
			if got := len(load(t, shuffledBy(d, 7), 64).Prompts); got != len(tt.want) {
				t.Errorf("%d prompts shuffled, want %d", got, len(tt.want))
			}
		})
	}
}

func TestBadCSV(t *testing.T) {
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{"too few values", "a.csv", "p,q\n\nx,y\nz\n", []string{"a.csv:4: the row has another number of values (1) than the header (2: p, q)"}},
		{"too many values", "a.csv", "p,q\n\"x\ny\",y\nz,1,2\n", []string{"a.csv:4: the row has another number of values (3) than the header (2: p, q)"}},
		{"one quote", "a.csv", "p,q\nx,y\nsay \"hi\",y\n", []string{"a.csv:3: bad CSV: bare \"", "quote doubled"}},
		{"a quote that is not closed", "a.csv", "p\n\"x\ny\n", []string{"bad CSV", "begins on line 2"}},
		{"a quote in a TSV", "a.tsv", "p\tq\nsay \"hi\"\ty\n", []string{"a.tsv:2: bad TSV"}},
		{"no such column", "a.csv", "question,answer\nx,y\n", []string{`no row has the column "p" of prompt_column (columns: answer, question)`}},
		{"column twice", "a.csv", "p,q,p\nx,y,z\n", []string{`a.csv:1: the column "p" stands twice in the header (columns: p, q, p)`}},
		{"no header", "a.csv", "\n\n", []string{"a.csv: the file has no header"}},
		{"only a header", "a.csv", "p,q\n", []string{"no usable prompts loaded (0 rows, 0 skipped)"}},
		{"not UTF-8", "a.csv", "p\nx\ncaf\xe9\n", []string{"a.csv:3: the text is not UTF-8"}},
		{"header not UTF-8", "a.csv", "p,caf\xe9\nx,y\n", []string{"a.csv:1: the text is not UTF-8"}},
		{"cut gzip", "a.csv.gz", gzipped(t, "p\n"+strings.Repeat("one\n", 20))[:25], []string{"a.csv.gz", "unexpected EOF"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := byPrompt(write(t, tt.file, tt.text), "p")
			wantParts(t, loadErr(t, t.Context(), d, 64), tt.want...)
			wantParts(t, loadErr(t, t.Context(), shuffledBy(d, 1), 64), tt.want...)
			d.ShuffleSeed, d.Split = nil, "train[-64:]"
			loadErr(t, t.Context(), d, 64)
		})
	}
	d := byMessages(write(t, "a.csv", "p,q\nx,y\n"))
	wantParts(t, loadErr(t, t.Context(), d, 1), `a.csv:2: no column "messages" (columns: p, q)`)
}

// FuzzCSV checks that rows are what encoding/csv makes of the text, and that those
// read by their places are the same.
func FuzzCSV(f *testing.F) {
	f.Add("p,q\n1,2\n\n\"a\n,\"\"\",b\r\n")
	f.Add("\xef\xbb\xbfp\n\r\nx\r\n")
	f.Add("p,p\n")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return // refused as an empty file
		}
		path := filepath.Join(t.TempDir(), "f.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		in := file{path: path, format: csvFormat()}
		table, err := in.format.index(t.Context(), in, nil)
		if err != nil {
			return
		}
		defer table.close()
		plain := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, string(utf8BOM))))
		header, err := plain.Read()
		if err != nil {
			t.Fatalf("%q has no header, and no error came: %v", text, err)
		}
		for i := 0; ; i++ {
			values, err := plain.Read()
			if errors.Is(err, io.EOF) {
				if i != table.count() {
					t.Fatalf("%d rows, want %d", table.count(), i)
				}
				return
			}
			if err != nil {
				t.Fatalf("%q is no CSV, and no error came: %v", text, err)
			}
			for r, err := range table.pick(t.Context(), []int{i}) {
				if err != nil {
					if isBadData(err) {
						return // not UTF-8
					}
					t.Fatal(err)
				}
				for k, name := range header {
					var got string
					if err := json.Unmarshal(r.columns[name], &got); err != nil {
						t.Fatal(err)
					}
					if name != "" && got != values[k] {
						t.Fatalf("row %d of %q: %q is %q, want %q", i, text, name, got, values[k])
					}
				}
			}
		}
	})
}
