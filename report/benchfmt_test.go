package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"github.com/specsweep/specsweep/runner/result"
)

// readBench reads the export as benchstat does; what it cannot read is an error.
func readBench(t *testing.T, text string) []*benchfmt.Result {
	t.Helper()
	r := benchfmt.NewReader(strings.NewReader(text), "bench.txt")
	var all []*benchfmt.Result
	for r.Scan() {
		switch x := r.Result().(type) {
		case *benchfmt.Result:
			all = append(all, x.Clone())
		case *benchfmt.SyntaxError:
			t.Errorf("benchfmt: %v in\n%s", x, text)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestBenchfmtReadBack has every ok row of every set as one line that benchfmt reads.
func TestBenchfmtReadBack(t *testing.T) {
	all := sets()
	all["checkpoints"] = checkpoints(3, "a", "b")
	for name, set := range all {
		t.Run(name, func(t *testing.T) {
			want := 0
			for _, r := range set.Rows {
				if r.OK() && (r.OutputThroughputTokS != nil || r.AcceptLength != nil || r.BaselineThroughputTokS != nil) {
					want++
				}
			}
			if got := readBench(t, render(t, "benchfmt", set)); len(got) != want {
				t.Errorf("%d lines, want %d", len(got), want)
			}
		})
	}
}

func TestBenchfmtLine(t *testing.T) {
	r := run("my server/α 100%", "org/data set", 8, 0, 10)
	r.AcceptanceRate, r.Temperature, r.RequestRate = nil, 0.00001, ptr(2.5)
	r.Labels = map[string]string{"GPU type": "1xH100", "empty": ""}
	got := readBench(t, render(t, "benchfmt", NewSet([]result.Row{r}, result.Manifest{})))
	if len(got) != 1 {
		t.Fatalf("%d lines", len(got))
	}
	base, parts := got[0].Name.Parts()
	names := []string{string(base)}
	for _, p := range parts {
		names = append(names, string(p))
	}
	want := []string{"Serve", "/server=my%20server%2Fα%20100%25", "/dataset=org%2Fdata%20set", "/concurrency=8", "/max_new_tokens=256", "/temperature=0.00001", "/request_rate=2.5"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("name (-want +got)\n%s", diff)
	}
	values := map[string]float64{}
	for _, v := range got[0].Values {
		values[v.Unit] = v.Value
	}
	if diff := cmp.Diff(map[string]float64{"tok/s": 640, "speedup": 1.6, "accept_length": 2.3, "baseline_tok/s": 400}, values); diff != "" {
		t.Errorf("values (-want +got)\n%s", diff)
	}
	config := map[string]string{}
	for _, c := range got[0].Config {
		if c.File {
			config[c.Key] = string(c.Value)
		}
	}
	if diff := cmp.Diff(map[string]string{"plan": "demo", "engine": "vllm", "model": "org/model", "label_gpu_type": "1xH100"}, config); diff != "" {
		t.Errorf("configuration (-want +got)\n%s", diff)
	}
}

// TestBenchNamesTellCellsApart has two cells that differ in their prompts only, and the
// same cell in another file with another baseline, version and engine of the baseline.
func TestBenchNamesTellCellsApart(t *testing.T) {
	a, b := run("s", "d", 8, 0, 10), run("s", "d", 8, 0, 9)
	b.PromptsAsked, b.CellID = 128, "other"
	var names []string
	for _, l := range readBench(t, render(t, "benchfmt", NewSet(numbered(a, b), result.Manifest{}))) {
		names = append(names, string(l.Name))
	}
	want := []string{"Serve/server=s/dataset=d/concurrency=8/max_new_tokens=256/prompts_asked=64", "Serve/server=s/dataset=d/concurrency=8/max_new_tokens=256/prompts_asked=128"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	later := a
	later.BaselineEngine, later.BaselineThroughputTokS, later.Speedup, later.ServerVersion = "", nil, nil, "9"
	first := readBench(t, render(t, "benchfmt", NewSet([]result.Row{a}, result.Manifest{})))[0]
	second := readBench(t, render(t, "benchfmt", NewSet([]result.Row{later}, result.Manifest{})))[0]
	if diff := cmp.Diff(string(first.Name), string(second.Name)); diff != "" {
		t.Errorf("the same cell has two names\n%s", diff)
	}
}

func TestGithubBenchmark(t *testing.T) {
	s := checkpoints(3, "a")
	s.Rows = s.Rows[:4] // three repeats of one cell, one of the next
	s.Rows[1] = warn(s.Rows[1], "usage_missing", "throughput understated", "output_throughput_tok_s")
	s.Rows[3].Speedup = nil
	var got []githubBench
	if err := json.Unmarshal([]byte(render(t, "github-benchmark", s)), &got); err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Name, Unit   string
		Range, Doubt bool
	}
	var entries []entry
	for _, b := range got {
		entries = append(entries, entry{b.Name, b.Unit, strings.HasPrefix(b.Range, "± "), strings.Contains(b.Extra, "throughput understated")})
		if b.Value <= 0 || !strings.HasPrefix(b.Extra, "n = ") {
			t.Errorf("%+v has no value or does not say how many repeats", b)
		}
	}
	cell := "server=a dataset=gsm8k concurrency=1 max_new_tokens=256 "
	next := "server=a dataset=gsm8k concurrency=8 max_new_tokens=256 "
	want := []entry{
		{cell + "speedup", "x", true, false}, {cell + "output_throughput_tok_s", "tok/s", true, true}, {cell + "accept_length", "tok", false, false},
		{next + "output_throughput_tok_s", "tok/s", false, false}, {next + "accept_length", "tok", false, false},
	}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if text := render(t, "github-benchmark", sets()["errors_only"]); strings.TrimSpace(text) != "[]" {
		t.Errorf("no values are %s, want an empty list", text)
	}
}

// FuzzBenchValue keeps any name one word without slashes that tells it from others.
func FuzzBenchValue(f *testing.F) {
	f.Add("a b", "a%20b")
	f.Add("org/model", "org%2Fmodel")
	f.Add("", "none")
	f.Add("\xff", "\ufffd")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range []string{a, b} {
			r := run(s, "d", 8, 0, 10)
			lines := readBench(t, render(t, "benchfmt", NewSet([]result.Row{r}, result.Manifest{})))
			if len(lines) != 1 || strings.Count(string(lines[0].Name), "/") != 4 {
				t.Fatalf("%q gives the name %s", s, lines[0].Name)
			}
		}
		if a != b && benchValue(a) == benchValue(b) {
			t.Errorf("%q and %q have one name %q", a, b, benchValue(a))
		}
	})
}
