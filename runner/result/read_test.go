package result

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Rows of cells that nobody asks for any more are of a plan that has changed.
func TestReadLeavesOtherCellsOut(t *testing.T) {
	ok, failed := Row{RunID: "ok", CellID: "a"}, Row{RunID: "failed", CellID: "b", Error: "x"}
	for _, tt := range []struct {
		name  string
		cells []string // of the manifest; nil: no manifest
		want  []string // run_ids
	}{
		{"no manifest", nil, []string{"ok", "failed"}},
		{"a manifest without cells", []string{}, []string{"ok", "failed"}},
		{"both asked for", []string{"a", "b"}, []string{"ok", "failed"}},
		{"the failed one no longer", []string{"a"}, []string{"ok"}},
		{"the ok one no longer", []string{"b"}, []string{"failed"}},
		{"none of them", []string{"c"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := &RunSet{dir: t.TempDir()}
			for _, r := range []Row{ok, failed} {
				r.SchemaVersion = SchemaVersion
				if err := set.Append(r); err != nil {
					t.Fatal(err)
				}
			}
			if tt.cells != nil {
				m := Manifest{Cells: map[string]json.RawMessage{}}
				for _, id := range tt.cells {
					m.Cells[id] = json.RawMessage("{}")
				}
				if err := set.WriteManifest(m); err != nil {
					t.Fatal(err)
				}
			}
			rows, problems, err := Read(set.Dir())
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			var got []string
			for _, r := range rows {
				got = append(got, r.RunID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A folder with a manifest alone is a run-set that ended before its first row.
func TestReadManifestAlone(t *testing.T) {
	set := &RunSet{dir: t.TempDir()}
	if err := set.WriteManifest(Manifest{}); err != nil {
		t.Fatal(err)
	}
	if rows, problems, err := Read(set.Dir()); err != nil || len(rows)+len(problems) > 0 {
		t.Errorf("got %v, %v, %v", rows, problems, err)
	}
	if err := os.Remove(filepath.Join(set.Dir(), ManifestFile)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(set.Dir()); err == nil {
		t.Error("a folder without a manifest is taken for a run-set")
	}
}
