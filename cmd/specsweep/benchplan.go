package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/specdec"
)

// benchFlags are the Python scripts' flags, by their names and with their
// defaults.
type benchFlags struct {
	engine, server, baseline, model string
	inputData, datasetsConfig       string
	datasets                        []string
	messagesColumn, promptColumn    string
	promptContextColumn, split      string
	numPrompts, concurrency         int
	maxNewTokens, maxRetries        int
	numSteps                        int
	temperature, topP, timeoutS     float64
	outputJSON, writePlan           string
	datasetName                     string
	shuffleSeed                     seedFlag
}

func (b *benchFlags) add(f *pflag.FlagSet) {
	f.StringVar(&b.engine, "engine", "", "vllm, sglang or llamacpp (required)")
	f.StringVar(&b.server, "server", "", "URL of the server with speculation (required)")
	f.StringVar(&b.baseline, "baseline-server", "", "URL of the server without; gives the speedup")
	f.StringVar(&b.model, "model", "", "name of the served model (required)")
	f.StringVar(&b.inputData, "input-data", "", "file or folder with prompts, or org/name on the Hub: one dataset")
	f.StringVar(&b.datasetsConfig, "datasets-config", "", "YAML file with a datasets: list: a suite")
	f.StringArrayVar(&b.datasets, "datasets", nil, "of the suite, only these")
	f.StringVar(&b.messagesColumn, "messages-column", "messages", "column with lists of messages")
	f.StringVar(&b.promptColumn, "prompt-column", "", "column with a prompt; replaces --messages-column")
	f.StringVar(&b.promptContextColumn, "prompt-context-column", "", "column appended to the prompt after a blank line")
	f.StringVar(&b.split, "split", "train", "split, with or without a slice: train[:100]")
	f.StringVar(&b.datasetName, "dataset-name", "", "configuration of a Hub dataset")
	f.Var(&b.shuffleSeed, "shuffle-seed", "shuffle the rows as Hugging Face datasets does with this seed")
	f.IntVar(&b.numPrompts, "num-prompts", 64, "prompts to send")
	f.IntVar(&b.concurrency, "concurrency", 16, "requests in flight")
	f.IntVar(&b.maxNewTokens, "max-new-tokens", 256, "tokens per answer at most")
	f.Float64Var(&b.temperature, "temperature", 0, "sampling temperature")
	f.Float64Var(&b.topP, "top-p", 1, "nucleus sampling")
	f.IntVar(&b.numSteps, "num-steps", 0, "speculative_num_steps, where the server does not tell (SGLang)")
	f.Float64Var(&b.timeoutS, "timeout-s", 600, "seconds per attempt")
	f.IntVar(&b.maxRetries, "max-retries", 3, "retries after 5xx, 429 and transport errors")
	f.StringVar(&b.outputJSON, "output-json", "", "write the JSON to this file too")
	f.StringVar(&b.writePlan, "write-plan", "", "write the plan that does the same, and measure nothing")
}

// check refuses what cannot be meant; the plan's own rules judge the values.
func (b *benchFlags) check(f *pflag.FlagSet, args []string) error {
	var errs []error
	for _, name := range []string{"engine", "server", "model"} {
		if f.Lookup(name).Value.String() == "" {
			errs = append(errs, fmt.Errorf("--%s is required", name))
		}
	}
	if f.Changed("datasets") {
		b.datasets = append(b.datasets, args...) // `--datasets a b`: the rest arrives as arguments
	} else if len(args) > 0 {
		errs = append(errs, fmt.Errorf("unexpected words %q", args))
	}
	if b.inputData != "" && (b.datasetsConfig != "" || len(b.datasets) > 0) {
		errs = append(errs, errors.New("--input-data measures one dataset, --datasets-config and --datasets a suite: give one of them"))
	}
	for _, name := range []string{"input-data", "datasets-config", "split"} {
		if f.Changed(name) && f.Lookup(name).Value.String() == "" {
			errs = append(errs, fmt.Errorf("--%s must not be empty: leave the flag out", name)) // perhaps a variable that is not set
		}
	}
	if b.inputData == "" {
		for _, name := range []string{"messages-column", "prompt-column", "prompt-context-column", "split", "dataset-name"} {
			if f.Changed(name) {
				errs = append(errs, fmt.Errorf("--%s goes with --input-data; in a suite each dataset names its own", name))
			}
		}
	}
	if f.Changed("num-steps") && b.numSteps < 1 {
		errs = append(errs, errors.New("--num-steps must be at least 1"))
	}
	return errors.Join(errs...)
}

// plan is the plan that the flags stand for, as if its file lay in dir.
func (b *benchFlags) plan(dir string, engines []string, lookup func(string) (string, bool)) (*plan.Plan, error) {
	text, err := b.yaml(dir)
	if err != nil {
		return nil, err
	}
	p, err := plan.Parse(filepath.Join(dir, "bench"), text, plan.Options{Engines: engines, LookupEnv: lookup})
	if err != nil {
		return nil, flagWords(err, benchFlagNames())
	}
	return p, nil
}

