package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a baseline inherits is what the plan says about engine, model and
// extra_body: no override of a server, and nothing secret.
func TestBaselineInheritance(t *testing.T) {
	const plan = `version: 1
name: test
engine: vllm
model: plan-model
labels: {gpu: a}
headers: {X-Team: a}
api_key_env: PLAN_KEY
num_steps: 3
extra_body: {seed: 1, user: plan}
` + oneDataset
	tests := []struct {
		name, text string
		want       *Endpoint
	}{
		{"of the plan, a URL", "baseline_server: http://b:1/v1\nservers: [{name: s, server: \"http://h:1\", engine: sglang, model: own}]\n",
			&Endpoint{URL: "http://b:1", Engine: "vllm", Model: "plan-model", ExtraBody: map[string]any{"seed": int64(1), "user": "plan"}}},
		{"of a server, a URL", "servers: [{name: s, server: \"http://h:1\", engine: sglang, model: own, extra_body: {seed: 9}, baseline_server: \"http://b:2\"}]\n",
			&Endpoint{URL: "http://b:2", Engine: "vllm", Model: "plan-model", ExtraBody: map[string]any{"seed": int64(1), "user": "plan"}}},
		{"a mapping overrides", "servers: [{name: s, server: \"http://h:1\", baseline_server: {server: \"http://b:3\", engine: sglang, model: b, labels: {x: 1}, headers: {X-B: c}, api_key_env: B_KEY, extra_body: {seed: 2}}}]\n",
			&Endpoint{URL: "http://b:3", Engine: "sglang", Model: "b", Labels: map[string]string{"x": "1"}, Headers: map[string]string{"X-B": "c"},
				APIKeyEnv: "B_KEY", ExtraBody: map[string]any{"seed": int64(2), "user": "plan"}}},
		{"none for one server", "baseline_server: http://b:1\nservers: [{name: s, server: \"http://h:1\", baseline_server: none}]\n", nil},
		{"none for the plan", "baseline_server: none\n" + oneServer, nil},
		{"none, but one for a server", "baseline_server: none\nservers: [{name: s, server: \"http://h:1\", baseline_server: \"http://b:4\"}]\n",
			&Endpoint{URL: "http://b:4", Engine: "vllm", Model: "plan-model", ExtraBody: map[string]any{"seed": int64(1), "user": "plan"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, plan+tt.text)
			if diff := cmp.Diff(tt.want, p.Servers[0].Baseline); diff != "" {
				t.Errorf("baseline (-want +got):\n%s", diff)
			}
		})
	}
}

// Servers that inherit the plan's baseline share it: it is measured once.
func TestBaselineIsShared(t *testing.T) {
	p := parse(t, head+oneDataset+`
baseline_server: http://b:1
servers:
  - {name: a, server: "http://h:1"}
  - {name: b, server: "http://h:2"}
  - {name: c, server: "http://h:3", baseline_server: "http://b:1"}
`)
	if a, b, c := p.Servers[0].Baseline, p.Servers[1].Baseline, p.Servers[2].Baseline; a != b || a == c {
		t.Errorf("baselines %p %p %p", a, b, c)
	}
}

func TestKeysOfTheNearerPlaceWin(t *testing.T) {
	p := parse(t, head+oneDataset+`
api_key_file: key.txt
servers:
  - {name: inherits, server: "http://h:1"}
  - {name: replaces, server: "http://h:2", api_key_env: OWN}
`)
	a, b := p.Servers[0], p.Servers[1]
	if a.APIKeyEnv != "" || !strings.HasSuffix(a.APIKeyFile, "key.txt") || b.APIKeyEnv != "OWN" || b.APIKeyFile != "" {
		t.Errorf("keys %q %q and %q %q", a.APIKeyEnv, a.APIKeyFile, b.APIKeyEnv, b.APIKeyFile)
	}
}

func TestMergeKeys(t *testing.T) {
	p, err := Load("testdata/good/merge.yaml", options())
	if err != nil {
		t.Fatal(err)
	}
	type server struct{ Name, URL, Engine, Step, GPU string }
	var got []server
	for _, s := range p.Servers {
		got = append(got, server{s.Name, s.URL, s.Engine, s.Labels["step"], s.Labels["gpu"]})
	}
	want := []server{
		{"first", "http://localhost:8000", "vllm", "1", "h100"},
		{"second", "http://localhost:8000", "vllm", "2", "h100"},
		{"third", "http://localhost:8002", "sglang", "1", "h100"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if got, want := cellText(p.Expand()), "first d 16 256 0 64\nsecond d 16 256 0 64\n"; got != want {
		t.Errorf("cells %q, want %q", got, want)
	}
}

func TestRootURL(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"http://h", "http://h"},
		{"http://h/", "http://h"},
		{"HTTPS://h:1//", "HTTPS://h:1"},
		{"http://h/v1///", "http://h"},
		{"http://h//v1", "http://h"},
		{"http://h/v1/v1", "http://h/v1"},
		{"http://h/api/v1", "http://h/api"},
		{"http://h/v10", "http://h/v10"},
		{"http://user@h:1", "http://user@h:1"},
		{"http://${USER}:${PASSWORD}@h:1", "http://u:pw@h:1"},
		{"http://${EMPTY:-h}:1", "http://h:1"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			p := parse(t, head+oneDataset+"servers: [{name: s, server: \""+tt.url+"\"}]\n")
			if got := p.Servers[0].URL; got != tt.want {
				t.Errorf("URL %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDatasetsConfig(t *testing.T) {
	p, err := Load("testdata/good/config.yaml", options())
	if err != nil {
		t.Fatal(err)
	}
	data := p.Dir + "/prompts.jsonl" // relative to the plan, not to the file that lists it
	want := []Dataset{
		{Name: "one", InputData: data, Split: "train", MessagesColumn: "messages", Turns: TurnsFirst},
		{Name: "two", InputData: data, Split: "test", PromptColumn: "q", PromptContextColumn: "c", MaxNewTokens: new(512), Turns: TurnsFirst},
		{Name: "three", InputData: "org/data", Hub: true, DatasetName: "main", Split: "train", PromptColumn: "q", Turns: TurnsFirst},
	}
	if diff := cmp.Diff(want, p.Datasets); diff != "" {
		t.Errorf("datasets (-want +got):\n%s", diff)
	}
	inPlan := parse(t, head+`
servers: [{name: s, server: "http://localhost:8000"}]
datasets:
  - {name: one, input_data: prompts.jsonl}
  - {name: two, input_data: "${DATA:-prompts.jsonl}", split: test, prompt_column: q, prompt_context_column: c, max_new_tokens: 512}
  - {name: three, input_data: org/data, dataset_name: main, prompt_column: q}
`)
	if a, b := ids(p), ids(inPlan); !cmp.Equal(a, b) {
		t.Errorf("ids %v differ from those of the same datasets in the plan, %v", a, b)
	}
}

func ids(p *Plan) []string {
	var out []string
	for _, r := range p.Expand() {
		out = append(out, r.RunID)
	}
	return out
}
