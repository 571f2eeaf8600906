package plan

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestForFillsEveryString(t *testing.T) {
	p, err := Load(filepath.Join("testdata", "good", "for.yaml"), options())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range p.Servers {
		names = append(names, s.Name+" "+s.URL)
	}
	const port = " http://127.0.0.1:{port}"
	want := []string{"fixed http://h:1", "k2" + port, "k4" + port, "k6" + port, "eagle-1 http://h1:1", "mtp-2 http://h2:1", "eagle-2 http://h2:1", "me-1 http://h1:1"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	config := `--config={"num_speculative_tokens": 4}`
	four := Server{Name: "k4", Endpoint: Endpoint{
		URL: "http://127.0.0.1:{port}", Engine: "vllm", Labels: map[string]string{"k": "4", "{k}": "stays"}, NumSteps: new(4),
		ExtraBody: map[string]any{"note": "k is 4, {other} and ${k} are not", "list": []any{"4", int64(7)}},
		Launch: &Launch{
			Command: []string{"serve", "--port", "{port}", config, "org/drafter-4"}, RawCommand: []string{"serve", "--port", "{port}", config, "${DRAFTER}-4"},
			Env: map[string]string{"K": "4", "RANK": "{port}"}, ReadyTimeout: 900 * time.Second, Restart: RestartNever,
		},
	}}
	if diff := cmp.Diff(four, p.Servers[2], cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("k4 (-want +got):\n%s", diff)
	}
}

// A for is a shorter way to write the servers and nothing else: the ids are those
// of the long way.
func TestIDsOfForAreThoseOfTheServersWrittenOut(t *testing.T) {
	short := parse(t, head+`
servers:
  - {name: "{who}-{k}", server: "http://h:{k}", num_steps: "{k}", for: {who: ["${WHO}", b], k: [2, 4]}, extra_body: {a: "{k}", b: "${WHO}{k}"}}
`+oneDataset)
	long := parse(t, head+`
servers:
  - {name: "${WHO}-2", server: "http://h:2", num_steps: 2, extra_body: {a: "2", b: "${WHO}2"}}
  - {name: "b-4", server: "http://h:4", num_steps: 4, extra_body: {a: "4", b: "${WHO}4"}}
`+oneDataset)
	if a, b := ids(short), ids(long); !slices.Equal(a, b) || len(a) != 2 {
		t.Errorf("ids %v, written out %v", a, b)
	}
	if diff := cmp.Diff(long.Servers, short.Servers); diff != "" {
		t.Errorf("servers (-long +short):\n%s", diff)
	}
}

// Servers of a for can be named like any other.
func TestForAndExclude(t *testing.T) {
	p := parse(t, head+"servers: [{name: \"k{k}\", server: \"http://h:1\", for: {k: [2, 4, 6]}}]\n"+oneDataset+"exclude: [{server: k4}]\n")
	if got, want := cellText(p.Expand()), "k2 d 16 256 0 64\nk6 d 16 256 0 64\n"; got != want {
		t.Errorf("cells\n%swant\n%s", got, want)
	}
}

func TestForOfAMergedMapping(t *testing.T) {
	p := parse(t, head+`
servers:
  - &s {name: "k{k}", server: "http://h:1", for: &ks {k: [2, 4]}}
  - {<<: *s, name: "other-{k}"}
`+oneDataset)
	if got := len(p.Servers); got != 4 || p.Servers[3].Name != "other-4" {
		t.Errorf("%d servers: %+v", got, p.Servers)
	}
}

func TestForOfTooManyValues(t *testing.T) {
	text := head + "servers: [{name: \"k{k}\", server: \"http://h:1\", for: {k: [" + strings.Repeat("1,", maxFor+1) + "]}}]\n" + oneDataset
	if problems := refuse(t, text, options()); problems[0].Text != "more than 1000 values" {
		t.Errorf("problems %v", problems)
	}
}

func TestFill(t *testing.T) {
	words := map[string]string{"k": "4", "step": "{k}", "who": ""}
	for _, tt := range []struct{ name, text, want string }{
		{"none", "plain", "plain"},
		{"a name", "{k}", "4"},
		{"twice", "a{k}b{k}c", "a4b4c"},
		{"not looked at again", "{step}", "{k}"},
		{"an empty value", "a{who}b", "ab"},
		{"no name of for", "{port} {kk} {} {K}", "{port} {kk} {} {K}"},
		{"JSON around it", `{"n": {k}, "m": {"o": {k}}}`, `{"n": 4, "m": {"o": 4}}`},
		{"braces in braces", "{{k}}", "{4}"},
		{"a variable", "${k}$${k}", "${k}$${k}"},
		{"not closed", "{k", "{k"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fill(tt.text, words); got != tt.want {
				t.Errorf("fill(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}
