package plan

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: whatever the bytes, Parse returns; a plan that loads has runs with
// ids of their own and loads the same again; one that does not says where.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"good/*.yaml", "bad/*.yaml"} {
		files, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files: %v", pattern, len(files), err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := try(string(src), options())
		if err != nil {
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("not a list of problems: %v", err)
			}
			for _, problem := range problems {
				if problem.File == "" || problem.Line < 1 || problem.Text == "" {
					t.Errorf("a problem without its place: %#v", problem)
				}
			}
			return
		}
		runs := p.Expand()
		if len(runs) == 0 {
			t.Fatal("a plan without runs")
		}
		seen := map[string]bool{}
		for i, r := range runs {
			if r.Index != i || seen[r.RunID] {
				t.Fatalf("run %d is %+v", i, r)
			}
			seen[r.RunID] = true
		}
		again, err := try(string(src), options())
		if err != nil || len(again.Expand()) != len(runs) || again.Expand()[0].RunID != runs[0].RunID {
			t.Fatalf("loads another way the second time: %v", err)
		}
	})
}

// FuzzParseOnly: whatever the argument, ParseOnly and Filter return, and what is
// kept is a part of the runs.
func FuzzParseOnly(f *testing.F) {
	for _, seed := range []string{"server=s", "concurrency=8,16", "num_prompts=10x", "temperature=0.5", "request_rate=2,inf", "=", "x", "concurrency=,"} {
		f.Add(seed)
	}
	runs := parse(f, head+oneServer+oneDataset+"concurrency: [8, 16]\n").Expand()
	f.Fuzz(func(t *testing.T, arg string) {
		o, err := ParseOnly([]string{arg})
		if err != nil {
			return
		}
		kept, err := o.Filter(runs)
		if (err == nil) == (len(kept) == 0) || len(kept) > len(runs) {
			t.Errorf("%q keeps %d runs: %v", arg, len(kept), err)
		}
	})
}

// FuzzFill: a name that is not there changes nothing, and what is filled in is
// not looked at again.
func FuzzFill(f *testing.F) {
	for _, seed := range []string{"k{k}", "${k}", "{{k}}", "{k", "}{", "{port}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := fill(s, map[string]string{"no such name": "x"}); got != s && !strings.Contains(s, "{no such name}") {
			t.Errorf("fill(%q) = %q", s, got)
		}
		if got := fill(s, map[string]string{"k": "{k}"}); got != s {
			t.Errorf("fill(%q) = %q", s, got)
		}
	})
}

// FuzzExpandVars: a text without ${ stays as it is, and a doubled one comes back.
func FuzzExpandVars(f *testing.F) {
	for _, seed := range []string{"a", "${A}", "$${A}", "${A:-b}", "$$", "${"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		expandVars(s, nil)
		skeleton(s)
		quoted := ""
		for i := 0; i < len(s); i++ {
			if s[i] == '$' && i+1 < len(s) && s[i+1] == '{' {
				quoted += "$"
			}
			quoted += s[i : i+1]
		}
		if got, problems := expandVars(quoted, nil); got != s || problems != nil {
			t.Errorf("expandVars(%q) = %q, %v; want %q", quoted, got, problems, s)
		}
	})
}
