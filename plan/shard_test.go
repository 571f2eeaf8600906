package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeal(t *testing.T) {
	server := func(name string, prompts ...int) []Run {
		var runs []Run
		s := &Server{Name: name}
		for _, n := range prompts {
			runs = append(runs, Run{Server: s, NumPrompts: n})
		}
		return runs
	}
	join := func(all ...[]Run) []Run {
		var runs []Run
		for _, r := range all {
			runs = append(runs, r...)
		}
		return runs
	}
	for _, tt := range []struct {
		name string
		runs []Run
		n    int
		want map[string]int
	}{
		{"alike go round", join(server("a", 1), server("b", 1), server("c", 1), server("d", 1)), 2, map[string]int{"a": 1, "b": 2, "c": 1, "d": 2}},
		{"the largest first", join(server("a", 1), server("b", 2, 2), server("c", 3)), 2, map[string]int{"b": 1, "c": 2, "a": 2}},
		{"more shards than servers", join(server("a", 1), server("b", 5)), 4, map[string]int{"b": 1, "a": 2}},
		{"one", join(server("a", 1), server("b", 5)), 1, map[string]int{"a": 1, "b": 1}},
		{"no runs", nil, 3, map[string]int{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Deal(tt.runs, tt.n)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			made := 0
			for i := 1; i <= tt.n; i++ {
				made += len(Shard{i, tt.n}.Runs(tt.runs))
			}
			if made != len(tt.runs) {
				t.Errorf("the shards make %d runs of %d", made, len(tt.runs))
			}
		})
	}
}

func TestShardable(t *testing.T) {
	launched := func(url string) Endpoint { return Endpoint{URL: url, Launch: &Launch{}} }
	own := launched("http://127.0.0.1:{port}")
	live := Endpoint{URL: "http://localhost:30001"}
	for _, tt := range []struct {
		name    string
		servers []Server
		wantErr string
	}{
		{"launched", []Server{{Name: "a", Endpoint: own, Baseline: &own}, {Name: "b", Endpoint: own, Baseline: &own}}, ""},
		{"live, each its own", []Server{{Name: "a", Endpoint: Endpoint{URL: "http://h:1"}}, {Name: "b", Endpoint: Endpoint{URL: "http://h:2"}}}, ""},
		{"a live baseline", []Server{{Name: "a", Endpoint: own, Baseline: &live}, {Name: "b", Endpoint: own, Baseline: &live}}, "baseline_server at localhost:30001 is reached by a, b"},
		{"one server under two names of the host", []Server{{Name: "a", Endpoint: live}, {Name: "b", Endpoint: Endpoint{URL: "http://127.0.0.1:30001"}}}, "server at localhost:30001"},
		{"the port of the scheme", []Server{{Name: "a", Endpoint: Endpoint{URL: "https://H"}}, {Name: "b", Endpoint: Endpoint{URL: "https://h:443/x"}}}, "h:443"},
		{"launched on a fixed port", []Server{{Name: "a", Endpoint: own, Baseline: &Endpoint{URL: live.URL, Launch: &Launch{}}}, {Name: "b", Endpoint: own, Baseline: &live}}, "on a port of its own"},
		{"launched on another machine", []Server{{Name: "a", Endpoint: launched("http://node7:{port}")}, {Name: "b", Endpoint: launched("http://node7:{port}")}}, "node7:{port}"},
		{"one server", []Server{{Name: "a", Endpoint: live, Baseline: &live}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var runs []Run
			for i := range tt.servers {
				runs = append(runs, Run{Server: &tt.servers[i]}, Run{Server: &tt.servers[i]})
			}
			err := Shardable(runs)
			if (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("Shardable = %v, want %q", err, tt.wantErr)
			}
		})
	}
}

func TestWithLabels(t *testing.T) {
	p := parse(t, head+`
labels: {node: "{node}"}
baseline_server: {server: "http://h:3", labels: {at: "{node}"}}
servers: [{name: a, server: "http://h:1"}, {name: b, server: "http://h:2", labels: {x: y}}]
datasets: [{name: d, input_data: prompts.jsonl}]
`)
	got := p.WithLabels(func(s string) string { return strings.ReplaceAll(s, "{node}", "n1") })
	runs, was := got.Expand(), p.Expand()
	if diff := cmp.Diff(map[string]string{"node": "n1", "x": "y"}, runs[1].Server.Labels); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if b := runs[0].Server.Baseline; b.Labels["at"] != "n1" || b != runs[1].Server.Baseline {
		t.Errorf("baseline %+v; want one that both share, at n1", b)
	}
	if runs[0].RunID != was[0].RunID || was[0].Server.Labels["node"] != "{node}" || was[0].Server.Baseline.Labels["at"] != "{node}" {
		t.Errorf("the plan itself has changed, or its ids: %+v", was[0].Server)
	}
}

func FuzzParseShard(f *testing.F) {
	for _, s := range []string{"1/2", "0/1", "a/b", "1/", "9/3", "-1/2", "1/2/3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseShard(text)
		if err == nil && (s.Index < 1 || s.Index > s.Of) {
			t.Errorf("ParseShard(%q) = %v", text, s)
		}
	})
}
