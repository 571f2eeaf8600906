package plan

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// Ids are kept in results for years: these must never change.
func TestIDsAreFixed(t *testing.T) {
	p := parse(t, head+`
model: m
baseline_server: {server: "http://b:1", model: "${BASE:-base}"}
servers: [{name: s, server: "http://h:1", num_steps: 3, extra_body: {b: "<&>", a: 1.50}}]
datasets: [{name: d, input_data: "${DATA:-prompts.jsonl}", prompt_column: q, extra_body: {c: null}}]
concurrency: 8
num_prompts: 10x
temperature: 0.70
top_p: 0.9
top_k: 5
repeats: 2
`)
	r := p.Expand()[1]
	want := `{"baseline_model":"${BASE:-base}","concurrency":8,"dataset":{"input_data":"${DATA:-prompts.jsonl}","name":"d","prompt_column":"q"},` +
		`"engine":"vllm","extra_body":{"a":1.5,"b":"<&>","c":null},"max_new_tokens":256,"model":"m","num_prompts":80,"num_steps":3,` +
		`"server":"s","temperature":0.7,"top_k":5,"top_p":0.9}`
	if diff := cmp.Diff(want, string(r.Cell)); diff != "" {
		t.Errorf("Cell (-want +got):\n%s", diff)
	}
	if r.CellID != "1aad9ef987" || r.RunID != "1aad9ef987-r1" {
		t.Errorf("ids %s and %s", r.CellID, r.RunID)
	}
}

// What is left at its default does not stand in an id, except for the axes.
func TestIDOfDefaultsIsFixed(t *testing.T) {
	r := parse(t, head+oneServer+oneDataset).Expand()[0]
	want := `{"baseline_model":null,"concurrency":16,"dataset":{"input_data":"prompts.jsonl","name":"d"},"engine":"vllm",` +
		`"max_new_tokens":256,"model":null,"num_prompts":64,"server":"s","temperature":0}`
	if diff := cmp.Diff(want, string(r.Cell)); diff != "" {
		t.Errorf("Cell (-want +got):\n%s", diff)
	}
	if r.CellID != "2781565fa9" {
		t.Errorf("id %s", r.CellID)
	}
}

