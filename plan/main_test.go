package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testEnv are the only variables that are set in tests.
var testEnv = map[string]string{
	"TOKEN": "t0ken", "KEY": "sk-very-secret", "LINES": "a\nb", "DRAFTER": "org/drafter", "EMPTY": "",
	"WHO": "me", "USER": "u", "PASSWORD": "pw",
}

func options() Options {
	return Options{Engines: []string{"vllm", "sglang"}, Metrics: []string{"speedup", "accept_length", "ttft_p99_ms"}, LookupEnv: func(name string) (string, bool) {
		value, ok := testEnv[name]
		return value, ok
	}}
}

const head = "version: 1\nname: test\nengine: vllm\n"

// Parts of plans that most tests need.
const (
	oneServer  = "servers: [{name: s, server: \"http://h:1\"}]\n"
	oneDataset = "datasets: [{name: d, input_data: prompts.jsonl}]\n"
)

// try parses a plan that lies beside the good ones.
func try(text string, o Options) (*Plan, error) {
	return Parse(filepath.Join("testdata", "good", "test.yaml"), []byte(text), o)
}

func parse(t testing.TB, text string) *Plan {
	t.Helper()
	return parseWith(t, text, options())
}

func parseWith(t testing.TB, text string, o Options) *Plan {
	t.Helper()
	p, err := try(text, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// refuse parses a plan that must have problems and gives them without the folder.
func refuse(t testing.TB, text string, o Options) Problems {
	t.Helper()
	_, err := try(text, o)
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("want problems, have %v", err)
	}
	return problems
}

// message is the error of a bad file, without what differs between machines.
func message(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	bad, absErr := filepath.Abs(filepath.Join("testdata", "bad"))
	if absErr != nil {
		t.Fatal(absErr)
	}
	return strings.NewReplacer(bad, "DIR", filepath.Join("testdata", "bad")+string(os.PathSeparator), "").Replace(err.Error())
}

// cellText is the cells of a plan, one a line: server dataset concurrency
// max_new_tokens temperature num_prompts.
func cellText(runs []Run) string {
	var b strings.Builder
	for _, r := range runs {
		if r.Repeat == 0 {
			b.WriteString(runText(r) + "\n")
		}
	}
	return b.String()
}

func runText(r Run) string {
	return fmt.Sprintf("%s %s %d %d %v %d", r.Server.Name, r.Dataset.Name, r.Concurrency, r.MaxNewTokens, r.Temperature, r.NumPrompts)
}

func asProblem(err error, p *Problem) bool { return errors.As(err, p) }
