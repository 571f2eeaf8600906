package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/specsweep/specsweep/plan"
)

// TestCheckedInPlans loads every plan of this repository.
func TestCheckedInPlans(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "plans", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d plans: %v", len(files), err)
	}
	for _, file := range files {
		p, err := plan.Load(file, plan.Options{Engines: []string{"llamacpp", "sglang", "vllm"}})
		if err != nil {
			t.Error(err)
			continue
		}
		// The suite on one server at two values of concurrency.
		if got := len(p.Expand()); filepath.Base(file) == "spec_bench.yaml" && got != 8 {
			t.Errorf("%s has %d runs, want 8", file, got)
		}
		// gsm8k at two values of concurrency, house_chat at three, two servers, three repeats.
		if got := len(p.Expand()); filepath.Base(file) == "example.yaml" && got != 30 {
			t.Errorf("%s has %d runs, want 30", file, got)
		}
	}
}

func TestAbsolutePaths(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data", "..", "p.jsonl")
	if err := os.WriteFile(filepath.Clean(data), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := "version: 1\nname: a\nengine: vllm\nservers: [{name: s, server: \"http://h:1\"}]\ndatasets: [{name: d, input_data: '" + data + "'}]\n"
	p, err := plan.Parse(filepath.Join(t.TempDir(), "plan.yaml"), []byte(text), plan.Options{Engines: []string{"vllm"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Datasets[0].InputData, filepath.Clean(data); got != want {
		t.Errorf("InputData %q, want %q", got, want)
	}
}

func ExamplePlan_Expand() {
	src := []byte(`
version: 1
name: example
engine: vllm
servers: [{name: drafter, server: "http://localhost:8000"}]
datasets: [{name: chat, input_data: prompts.jsonl}]
concurrency: [1, 8]
num_prompts: 10x
`)
	p, err := plan.Parse("testdata/good/example.yaml", src, plan.Options{Engines: []string{"vllm"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range p.Expand() {
		fmt.Println(r.Server.Name, r.Dataset.Name, r.Concurrency, r.NumPrompts)
	}
	// Output:
	// drafter chat 1 64
	// drafter chat 8 80
}
