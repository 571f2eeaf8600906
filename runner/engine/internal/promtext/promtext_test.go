package promtext

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const draftsName = "vllm:spec_decode_num_drafts_total"

// sum parses and adds up one counter.
func sum(body []byte, name string) (int64, error) {
	m, err := Parse(body)
	if err != nil {
		return 0, err
	}
	counts, err := m.Counts(name)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, c := range counts {
		n += c.N
	}
	return n, nil
}

func TestCaseM08ReadWholeOrRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file string
		want int64 // of drafts
		err  string
	}{
		{file: "crlf.txt", want: 30},
		{file: "no_last_newline.txt", want: 30},
		{file: "repeated_type.txt", want: 60},
		{file: "bad_foreign_line.txt", err: "metrics unreadable: text format parsing error in line 2"},
		{file: "openmetrics_exemplar.txt", err: "metrics unreadable: text format parsing error in line 2"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(filepath.Join("testdata", tt.file))
			if err != nil {
				t.Fatal(err)
			}
			m, err := Parse(body)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || m != nil {
					t.Fatalf("Parse = %v, %v; want nothing and %q", m, err, tt.err)
				}
				return
			}
			if got, err := sum(body, draftsName); err != nil || got != tt.want {
				t.Errorf("drafts = %d, %v; want %d", got, err, tt.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       Metrics
		err        string
	}{
		{name: "empty", body: "", want: Metrics{}},
		{name: "comments only", body: "# TYPE x counter\n# x\n  # y\r\n#", want: Metrics{}},
		{name: "exact names, whatever their types", body: "# TYPE x counter\nx_total 1\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_count 2\n# TYPE x gauge\nx_created 1.7e9\n",
			want: Metrics{"x_total": {{map[string]string{}, 1}}, "h_bucket": {{map[string]string{"le": "+Inf"}, 2}},
				"h_count": {{map[string]string{}, 2}}, "x_created": {{map[string]string{}, 1.7e9}}}},
		{name: "escapes and timestamps", body: `x{a="b\"c\n",} 1 1700000000000`, want: Metrics{"x": {{map[string]string{"a": "b\"c\n"}, 1}}}},
		{name: "a page", body: "<!DOCTYPE html>\n<html><body>404</body></html>\n", err: "line 1"},
		{name: "JSON", body: `{"detail":"Not Found"}`, err: "metrics unreadable"},
		{name: "the last line is cut", body: "x 1\ny{a=\"1", err: "line 2"},
		{name: "no value", body: "x 1\ny\n", err: "line 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(tt.body))
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       []Count
		err        string
	}{
		{name: "none", body: "y 1", want: []Count{}},
		{name: "by label set", body: "x{e=\"1\"} 40.0\nx{e=\"0\"} 6e1\n",
			want: []Count{{map[string]string{"e": "0"}, 60}, {map[string]string{"e": "1"}, 40}}},
		{name: "NaN", body: "x NaN", err: "NaN is not a count"},
		{name: "infinite", body: "x +Inf", err: "+Inf is not a count"},
		{name: "negative", body: "x -1", err: "-1 is not a count"},
		{name: "a fraction", body: "x 1.5", err: "1.5 is not a count"},
		{name: "beyond whole numbers", body: "x 1e17", err: "1e+17 is not a count"},
		{name: "one label set twice", body: "x{a=\"1\",b=\"2\"} 1\nx{b=\"2\",a=\"1\"} 1\n", err: `x{a="1",b="2"} stands there twice`},
		{name: "another metric is no count", body: "y NaN\nx 1\n", want: []Count{{map[string]string{}, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := Parse([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Counts("x")
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeyCannotBeForged(t *testing.T) {
	t.Parallel()
	a := Key(map[string]string{"a": `1",b="2`})
	b := Key(map[string]string{"a": "1", "b": "2"})
	if a == b {
		t.Errorf("two label sets share the key %s", a)
	}
	if got := Key(map[string]string{"a": "1", "position": "2"}, "position"); got != `a="1"` {
		t.Errorf("Key without position = %s", got)
	}
}

func TestHasPrefix(t *testing.T) {
	t.Parallel()
	m := Metrics{"vllm_x": nil, "python_info": nil}
	if !m.HasPrefix("vllm:", "vllm_") || m.HasPrefix("vllm:") {
		t.Error("HasPrefix does not look at all of its prefixes, or at more")
	}
}

// FuzzParse: no panic, and the order of the lines does not matter.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, uint64(1))
	}
	f.Add([]byte("{}"), uint64(1))
	f.Add([]byte(`{"x",a="1"} 2`), uint64(2))
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		m, err := Parse(body)
		if err != nil {
			if m != nil {
				t.Fatalf("part of a broken exposition: %v", m)
			}
			return
		}
		lines := bytes.Split(body, []byte("\n"))
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		again, err := Parse(bytes.Join(lines, []byte("\n")))
		if err != nil {
			t.Fatalf("unreadable in another order: %v", err)
		}
		for name := range m {
			counts, err := m.Counts(name)
			other, errOther := again.Counts(name)
			if (err == nil) != (errOther == nil) {
				t.Fatalf("%s: %v in one order, %v in another", name, err, errOther)
			}
			if diff := cmp.Diff(counts, other); diff != "" {
				t.Fatalf("%s in another order:\n%s", name, diff)
			}
		}
	})
}
