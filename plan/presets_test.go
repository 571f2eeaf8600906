package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The suite of the scripts that users come from: every field is part of what two
// people compare.
func TestDatasetsLeftOutAreTheSuite(t *testing.T) {
	p := parse(t, head+oneServer+"shuffle_seed: 7\n")
	seed := new(uint64(7))
	want := []Dataset{
		{Name: "mt_bench", InputData: "HuggingFaceH4/mt_bench_prompts", Hub: true, Split: "train", PromptColumn: "prompt", Turns: TurnsFirst, ShuffleSeed: seed},
		{
			Name: "humaneval", InputData: "openai/openai_humaneval", Hub: true, Split: "test", PromptColumn: "prompt", Turns: TurnsFirst,
			MaxNewTokens: new(512), ShuffleSeed: seed,
		},
		{
			Name: "gsm8k", InputData: "openai/gsm8k", Hub: true, DatasetName: "main", Split: "test", PromptColumn: "question", Turns: TurnsFirst,
			ShuffleSeed: seed,
		},
		{
			Name: "alpaca", InputData: "tatsu-lab/alpaca", Hub: true, Split: "train", PromptColumn: "instruction", PromptContextColumn: "input",
			Turns: TurnsFirst, ShuffleSeed: seed,
		},
	}
	if diff := cmp.Diff(want, p.Datasets); diff != "" {
		t.Errorf("datasets (-want +got):\n%s", diff)
	}
}

func TestPresetsAreSound(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			if seen[p.Name] {
				t.Error("two presets of that name")
			}
			seen[p.Name] = true
			if !IsHubID(p.InputData) || p.Source == "" || p.Split == "" || (p.MessagesColumn == "") == (p.PromptColumn == "") {
				t.Errorf("%+v", p)
			}
			got := parse(t, head+oneServer+"datasets: ["+p.Name+"]\n").Datasets
			if diff := cmp.Diff([]Dataset{p.Dataset()}, got); diff != "" {
				t.Errorf("by its bare word (-want +got):\n%s", diff)
			}
		})
	}
}

// A bare word is short for its fields: the ids are those of the mapping.
func TestPresetHasTheIDOfItsFields(t *testing.T) {
	word := parse(t, head+oneServer+"datasets: [\"${WORD:-gsm8k}\"]\n").Expand()[0]
	spelt := parse(t, head+oneServer+"datasets: [{name: gsm8k, input_data: openai/gsm8k, dataset_name: main, split: test, prompt_column: question}]\n").Expand()[0]
	if word.CellID != spelt.CellID {
		t.Errorf("cell %s, spelt out %s", word.Cell, spelt.Cell)
	}
	seeded := parse(t, head+oneServer+"datasets: [gsm8k]\nshuffle_seed: 0\n").Expand()[0]
	if !strings.Contains(string(seeded.Cell), `"server":"s","shuffle_seed":0,`) {
		t.Errorf("the seed is not in the cell %s", seeded.Cell)
	}
}
