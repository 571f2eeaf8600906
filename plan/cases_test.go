package plan

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests here are named after failures that users of other tools have met.

// Names and free-form keys with capitals and dots arrive as they are written.
func TestCaseY01KeysKeepTheirCase(t *testing.T) {
	p, err := Load(filepath.Join("testdata", "good", "freeform.yaml"), options())
	if err != nil {
		t.Fatal(err)
	}
	r := p.Expand()[0]
	if r.Server.Name != "Qwen3-8B.v2" || r.Dataset.Name != "GSM8K" {
		t.Errorf("names %q and %q", r.Server.Name, r.Dataset.Name)
	}
	wantLabels := map[string]string{"GPU.Count": "010", "gpu.count": "x", "time": "1e999"}
	if diff := cmp.Diff(wantLabels, r.Server.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	want := map[string]any{
		"stopTokenIds":         []any{int64(1), int64(2)},
		"chat_template_kwargs": map[string]any{"enable_thinking": false},
		"logit_bias":           map[string]any{"1234": int64(-5), "5": 0.5},
		"Foo":                  nil, "foo": "2026-01-02", "FOO": "on",
		"big": int64(9007199254740993), "float": 1.0, "a.b": map[string]any{"c.d": "x${y}"},
	}
	if diff := cmp.Diff(want, r.Dataset.ExtraBody); diff != "" {
		t.Errorf("extra_body (-want +got):\n%s", diff)
	}
}

// A value is read as what it is written as, or refused.
func TestCaseY02NoWeakTyping(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "values.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 15 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		t.Run(row[0], func(t *testing.T) {
			text := strings.Replace(head, "name: test\n", "", 1) + oneServer + oneDataset
			if !strings.HasPrefix(row[0], "name:") {
				text += "name: test\n"
			}
			key, _, _ := strings.Cut(row[0], ":")
			p, err := try(text+row[0]+"\n", options())
			switch want := row[1]; {
			case want != "error" && err != nil:
				t.Error(err)
			case want != "error":
				if got := fmt.Sprint(p.Axes.Concurrency); got != want {
					t.Errorf("concurrency %s, want %s", got, want)
				}
			case err == nil || !strings.Contains(err.Error(), key):
				t.Errorf("want an error about %s, have %v", key, err)
			}
		})
	}
}

