package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/result"
)

func TestMerge(t *testing.T) {
	one := func(name, server string) Set {
		s := NewSet(numbered(run(server, "gsm8k", 8, 0, 10)), result.Manifest{
			Plan: "demo", Runs: 1, Status: result.StatusFinished, Servers: []result.ManifestServer{{Name: server}},
		})
		s.Name = name
		return s
	}
	for _, tt := range []struct {
		name string
		sets []Set
		want []string
	}{
		{"none", nil, nil},
		{"one stays as it is", []Set{one("mon", "s")}, []string{"s"}},
		{"names of their own", []Set{one("mon", "a"), one("tue", "b")}, []string{"a", "b"}},
		{"one name", []Set{one("mon", "s"), one("tue", "s")}, []string{"s (mon)", "s (tue)"}},
		{"one name and one folder", []Set{one("mon", "s"), one("mon", "s")}, []string{"s (mon, set 1)", "s (mon, set 2)"}},
		{"no folder", []Set{one("", "s"), one("tue", "s")}, []string{"s (set 1)", "s (tue)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := Merge(tt.sets)
			var rows, servers []string
			for i, r := range m.Rows {
				rows = append(rows, r.Server)
				if r.RunIndex != i {
					t.Errorf("row %d has run_index %d", i, r.RunIndex)
				}
			}
			for _, s := range m.Manifest.Servers {
				servers = append(servers, s.Name)
			}
			if diff := cmp.Diff(tt.want, rows); diff != "" {
				t.Errorf("servers of the rows (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, servers); diff != "" {
				t.Errorf("servers of the manifest (-want +got)\n%s", diff)
			}
			for _, s := range tt.sets {
				if s.Rows[0].Server != "s" && s.Rows[0].Server != "a" && s.Rows[0].Server != "b" {
					t.Errorf("merging renamed the set's own row to %q", s.Rows[0].Server)
				}
			}
		})
	}
}

func TestMergedManifest(t *testing.T) {
	set := func(plan, status string, runs int, axes ...string) Set {
		return Set{Manifest: result.Manifest{Plan: plan, Status: status, Runs: runs, DatasetAxes: map[string][]string{"d": axes}}, MinEffect: 0.01}
	}
	for _, tt := range []struct {
		name string
		sets []Set
		want result.Manifest
	}{
		{"one plan", []Set{set("p", result.StatusFinished, 2), set("p", result.StatusFinished, 3)}, result.Manifest{Plan: "p", Runs: 5}},
		{"two plans, one interrupted", []Set{set("p", result.StatusFinished, 2, "num_prompts"), set("q", result.StatusInterrupted, 3, "num_prompts")},
			result.Manifest{Plan: "p, q", Runs: 5, Status: result.StatusInterrupted, DatasetAxes: map[string][]string{"d": {"num_prompts"}}}},
		{"runs of one not known", []Set{set("p", "", 0), set("p", result.StatusFinished, 3)}, result.Manifest{Plan: "p"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Merge(tt.sets).Manifest
			if len(got.DatasetAxes) == 0 {
				got.DatasetAxes = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestMergedSetsAreTabled has one server in two sets, told apart, with a label as
// the axis.
func TestMergedSetsAreTabled(t *testing.T) {
	var sets []Set
	for i, step := range []string{"1000", "2000"} {
		r := run("drafter", "gsm8k", 8, 0, float64(10-i))
		r.Labels = map[string]string{"step": step}
		s := NewSet(numbered(r), result.Manifest{Plan: "demo"})
		s.Name = "run|" + step
		sets = append(sets, s)
	}
	text := render(t, "markdown", Merge(sets))
	checkTables(t, text)
	for _, want := range []string{`drafter (run\|1000)`, `drafter (run\|2000)`, "By label step"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestCaseR07 reads a run-set that a killed process has left: two of four rows and
// half of a third.
func TestCaseR07(t *testing.T) {
	dir := t.TempDir()
	text := `{"schema_version":1,"plan":"demo","run_index":0,"run_id":"a","cell_id":"a","server":"s","dataset":"a","concurrency":8}
{"schema_version":1,"plan":"demo","run_index":1,"run_id":"b","cell_id":"b","server":"s","dataset":"b","concurrency":8}
{"schema_version":1,"plan":"demo","run_index":2,"run_id":"c","accept_len`
	if err := os.WriteFile(filepath.Join(dir, result.RowsFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	rows, problems, err := result.Read(dir)
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0], result.RowsFile+":3") {
		t.Fatalf("Read: problems %q, error %v, want the third line named", problems, err)
	}
	for _, status := range []string{result.StatusRunning, result.StatusInterrupted} {
		set := NewSet(rows, result.Manifest{Plan: "demo", Runs: 4, Status: status})
		for _, format := range []string{"markdown", "terminal"} {
			if got := render(t, format, set); !strings.Contains(got, status+": 2 of 4 runs made") {
				t.Errorf("%s as %s does not say that the run was cut\n%s", status, format, got)
			}
		}
		if n := strings.Count(render(t, "csv", set), "\n"); n != 3 {
			t.Errorf("the CSV has %d lines, want a header and 2 rows", n)
		}
	}
}
