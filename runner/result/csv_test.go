package result

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// inCSV is the row as CSV keeps it: without categories and the columns that
// warnings mark.
func inCSV(rows ...Row) []Row {
	for i, r := range rows {
		var w Warnings
		for _, x := range r.Warnings {
			w = append(w, Warning{Code: x.Code, Text: x.Text})
		}
		rows[i].Warnings, rows[i].Categories = w, nil
	}
	return rows
}

func roundTrip(t *testing.T, rows []Row) (string, []Row) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCSV(&b, rows); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	got, err := ReadCSV(&b)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return text, got
}

func TestCSVRoundTrip(t *testing.T) {
	full := fullRow(t)
	zeros := Row{SchemaVersion: 1, Speedup: ptr(0.0), Completed: ptr(0), OutputTokens: ptr(int64(0))}
	odd := Row{SchemaVersion: 1, Dataset: "a,b\n\"c\"", Model: "@x", Error: "-1", Server: "'=x", Plan: "''", RunID: "'", Engine: "'y",
		Labels: map[string]string{"a b": "+1", "gpu": "x"}, Speedup: ptr(-1.5), AcceptLength: ptr(1e-9), OutputThroughputTokS: ptr(1e21)}
	for _, tt := range []struct {
		name string
		rows []Row
	}{
		{"no rows", nil},
		{"every field set", []Row{full}},
		{"every value nil", []Row{{SchemaVersion: 1}}},
		{"a measured zero stays zero", []Row{zeros}},
		{"texts that look like formulas, quotes, line breaks", []Row{odd}},
		{"labels that not every row has", []Row{full, zeros, odd}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, got := roundTrip(t, tt.rows)
			if diff := cmp.Diff(inCSV(append([]Row(nil), tt.rows...)...), got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWriteCSVCells(t *testing.T) {
	r := Row{SchemaVersion: 1, Server: "=HYPERLINK(1)", Dataset: "+1", Model: "-x", Error: "@cmd", Temperature: -1,
		Labels: map[string]string{"z": "1", "a": "=2"}, PerPosition: Floats{0.8, 0.5}}
	text, _ := roundTrip(t, []Row{r})
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i, name := range records[0] {
		got[name] = records[1][i]
	}
	for name, want := range map[string]string{
		"server": "'=HYPERLINK(1)", "dataset": "'+1", "model": "'-x", "error": "'@cmd",
		"temperature": "-1", "speedup": "", "acceptance_per_position": "0.8;0.5", "label_a": "'=2", "label_z": "1",
	} {
		if got[name] != want {
			t.Errorf("column %s = %q, want %q", name, got[name], want)
		}
	}
	last := records[0][len(records[0])-2:]
	if diff := cmp.Diff([]string{"label_a", "label_z"}, last); diff != "" {
		t.Errorf("label columns are not last and sorted (-want +got)\n%s", diff)
	}
}

// cat results.csv moves no cursor and sets no title, whatever a server has said.
func TestWriteCSVSpellsOutControls(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"escape sequences", "\x1b[2J\x1b]0;t\x07", `\x1b[2J\x1b]0;t\a`},
		{"C1", "a\u009b31mb\u0090", `a\u009b31mb\u0090`},
		{"delete and null", "\x7f\x00", `\x7f\x00`},
		{"bidirectional", "a\u202eb\u2066c\u200fd", `a\u202eb\u2066c\u200fd`},
		{"line breaks and tabs stay", "a\tb\r\nc\rd", "a\tb\nc\nd"},
		{"a formula behind a carriage return", "\r=1", "\n=1"},
		{"8-bit controls", "\x9b31m\xff", "\ufffd31m\ufffd"},
		{"other scripts stay", "模型 ✓ é", "模型 ✓ é"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, rows := roundTrip(t, []Row{{Error: tt.text, Labels: map[string]string{"x" + tt.text: tt.text}}})
			if strings.ContainsFunc(text, obeyed) {
				t.Errorf("%q holds what a terminal obeys", text)
			}
			if got := rows[0].Error; got != tt.want {
				t.Errorf("error = %q, want %q", got, tt.want)
			}
			if diff := cmp.Diff(map[string]string{"x" + tt.want: tt.want}, rows[0].Labels); diff != "" {
				t.Errorf("labels (-want +got)\n%s", diff)
			}
		})
	}
}

func TestWriteCSVRefusesNaN(t *testing.T) {
	err := WriteCSV(&bytes.Buffer{}, []Row{{RunID: "x-r0", Speedup: ptr(math.NaN())}})
	if err == nil || !strings.Contains(err.Error(), "run x-r0: column speedup") {
		t.Errorf("WriteCSV = %v, want an error that names run and column", err)
	}
}

func TestReadCSV(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []Row
		err        string // part of
	}{
		{name: "other order, missing and unknown columns", text: "speedup,later,dataset\n1.5,x,a\n",
			want: []Row{{Dataset: "a", Speedup: ptr(1.5)}}},
		{name: "byte order mark and CRLF", text: "\ufeffdataset,failed\r\na,0\r\n", want: []Row{{Dataset: "a", Failed: ptr(0)}}},
		{name: "blank cells are n/a", text: "dataset,failed,speedup\na, ,\t\n", want: []Row{{Dataset: "a"}}},
		{name: "header only", text: "dataset\n", want: nil},
		{name: "a label", text: "dataset,label_gpu,label_tp\na,H100,\n", want: []Row{{Dataset: "a", Labels: map[string]string{"gpu": "H100"}}}},
		{name: "time left out", text: "dataset,started_at\na,\n", want: []Row{{Dataset: "a"}}},
		{name: "leading zeros are decimal", text: "concurrency\n010\n", want: []Row{{Concurrency: 10}}},
		{name: "empty file", text: "", err: "the file is empty"},
		{name: "a column twice", text: "dataset,speedup,speedup\na,1,2\n", err: `column "speedup" stands there twice`},
		{name: "not whole", text: "dataset,completed\na,1\nb,2.9\n", err: `row 2, column completed: "2.9" is not a whole number`},
		{name: "decimal comma", text: "speedup\n\"1,5\"\n", err: `row 1, column speedup: "1,5" is not a number`},
		{name: "NaN", text: "speedup\nNaN\n", err: "column speedup"},
		{name: "infinite position", text: "acceptance_per_position\n0.5;Inf\n", err: "column acceptance_per_position"},
		{name: "not a time", text: "started_at\nyesterday\n", err: "column started_at"},
		{name: "a line too short", text: "dataset,speedup\na\n", err: "wrong number of fields"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadCSV(strings.NewReader(tt.text))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestCaseR04 reads a CSV in which one speedup was not measured and one is 0, and
// an older one that has no such column.
func TestCaseR04(t *testing.T) {
	for file, want := range map[string][]*float64{
		"results.csv": {ptr(1.5), nil, ptr(0.0)},
		"old.csv":     {nil},
	} {
		f, err := os.Open("testdata/R04/" + file)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := ReadCSV(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		var got []*float64
		for _, r := range rows {
			got = append(got, r.Speedup)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: speedup (-want +got)\n%s", file, diff)
		}
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add("schema_version,dataset,speedup,warnings,label_gpu\n1,a,,x: y; z: w,H100\n")
	f.Add("\ufeffdataset,acceptance_per_position,started_at\n\"'=1\r\n2\",0.8;0.6,2026-01-02T03:04:05.5+01:00\n")
	f.Add("warnings,error\n: x; : y,'''\n")
	f.Add("error,label_\x1b[1m\n\"'\x1b=\u202e\",\x9b\n")
	f.Add("completed,temperature\n-0,-0\n")
	f.Fuzz(func(t *testing.T, text string) {
		first, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			return
		}
		written, second := roundTrip(t, first)
		if diff := cmp.Diff(first, second, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("another row after writing and reading (-first +second)\n%s\n%s", diff, written)
		}
	})
}