// benchFlagNames are the flags by the plan's key.
func benchFlagNames() map[string]string {
	names := datasetFlagNames()
	maps.Copy(names, map[string]string{ //nolint:gosec // names of flags, no credentials
		"servers[0].server": "--server", "baseline_server": "--baseline-server", "engine": "--engine", "model": "--model",
		"datasets_config": "--datasets-config",
		"num_prompts":     "--num-prompts", "concurrency": "--concurrency", "max_new_tokens": "--max-new-tokens",
		"temperature": "--temperature", "top_p": "--top-p", "num_steps": "--num-steps",
		"timeout_s": "--timeout-s", "max_retries": "--max-retries",
	})
	return names
}

// yaml writes the plan. Every string is quoted as JSON does, which YAML reads
// the same; nothing in it is taken for a ${VAR}.
func (b *benchFlags) yaml(dir string) ([]byte, error) {
	var w bytes.Buffer
	line := func(key string, v any) { fmt.Fprintf(&w, "%s: %s\n", key, quote(v)) }
	line("version", 1)
	line("name", b.planName())
	line("engine", b.engine)
	line("model", b.model)
	if b.baseline != "" {
		line("baseline_server", b.baseline)
	}
	if b.numSteps > 0 {
		line("num_steps", b.numSteps)
	}
	fmt.Fprintf(&w, "servers:\n  - {name: server, server: %s}\n", quote(b.server))
	switch {
	case b.datasetsConfig != "":
		path, err := relative(dir, b.datasetsConfig)
		if err != nil {
			return nil, err
		}
		line("datasets_config", path)
	case b.inputData != "":
		entry, err := b.entry(dir)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&w, "datasets:\n  - %s\n", entry)
	}
	if b.shuffleSeed.value != nil {
		line("shuffle_seed", *b.shuffleSeed.value)
	}
	line("num_prompts", b.numPrompts)
	line("concurrency", b.concurrency)
	line("max_new_tokens", b.maxNewTokens)
	line("temperature", b.temperature)
	line("top_p", b.topP)
	line("timeout_s", b.timeoutS)
	line("max_retries", b.maxRetries)
	line("server_wait_s", 0)
	// The Python tools send nothing beside the prompts, leave the caches alone and
	// read SGLang's average as it stands.
	line("warmup_prompts", 0)
	line("prefix_cache", string(plan.PrefixCacheAsIs))
	if b.engine == "sglang" {
		line("accept_sources", []string{string(specdec.SourceCumulative)})
	}
	return w.Bytes(), nil
}

// entry is the one dataset. The messages column has a default, so the prompt
// column wins.
func (b *benchFlags) entry(dir string) (string, error) {
	path := b.inputData
	if _, err := os.Stat(path); err == nil || !plan.IsHubID(path) {
		if path, err = relative(dir, path); err != nil {
			return "", err
		}
	}
	d := datasetFields{
		name: filepath.Base(b.inputData), inputData: path, datasetName: b.datasetName, split: b.split,
		promptColumn: b.promptColumn, promptContextColumn: b.promptContextColumn,
	}
	if b.promptColumn == "" {
		d.messagesColumn = b.messagesColumn
	}
	return d.yaml(), nil
}

// planName is the name of the file that the plan is written to, where that can
// name a results folder.
func (b *benchFlags) planName() string {
	name := strings.TrimSuffix(filepath.Base(b.writePlan), filepath.Ext(b.writePlan))
	if b.writePlan == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) || name == "" || name[0] == '-' {
		return "bench"
	}
	return name
}

func quote(v any) string {
	if s, ok := v.(string); ok {
		v = strings.ReplaceAll(s, "${", "$${")
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(v)) // NaN and Inf: a string, which the plan's rules refuse
	}
	return string(text)
}

// relative turns a path of the working folder into one of dir, since a plan's
// paths start at its own folder.
func relative(dir, path string) (string, error) {
	if filepath.IsAbs(path) || filepath.Clean(dir) == "." {
		return path, nil
	}
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// savePlan writes the plan to a file that does not exist yet.
func (b *benchFlags) savePlan(e *env, engines []string) error {
	dir := filepath.Dir(b.writePlan)
	if _, err := b.plan(dir, engines, e.lookup); err != nil {
		return usage(err)
	}
	text, err := b.yaml(dir)
	if err != nil {
		return usage(err)
	}
	head := "# Written by specsweep bench --write-plan: does what that command does. The order of passes\n" +
		"# alone differs: bench measures the server first, run the baseline.\n"
	f, err := os.OpenFile(b.writePlan, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return usage(fmt.Errorf("writing the plan: %w (a file that is there is never overwritten)", err))
	}
	_, err = f.Write(append([]byte(head), text...))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the plan %s: %w", b.writePlan, err)
	}
	names := ""
	if len(b.datasets) > 0 {
		for _, d := range slices.Clone(b.datasets) {
			names += " --only dataset=" + d
		}
	}
	_, err = fmt.Fprintf(e.stdout, "wrote %s; run it with: specsweep run %s%s\n", b.writePlan, b.writePlan, names)
	return err
}

// save writes the JSON to --output-json.
func (b *benchFlags) save(text []byte) error {
	if b.outputJSON == "" {
		return nil
	}
	return result.WriteFile(b.outputJSON, text)
}
