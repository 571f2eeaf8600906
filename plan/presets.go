package plan

import (
	"fmt"
	"slices"
)

// Preset is a dataset that a plan may name by a bare word. Its fields are those of
// a datasets entry; what is empty is not set.
type Preset struct {
	Name                string
	InputData           string // org/name on the Hub
	DatasetName         string // configuration; empty: the set has only one
	Split               string
	MessagesColumn      string // exactly one of MessagesColumn and PromptColumn
	PromptColumn        string
	PromptContextColumn string
	CategoryColumn      string
	MaxNewTokens        int    // replaces the axis; 0: does not
	Suite               bool   // of the suite that stands for datasets left out
	Source              string // where the line comes from
}

// referenceSuite is where the first four come from: the built-in suite of NeMo
// Automodel's bench_sweep, field by field.
const referenceSuite = "NeMo Automodel bench_sweep's built-in suite"

// Presets are the built-in datasets, in the order of tables: the suite first. A
// set is in here only when its id, configuration, split and column are public.
//
// They name no revision: what was read stands in the manifest.
func Presets() []Preset {
	return []Preset{
		{Name: "mt_bench", InputData: "HuggingFaceH4/mt_bench_prompts", Split: "train", PromptColumn: "prompt", Suite: true, Source: referenceSuite},
		{Name: "humaneval", InputData: "openai/openai_humaneval", Split: "test", PromptColumn: "prompt", MaxNewTokens: 512, Suite: true, Source: referenceSuite},
		{Name: "gsm8k", InputData: "openai/gsm8k", DatasetName: "main", Split: "test", PromptColumn: "question", Suite: true, Source: referenceSuite},
		{
			Name: "alpaca", InputData: "tatsu-lab/alpaca", Split: "train", PromptColumn: "instruction", PromptContextColumn: "input",
			Suite: true, Source: referenceSuite,
		},
		// The messages are ShareGPT's from and value, which become role and content.
		{Name: "sharegpt", InputData: "Aeala/ShareGPT_Vicuna_unfiltered", Split: "train", MessagesColumn: "conversations", Source: card("Aeala/ShareGPT_Vicuna_unfiltered")},
		{Name: "math500", InputData: "HuggingFaceH4/MATH-500", Split: "test", PromptColumn: "problem", CategoryColumn: "subject", Source: card("HuggingFaceH4/MATH-500")},
		// The column of the configuration full is text; sanitized, which people have
		// checked by hand, has prompt.
		{Name: "mbpp", InputData: "google-research-datasets/mbpp", DatasetName: "sanitized", Split: "test", PromptColumn: "prompt", Source: card("google-research-datasets/mbpp")},
		// The article alone, with no request to sum it up: what is added would be ours.
		{Name: "cnn_dailymail", InputData: "abisee/cnn_dailymail", DatasetName: "3.0.0", Split: "test", PromptColumn: "article", Source: card("abisee/cnn_dailymail")},
	}
}

func card(id string) string { return "https://huggingface.co/datasets/" + id }

// PresetNamed finds a preset.
func PresetNamed(name string) (Preset, bool) {
	presets := Presets()
	i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return presets[i], true
}

func presetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// Dataset is the preset as a plan has it.
func (p Preset) Dataset() Dataset {
	d := Dataset{
		Name: p.Name, InputData: p.InputData, Hub: true, DatasetName: p.DatasetName, Split: p.Split,
		MessagesColumn: p.MessagesColumn, PromptColumn: p.PromptColumn, PromptContextColumn: p.PromptContextColumn,
		CategoryColumn: p.CategoryColumn, Turns: TurnsFirst,
	}
	if p.MaxNewTokens > 0 {
		d.MaxNewTokens = &p.MaxNewTokens
	}
	return d
}

// id is what goes into cell ids: the same as of a mapping with these fields, so a
// preset whose line changes in a later version is another cell.
func (p Preset) id() datasetID {
	set := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return identify(datasetYAML{
		Name: &p.Name, InputData: &p.InputData, DatasetName: set(p.DatasetName), Split: &p.Split,
		MessagesColumn: set(p.MessagesColumn), PromptColumn: set(p.PromptColumn),
		PromptContextColumn: set(p.PromptContextColumn), CategoryColumn: set(p.CategoryColumn),
	})
}

// preset appends a preset. It is the set on the Hub even where a folder of that
// name exists: the word means the same on every machine.
func (l *loader) preset(at string, p Preset, first map[string]string) {
	checkName(l.doc, at, &p.Name, first)
	d := p.Dataset()
	d.ShuffleSeed = (*uint64)(l.file.ShuffleSeed)
	l.plan.Datasets = append(l.plan.Datasets, d)
	l.datasetIDs = append(l.datasetIDs, p.id())
}

// suite are the entries that stand for datasets left out.
func suite() []datasetEntryYAML {
	var entries []datasetEntryYAML
	for _, p := range Presets() {
		if p.Suite {
			entries = append(entries, datasetEntryYAML{preset: &p})
		}
	}
	return entries
}

// unknownPreset says of a bare word that it names no preset.
func unknownPreset(word string) string {
	return fmt.Sprintf("no preset %q %s; a dataset of your own is a mapping with name and input_data", clip(word), unknown(word, presetNames()))
}