// All unknown keys are named at once, each with what may be meant.
func TestCaseY03UnknownKeysAtOnce(t *testing.T) {
	problems := refuse(t, `max_new_token: 128
servers:
  - name: a
    server: http://127.0.0.1:8000
    api_key_evn: TOY_KEY
datasets:
  - name: x
    input_data: prompts.jsonl
    num_promts: 500
`, options())
	text := problems.Error()
	for _, want := range []string{
		":1: max_new_token: unknown key (did you mean max_new_tokens?)",
		":5: servers[0].api_key_evn: unknown key (did you mean api_key_env?)",
		":9: datasets[0].num_promts: unknown key (did you mean num_prompts?)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

// The environment changes what a plan names with ${}, and nothing else.
func TestCaseY07EnvironmentDoesNotLeakIn(t *testing.T) {
	text := head + oneServer + oneDataset + "model: toy-target\nconcurrency: [2]\n"
	full, empty := options(), options()
	full.LookupEnv = func(name string) (string, bool) {
		return map[string]string{
			"HOST": "elsewhere.invalid", "MODEL": "other-model", "NAME": "z", "ENGINE": "sglang", "TIMEOUT": "1", "CONCURRENCY": "999",
		}[name], true
	}
	empty.LookupEnv = nil
	if a, b := parseWith(t, text, full), parseWith(t, text, empty); !reflect.DeepEqual(a, b) {
		t.Errorf("with variables %+v, without %+v", a, b)
	}
}

func TestCaseY08FormsOfAFile(t *testing.T) {
	for name, text := range map[string]string{
		"two documents": "model: toy-a\n---\nmodel: toy-b\n", "empty": "", "only comments": "# todo\n",
		"a list": "- name: a\n", "a tab": "datasets:\n\t- name: a\n",
	} {
		t.Run(name, func(t *testing.T) { refuse(t, text, options()) })
	}
	plain := head + oneServer + oneDataset
	want := parse(t, plain)
	for name, text := range map[string]string{
		"byte order mark": "\ufeff" + plain,
		"CRLF":            strings.ReplaceAll(plain, "\n", "\r\n"),
		"document marks":  "---\n" + plain + "...\n",
	} {
		t.Run(name, func(t *testing.T) {
			got := parse(t, text)
			got.Source = want.Source
			if !reflect.DeepEqual(want, got) {
				t.Errorf("want %+v, have %+v", want, got)
			}
		})
	}
}

// More concurrency than prompts, and much of both, stay as they were asked for.
func TestCaseT04ConcurrencyAsAsked(t *testing.T) {
	for _, tt := range []struct{ axes, want string }{
		{"num_prompts: 256\nconcurrency: [128]\n", "s d 128 256 0 256\n"},
		{"num_prompts: 8\nconcurrency: [16, 64]\n", "s d 16 256 0 8\ns d 64 256 0 8\n"},
	} {
		if got := cellText(parse(t, head+oneServer+oneDataset+tt.axes).Expand()); got != tt.want {
			t.Errorf("%s: have\n%swant\n%s", tt.axes, got, tt.want)
		}
	}
}

func TestCaseH10IPv6Addresses(t *testing.T) {
	for _, tt := range []struct{ url, root, problem string }{
		{"http://[::1]:8000", "http://[::1]:8000", ""},
		{"http://[::1]:8000/v1", "http://[::1]:8000", ""},
		{"http://[fe80::1%25lo]:8000", "http://[fe80::1%25lo]:8000", ""},
		{"http://::1:8000", "", "http://[::1]:8000"},
		{"::1:8000", "", "http://[::1]:8000"},
		{"http://fe80::1/v1", "", "http://[fe80::1]"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			p, err := try(head+oneDataset+"servers: [{name: s, server: \""+tt.url+"\"}]\n", options())
			switch {
			case tt.problem == "" && err != nil:
				t.Error(err)
			case tt.problem == "":
				if got := p.Servers[0].URL; got != tt.root {
					t.Errorf("URL %q, want %q", got, tt.root)
				}
			case err == nil || !strings.HasSuffix(err.Error(), tt.problem):
				t.Errorf("want an error that suggests %s, have %v", tt.problem, err)
			}
		})
	}
}

// A path that was mistyped is never sent to the Hub; an id is.
func TestCaseD13PathsAndHubIDs(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{"promts.jsonl", "(nearby: prompts.jsonl)"},
		{"suite/datsets.yaml", "(nearby: suite/datasets.yaml); not looked for on the Hub either, since .yaml is the ending of a file"},
		{"./missing", "no such file or folder"},
		{"../missing/data", "no such file or folder"},
		{"/abs/none.parquet", "no such file or folder: /abs/none.parquet"},
		{"~/none.json", "no such file or folder: ~/none.json (~ is not expanded"},
		{"~/none", "~ is not expanded"},
		{"none", "no such file or folder"},
		{"openai/gsm8k/main", "no such file or folder"},
		{"openai/", "no such file or folder"},
		{"open ai/gsm8k", "no such file or folder"},
		{"openai/gsm8k", ""},
		{"org/Llama-3.1-prompts.v2", ""},
		{"org/data_1.5", ""},
	} {
		t.Run(tt.input, func(t *testing.T) {
			p, err := try(head+oneServer+"datasets: [{name: d, input_data: \""+tt.input+"\"}]\n", options())
			switch {
			case tt.want != "":
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want it to hold %q", err, tt.want)
				}
			case err != nil:
				t.Error(err)
			case !p.Datasets[0].Hub || p.Datasets[0].InputData != tt.input:
				t.Errorf("dataset %+v is not on the Hub", p.Datasets[0])
			}
		})
	}
}
