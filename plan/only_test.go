package plan

import (
	"fmt"
	"strings"
	"testing"
)

const onlyPlan = head + `
servers: [{name: a, server: "http://h:1"}, {name: "b,c", server: "http://h:2"}]
datasets: [{name: d, input_data: prompts.jsonl}, {name: "e=1", input_data: prompts.jsonl}]
concurrency: [1, 8]
temperature: [0, 0.5]
num_prompts: 10x
repeats: 2
`

func TestOnly(t *testing.T) {
	runs := parse(t, onlyPlan).Expand()
	for _, tt := range []struct {
		name string
		args []string
		want int
	}{
		{"nothing", nil, 32},
		{"a server", []string{"server=a"}, 16},
		{"a name with a comma", []string{"server=b,c"}, 16},
		{"two names", []string{"server=a", "server=b,c"}, 32},
		{"a name with =", []string{"dataset=e=1"}, 16},
		{"an axis", []string{"concurrency=8"}, 16},
		{"a list", []string{"concurrency=1,8"}, 32},
		{"a fraction", []string{"temperature=.5"}, 16},
		{"the number of prompts", []string{"num_prompts=80"}, 16},
		{"prompts as in the plan", []string{"num_prompts=10x"}, 32},
		{"several keys", []string{"server=a", "dataset=d", "concurrency=8", "temperature=0.50", "max_new_tokens=256"}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := ParseOnly(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := o.Filter(runs)
			if err != nil || len(kept) != tt.want {
				t.Fatalf("%d runs, want %d: %v", len(kept), tt.want, err)
			}
			for _, r := range kept {
				if all := runs[r.Index]; all.RunID != r.RunID {
					t.Errorf("run %d is now %s, was %s", r.Index, r.RunID, all.RunID)
				}
			}
		})
	}
	if kept, err := (Only{}).Filter(runs); err != nil || len(kept) != len(runs) {
		t.Errorf("the zero value keeps %d: %v", len(kept), err)
	}
}

func TestOnlyOfARate(t *testing.T) {
	runs := parse(t, head+oneServer+oneDataset+"request_rate: [2, 0.5, inf]\n").Expand()
	for _, tt := range []struct {
		name, arg, want string
	}{
		{"a rate", "request_rate=2.0", "2\n"},
		{"a fraction and the closed loop", "request_rate=.5,inf", "0.5\n0\n"},
		{"a rate that is none", "request_rate=0", `"0" is no value of request_rate`},
		{"another word", "request_rate=Inf", `"Inf" is no value of request_rate`},
		{"no such rate", "request_rate=3", "no run has it (have 2, 0.5, inf)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := ParseOnly([]string{tt.arg})
			var kept []Run
			if err == nil {
				kept, err = o.Filter(runs)
			}
			got := ""
			for _, r := range kept {
				got += fmt.Sprintln(r.RequestRate)
			}
			if err != nil {
				got = err.Error()
			}
			if !strings.HasSuffix(got, tt.want) {
				t.Errorf("have %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOnlyErrors(t *testing.T) {
	runs := parse(t, onlyPlan+"exclude: [{server: a, concurrency: 8}]\n").Expand()
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"no value", []string{"server"}, "--only server: want key=value, as in concurrency=8"},
		{"empty value", []string{"server="}, "--only server=: want key=value, as in concurrency=8"},
		{"unknown key", []string{"concurency=8"}, `--only concurency=8: unknown key "concurency" (did you mean concurrency?)`},
		{"unknown key, nothing like it", []string{"url=8"}, "(have concurrency, dataset, max_new_tokens, num_prompts, request_rate, server, temperature)"},
		{"not a number", []string{"concurrency=08"}, `--only concurrency=08: "08" is no value of concurrency`},
		{"a fraction", []string{"max_new_tokens=1.0"}, `"1.0" is no value of max_new_tokens`},
		{"not a temperature", []string{"temperature=nan"}, `"nan" is no value of temperature`},
		{"not a number of prompts", []string{"num_prompts=0x"}, `"0x" is no value of num_prompts`},
		{"empty item", []string{"concurrency=8,"}, `"" is no value of concurrency`},
		{"two at once", []string{"x=1", "concurrency=y"}, "\n"},
		{"no such server", []string{"server=z"}, "--only server=z: no run has it (have a, b,c)"},
		{"no such value", []string{"concurrency=1,9"}, "--only concurrency=9: no run has it (have 1, 8)"},
		{"no such temperature", []string{"temperature=1"}, "(have 0, 0.5)"},
		{"no such prompts", []string{"num_prompts=9"}, "(have 64, 80)"},
		{"not together", []string{"server=a", "concurrency=8"}, "no run has all of them together"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := ParseOnly(tt.args)
			if err == nil {
				_, err = o.Filter(runs)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
