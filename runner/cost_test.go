package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner"
)

// A plan costs what its datasets have, every turn counted, and no more than is asked for.
func TestCostWith(t *testing.T) {
	data := filepath.Join(t.TempDir(), "turns.jsonl")
	if err := os.WriteFile(data, []byte(`{"prompt": ["one", "two", "three"]}`+"\n"+`{"prompt": ["one"]}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	baseline := &plan.Endpoint{URL: "http://b"}
	server := &plan.Server{Name: "a", Baseline: baseline}
	for _, tt := range []struct {
		name  string
		d     plan.Dataset
		asked int
		want  int // of the server and the baseline
	}{
		{"fewer than asked", plan.Dataset{InputData: data, PromptColumn: "prompt"}, 5000, 4},
		{"as many as asked", plan.Dataset{InputData: data, PromptColumn: "prompt"}, 1, 2},
		{"turns", plan.Dataset{InputData: data, PromptColumn: "prompt", Turns: plan.TurnsAll}, 5000, 8},
		{"on the Hub", plan.Dataset{InputData: "a/b", Hub: true}, 5000, 10000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.d.Name = "d"
			runs := []plan.Run{{Server: server, Dataset: &tt.d, NumPrompts: tt.asked}}
			got := runner.CostWith(runs, plan.OrderByBlock, runner.CheckDatasets(t.Context(), runs))
			if got.Requests != tt.want || got.ServerPasses != 1 || got.BaselinePasses != 1 {
				t.Errorf("CostWith() = %+v, want %d requests", got, tt.want)
			}
		})
	}
}
