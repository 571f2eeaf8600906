package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

func TestShellWords(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		words      []string
	}{
		{"plain", "specsweep run plans/demo.yaml --repeats 3", []string{"specsweep", "run", "plans/demo.yaml", "--repeats", "3"}},
		{"a blank", "run 'my plan.yaml'", []string{"run", "my plan.yaml"}},
		{"a quote", `run 'it'\''s'`, []string{"run", "it's"}},
		{"a variable stays one", "echo '$HOME'", []string{"echo", "$HOME"}},
		{"empty", "run ''", []string{"run", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := shellWords(tt.words); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestServersWithoutAManifest takes them from the rows, each once.
func TestServersWithoutAManifest(t *testing.T) {
	rows := []result.Row{run("a", "d", 8, 0, 10), run("a", "e", 8, 0, 10), run("b", "d", 8, 0, 10)}
	rows[2].BaselineEngine = ""
	var got [][]string
	for _, l := range servers(NewSet(rows, result.Manifest{})).Lines {
		got = append(got, []string{l[0].Text, l[1].Text, l[2].Text, l[4].Text})
	}
	want := [][]string{
		{"a", "server", table.NotAvailable, "0.32.0"}, {"a", "baseline_server", table.NotAvailable, "0.32.0"}, {"b", "server", table.NotAvailable, "0.32.0"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
