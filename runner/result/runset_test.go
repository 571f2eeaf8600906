package result

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func newRunSet(t *testing.T) *RunSet {
	t.Helper()
	s, err := CreateAt(filepath.Join(t.TempDir(), "set"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func row(index int, id string) Row { return Row{SchemaVersion: 1, RunIndex: index, RunID: id} }

func TestCreate(t *testing.T) {
	root := t.TempDir()
	at := time.Date(2026, 1, 2, 16, 4, 5, 0, time.FixedZone("", 3600))
	for _, want := range []string{"20260102T150405Z-ab12cd", "20260102T150405Z-ab12cd-2", "20260102T150405Z-ab12cd-3"} {
		s, err := Create(root, "demo", at, "ab12cd")
		if err != nil {
			t.Fatal(err)
		}
		if got := filepath.Join(root, "demo", want); s.Dir() != got {
			t.Errorf("folder %s, want %s", s.Dir(), got)
		}
		if info, err := os.Stat(s.LogDir()); err != nil || !info.IsDir() {
			t.Errorf("no folder for logs: %v", err)
		}
	}
	for _, plan := range []string{"", "..", "a/b", ".", "/x"} {
		if _, err := Create(root, plan, at, ""); err == nil {
			t.Errorf("Create took %q as the name of a plan", plan)
		}
	}
}

func TestCreateAtRefusesAFullFolder(t *testing.T) {
	s := newRunSet(t)
	if _, err := CreateAt(s.Dir()); err != nil {
		t.Errorf("CreateAt where a process died before it wrote anything = %v", err)
	}
	if err := s.WriteFile(PlanFile, []byte("version: 1")); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateAt(s.Dir()); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("CreateAt = %v, want an error that says that the folder is not empty", err)
	}
	empty := t.TempDir()
	if _, err := CreateAt(empty); err != nil {
		t.Errorf("CreateAt refuses an empty folder: %v", err)
	}
}

func TestOpen(t *testing.T) {
	s := newRunSet(t)
	if _, err := Open(s.Dir()); err != nil {
		t.Error(err)
	}
	if _, err := Open(s.Dir() + "-no"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of nothing = %v, want fs.ErrNotExist", err)
	}
	file := filepath.Join(s.Dir(), "x")
	if err := WriteFile(file, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil {
		t.Error("Open took a file")
	}
}

func TestAppendAndRead(t *testing.T) {
	s := newRunSet(t)
	full := fullRow(t)
	full.RunIndex = 0
	redone := row(1, "b-r0")
	redone.Dataset = "the second time"
	for _, r := range []Row{row(2, "c-r0"), row(1, "b-r0"), full, redone} {
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	got, problems, err := Read(s.Dir())
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if diff := cmp.Diff([]Row{full, redone, row(2, "c-r0")}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAppendRefusesNaN(t *testing.T) {
	s := newRunSet(t)
	r := row(0, "a-r0")
	r.PerPosition = Floats{math.NaN()}
	if err := s.Append(r); err == nil || !strings.Contains(err.Error(), "acceptance_per_position") {
		t.Errorf("Append = %v, want an error that names the column", err)
	}
}

// TestAppendAfterATornLine appends where a killed process has left half a line.
func TestAppendAfterATornLine(t *testing.T) {
	s := newRunSet(t)
	if err := s.Append(row(0, "a-r0")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir(), RowsFile)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"schema_version":1,"run_id":"b-r0","accept_len`)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	rows, problems, err := Read(s.Dir())
	if err != nil || len(rows) != 1 || len(problems) != 1 || !strings.Contains(problems[0], RowsFile+":2: the last line is cut off") {
		t.Fatalf("Read = %d rows, problems %q, %v, want one row and the torn line named", len(rows), problems, err)
	}
	if err := s.Append(row(1, "b-r0")); err != nil {
		t.Fatal(err)
	}
	rows, problems, err = Read(s.Dir())
	if err != nil || len(rows) != 2 || len(problems) != 1 || !strings.Contains(problems[0], RowsFile+":2: not a row") {
		t.Errorf("Read = %d rows, problems %q, %v, want two rows and line 2 named", len(rows), problems, err)
	}
}

func TestReadRows(t *testing.T) {
	good := `{"schema_version":1,"run_index":3,"run_id":"a-r0"}`
	for _, tt := range []struct {
		name, text string
		rows       int
		problems   []string // parts of
		err        string   // part of
	}{
		{name: "no rows"},
		{name: "blank lines", text: "\n" + good + "\n\n", rows: 1},
		{name: "CRLF", text: good + "\r\n", rows: 1},
		{name: "whole last line without its end", text: good, rows: 1},
		{name: "rubbish in between", text: "\x00\x00\n" + good + "\n", rows: 1, problems: []string{"rows.jsonl:1: not a row"}},
		{name: "no run_id", text: `{"schema_version":1}` + "\n", problems: []string{"no run_id"}},
		{name: "no version", text: "{}\nnull\n", problems: []string{"rows.jsonl:1: not a row and left out: no schema_version", "rows.jsonl:2"}},
		{name: "wrong type", text: `{"schema_version":1,"run_id":"a","speedup":"fast"}` + "\n", problems: []string{"speedup"}},
		{name: "later version", text: good + "\n" + `{"schema_version":2,"run_id":7}` + "\n", problems: nil,
			err: "rows.jsonl:2"},
		{name: "later version says which", text: `{"schema_version":2,"run_id":"a"}`, err: "the row has 2, this specsweep reads 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows, problems, err := readRows("rows.jsonl", strings.NewReader(tt.text))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || len(rows) != tt.rows || len(problems) != len(tt.problems) {
				t.Fatalf("%d rows, problems %q, %v, want %d rows, problems %q", len(rows), problems, err, tt.rows, tt.problems)
			}
			for i, want := range tt.problems {
				if !strings.Contains(problems[i], want) {
					t.Errorf("problem %q, want one with %q", problems[i], want)
				}
			}
		})
	}
}

func TestReadWithoutRows(t *testing.T) {
	if _, _, err := Read(newRunSet(t).Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read = %v, want fs.ErrNotExist", err)
	}
}

func TestWriteReport(t *testing.T) {
	s := newRunSet(t)
	write := func(text string, err error) error {
		return s.WriteReport("results.md", func(w io.Writer) error {
			fmt.Fprint(w, text)
			return err
		})
	}
	if err := write("old", nil); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := write("half", broken); !errors.Is(err, broken) {
		t.Errorf("WriteReport = %v, want the renderer's error", err)
	}
	got, err := os.ReadFile(filepath.Join(s.Dir(), "results.md"))
	if err != nil || string(got) != "old" {
		t.Errorf("file holds %q (%v), want what was there before the failed report", got, err)
	}
	entries, err := os.ReadDir(s.Dir())
	if err != nil || len(entries) != 2 { // results.md and logs
		t.Errorf("%d files (%v), want no temporary ones", len(entries), err)
	}
	if err := WriteFile(filepath.Join(s.Dir(), "no", "file"), nil); err == nil {
		t.Error("WriteFile wrote into a folder that does not exist")
	}
}

func TestManifest(t *testing.T) {
	s := newRunSet(t)
	if _, err := ReadManifest(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadManifest = %v, want fs.ErrNotExist", err)
	}
	ended := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	m := Manifest{
		Plan: "demo", ToolVersion: "0.1.0", Host: Host{OS: "linux", Arch: "amd64", CPUs: 2}, Status: StatusFinished,
		StartedAt: ended.Add(-time.Hour), EndedAt: &ended, Overrides: map[string]string{"repeats": "3"},
		Servers:     []ManifestServer{{Name: "a", Baseline: true, URL: "http://localhost:1", Engine: "vllm", Speculation: map[string]string{"k": "3"}}},
		DatasetAxes: map[string][]string{"d": {"max_new_tokens"}}, Runs: 4,
	}
	if err := s.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	got, err := ReadManifest(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	m.SchemaVersion = SchemaVersion
	if diff := cmp.Diff(m, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for text, want := range map[string]string{`{"schema_version":2}`: "schema_version 2", `{`: "manifest.json"} {
		if err := s.WriteFile(ManifestFile, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadManifest(s.Dir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadManifest of %s = %v, want an error with %q", text, err, want)
		}
	}
}

func FuzzReadRows(f *testing.F) {
	f.Add(`{"schema_version":1,"run_index":3,"run_id":"a-r0","warnings":[{"code":"x","text":"y"}]}` + "\n{")
	f.Add("{}\nnull\n[]\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		rows, _, err := readRows("rows.jsonl", strings.NewReader(text))
		if err != nil {
			return
		}
		var lines []byte
		for _, r := range rows {
			line, err := encodeRow(r)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line...)
		}
		again, problems, err := readRows("rows.jsonl", bytes.NewReader(lines))
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		if diff := cmp.Diff(rows, again); diff != "" {
			t.Errorf("another row after appending and reading (-first +second)\n%s", diff)
		}
	})
}

func TestWarningsInCSV(t *testing.T) {
	for _, tt := range []struct {
		name, cell string
		want       Warnings
	}{
		{"none", "", nil},
		{"two", "a: x; b_2: y", Warnings{{Code: "a", Text: "x"}, {Code: "b_2", Text: "y"}}},
		{"a semicolon in the text", "a: x; y", Warnings{{Code: "a", Text: "x; y"}}},
		{"an address in the text", "a: http://x: y", Warnings{{Code: "a", Text: "http://x: y"}}},
		{"no code", "Something; a: x", Warnings{{Text: "Something"}, {Code: "a", Text: "x"}}},
		{"written without a code", ": x", Warnings{{Text: "x"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got Warnings
			if err := got.UnmarshalCSV(tt.cell); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
