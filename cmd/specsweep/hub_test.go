package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/specsweep/specsweep/runner/dataset/hub/hubtest"
)

type question struct {
	Question string `parquet:"question"`
	Answer   string `parquet:"answer"`
}

// startHub gives a script a Hub at $HF_ENDPOINT that has gsm8k, converted to parquet
// in two configurations, MATH-500 and MT-Bench, as jsonl that nobody converted, and
// a gated set; and a folder of parquet files, house.
func startHub(env *testscript.Env) error {
	var rows []question
	for i := range 20 {
		rows = append(rows, question{fmt.Sprintf("question %d", i), fmt.Sprint(i)})
	}
	var file bytes.Buffer
	if err := parquet.Write(&file, rows); err != nil {
		return err
	}
	test := map[string][]hubtest.Content{"test": {hubtest.Bytes(file.Bytes())}}
	var problems, talks strings.Builder
	for i := range 12 {
		fmt.Fprintf(&problems, `{"problem": "problem %d", "subject": "Algebra"}`+"\n", i)
		fmt.Fprintf(&talks, `{"category": "writing", "prompt": ["turn 1 of %d", "turn 2 of %d"]}`+"\n", i, i)
	}
	h := hubtest.New()
	env.Defer(h.Close)
	h.Add("openai/gsm8k", hubtest.Dataset{Parquet: map[string]map[string][]hubtest.Content{"main": test, "socratic": test}})
	h.Add("HuggingFaceH4/MATH-500", hubtest.Dataset{Files: map[string]hubtest.Content{"test.jsonl": strings.NewReader(problems.String())}})
	h.Add("HuggingFaceH4/mt_bench_prompts", hubtest.Dataset{Files: map[string]hubtest.Content{"prompts.jsonl": strings.NewReader(talks.String())}})
	h.Add("org/gated", hubtest.Dataset{
		Files: map[string]hubtest.Content{"train.jsonl": strings.NewReader(`{"prompt": "secret"}`)}, Gated: true, Accepted: []string{"hf_accepted"},
	})
	env.Setenv("HF_ENDPOINT", h.URL())
	env.Setenv("HF_HOME", filepath.Join(env.WorkDir, "hf"))
	folder := filepath.Join(env.WorkDir, "house")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "train-00000-of-00001.parquet"), file.Bytes(), 0o600)
}