// The keys of a run at a rate, and what of them is left out at its default.
func TestIDOfARateIsFixed(t *testing.T) {
	const rate = head + oneServer + oneDataset + "stream: true\nrequest_rate: 2.50\n"
	for _, tt := range []struct{ name, text, want string }{
		{"defaults", rate + "arrivals: poisson\nseed: 0\n", `{"baseline_model":null,"concurrency":16,"dataset":{"input_data":"prompts.jsonl","name":"d"},"engine":"vllm",` +
			`"max_new_tokens":256,"model":null,"num_prompts":64,"request_rate":2.5,"server":"s","stream":true,"temperature":0}`},
		{"all", rate + "arrivals: constant\nseed: 7\n", `{"arrivals":"constant","baseline_model":null,"concurrency":16,` +
			`"dataset":{"input_data":"prompts.jsonl","name":"d"},"engine":"vllm","max_new_tokens":256,"model":null,"num_prompts":64,` +
			`"request_rate":2.5,"seed":7,"server":"s","stream":true,"temperature":0}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(parse(t, tt.text).Expand()[0].Cell)); diff != "" {
				t.Errorf("Cell (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCellIsCanonicalJSON(t *testing.T) {
	p, err := Load(filepath.Join("testdata", "good", "full.yaml"), options())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Expand() {
		var v map[string]any
		d := json.NewDecoder(bytes.NewReader(r.Cell))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if sorted := canonical(v); !bytes.Equal(sorted, r.Cell) {
			t.Fatalf("%s: keys sorted it is\n%s", r.Cell, sorted)
		}
		for _, secret := range []string{"t0ken", "KEY", "Bearer", "http"} {
			if bytes.Contains(r.Cell, []byte(secret)) {
				t.Errorf("%s holds %q", r.Cell, secret)
			}
		}
	}
}

// What belongs to an id and what does not: each row changes one thing.
func TestWhatAnIDDependsOn(t *testing.T) {
	const base = head + oneServer + "datasets: [{name: d, input_data: prompts.jsonl}]\nbaseline_server: http://b:1\n"
	id := parse(t, base).Expand()[0].CellID
	swap := func(old, fresh string) string { return strings.Replace(base, old, fresh, 1) }
	for name, text := range map[string]string{
		"plan name":                swap("name: test", "name: other"),
		"description":              base + "description: x\n",
		"URL":                      swap("http://h:1", "http://other:2"),
		"URL of the baseline":      swap("http://b:1", "http://other:3"),
		"launch":                   swap(`server: "http://h:1"`, `server: "http://h:{port}", launch: {command: [x]}`),
		"labels":                   base + "labels: {a: b}\n",
		"headers":                  base + "headers: {a: b}\n",
		"key":                      base + "api_key_env: K\n",
		"timeouts":                 base + "timeout_s: 1\nserver_wait_s: 1\nmax_retries: 0\n",
		"order":                    base + "order: by_server\n",
		"repeats":                  base + "repeats: 3\n",
		"defaults of the axes":     base + "concurrency: [16]\nmax_new_tokens: 256\ntemperature: 0.0\nnum_prompts: 64\n",
		"minus zero":               base + "temperature: -0.0\n",
		"prompts per slot":         base + "num_prompts: 4x\n",
		"default of top_p":         base + "top_p: 1.0\n",
		"no top_k":                 base + "top_k: null\n",
		"empty extra_body":         base + "extra_body: {}\n",
		"default split":            swap("prompts.jsonl}", "prompts.jsonl, split: train}"),
		"default column":           swap("prompts.jsonl}", "prompts.jsonl, messages_column: messages}"),
		"own value, as the axis's": swap("prompts.jsonl}", "prompts.jsonl, max_new_tokens: 256, num_prompts: 64}"),
		"default turns":            swap("prompts.jsonl}", "prompts.jsonl, turns: first}"),
		"engine for the server":    swap(`server: "http://h:1"`, `server: "http://h:1", engine: vllm`),
		"default warm-up":          base + "warmup_prompts: auto\n",
		"default prefix_cache":     base + "prefix_cache: cold\n",
		"strict":                   base + "strict: true\n",
		"limits":                   base + "abort_after_failures: 3\nmax_duration_s: {run: 5, sweep: 6}\n",
		"proxy":                    base + "proxy: http://p:1\n",
		"tls":                      swap(`server: "http://h:1"`, `server: "https://h:1", tls: {insecure_skip_verify: true}`),
		"thresholds":               base + "thresholds: [{metric: speedup, min: 1}]\nmin_effect: 0.5\n",
		"what is saved":            base + "save_requests: true\nsave_outputs: true\n",
		"slo":                      base + "slo: {e2e_latency_ms: 5}\n",
		"default stream":           base + "stream: false\n",
		"a closed loop":            base + "request_rate: inf\narrivals: constant\nseed: 5\n",
		"a rate beside it":         base + "request_rate: [inf, 2]\n",
		"for":                      swap(`{name: s, server: "http://h:1"}`, `{name: "{k}", server: "http://h:1", for: {k: [s, t]}}`),
		"sources of the baseline":  swap("http://b:1", "{server: \"http://b:1\", accept_sources: [counters]}"),
		"a cell beside it":         base + "concurrency: [16, 32]\n",
	} {
		t.Run("not "+name, func(t *testing.T) {
			if got := parse(t, text).Expand()[0]; got.CellID != id {
				t.Errorf("the id changed: %s", got.Cell)
			}
		})
	}
	seen := map[string]string{id: "nothing"}
	for name, text := range map[string]string{
		"server name":          swap("name: s", "name: s2"),
		"dataset name":         swap("name: d", "name: d2"),
		"input_data":           swap("prompts.jsonl", "./prompts.jsonl"),
		"input_data, raw":      swap("prompts.jsonl", "\"${EMPTY:-prompts.jsonl}\""),
		"split":                swap("prompts.jsonl}", "prompts.jsonl, split: test}"),
		"column":               swap("prompts.jsonl}", "prompts.jsonl, messages_column: m}"),
		"prompt column":        swap("prompts.jsonl}", "prompts.jsonl, prompt_column: m}"),
		"on the Hub":           swap("prompts.jsonl", "org/data"),
		"configuration":        swap("prompts.jsonl}", "org/data, dataset_name: main}"),
		"revision":             swap("prompts.jsonl}", "org/data, revision: main}"),
		"category column":      swap("prompts.jsonl}", "prompts.jsonl, category_column: m}"),
		"turns":                swap("prompts.jsonl}", "prompts.jsonl, prompt_column: m, turns: all}"),
		"seed":                 base + "shuffle_seed: 0\n",
		"another seed":         base + "shuffle_seed: 42\n",
		"engine":               swap("engine: vllm", "engine: sglang"),
		"model":                base + "model: m\n",
		"model of the server":  swap(`server: "http://h:1"`, `server: "http://h:1", model: m`),
		"model of the other":   swap("http://b:1", "{server: \"http://b:1\", model: m}"),
		"concurrency":          base + "concurrency: 17\n",
		"max_new_tokens":       base + "max_new_tokens: 17\n",
		"temperature":          base + "temperature: 0.1\n",
		"num_prompts":          base + "num_prompts: 65\n",
		"top_p":                base + "top_p: 0.5\n",
		"top_k":                base + "top_k: 17\n",
		"num_steps":            base + "num_steps: 17\n",
		"warm-up":              base + "warmup_prompts: 8\n",
		"no warm-up":           base + "warmup_prompts: 0\n",
		"prefix_cache":         base + "prefix_cache: as_is\n",
		"stream":               base + "stream: true\n",
		"rate":                 base + "request_rate: 2\n",
		"another rate":         base + "request_rate: 2.5\n",
		"arrivals":             base + "request_rate: 2\narrivals: constant\n",
		"seed of arrivals":     base + "request_rate: 2\nseed: 1\n",
		"seed and arrivals":    base + "request_rate: 2\nseed: 1\narrivals: constant\n",
		"accept_sources":       base + "accept_sources: [flush]\n",
		"accept_sources, two":  base + "accept_sources: [counters, flush]\n",
		"extra_body":           base + "extra_body: {a: 1}\n",
		"extra_body, a string": base + "extra_body: {a: \"1\"}\n",
	} {
		got := parse(t, text).Expand()[0]
		if other, taken := seen[got.CellID]; taken {
			t.Errorf("changing %s gives the id of changing %s: %s", name, other, got.Cell)
		}
		seen[got.CellID] = name
	}
}

// The order of keys, at any depth, changes no id.
func TestIDsSurviveReorderedKeys(t *testing.T) {
	for _, name := range []string{"full", "freeform", "overlap", "minimal", "for", "latency", "thresholds"} {
		t.Run(name, func(t *testing.T) {
			p, err := Load(filepath.Join("testdata", "good", name+".yaml"), options())
			if err != nil {
				t.Fatal(err)
			}
			var n yaml.Node
			if err := yaml.Unmarshal(p.Source, &n); err != nil {
				t.Fatal(err)
			}
			reverseKeys(&n)
			text, err := yaml.Marshal(&n)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := ids(p), ids(parse(t, string(text))); !slices.Equal(a, b) {
				t.Errorf("ids %v, after reordering %v", a, b)
			}
		})
	}
}

func reverseKeys(n *yaml.Node) {
	for _, c := range n.Content {
		reverseKeys(c)
	}
	if n.Kind == yaml.MappingNode {
		slices.Reverse(n.Content) // also puts each value before its key
		for i := 0; i+1 < len(n.Content); i += 2 {
			n.Content[i], n.Content[i+1] = n.Content[i+1], n.Content[i]
		}
	}
}
