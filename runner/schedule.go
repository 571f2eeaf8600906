package runner

import (
	"fmt"
	"reflect"

	"github.com/specsweep/specsweep/plan"
)

// schedule is the order of all passes of a sweep: a pure function of the runs.
type schedule struct {
	endpoints []endpoint
	steps     []step

	// By position in the runs:
	serverOf   []int // endpoint of the run's server
	baselineOf []int // endpoint of the run's baseline, -1: none
	blockOf    []int
}

// endpoint is a server to be measured, once however many runs use it.
type endpoint struct {
	name     string // of the server, or of the first server that names this baseline
	baseline bool
	plan     *plan.Endpoint
}

// step is one pass on one endpoint.
type step struct {
	endpoint int
	baseline bool
	block    int
	runs     []int // positions in the runs: one for a server, all that share it for a baseline
}

// newSchedule orders the passes. By block, repeat 0 goes baseline, then servers
// in plan order, and each further repeat starts one place later, so that drift
// of the machine does not always favour the same one. By server, all passes of an
// endpoint follow each other, baselines first. serverFirst puts each block's
// baseline behind its servers and never rotates.
func newSchedule(runs []plan.Run, order plan.Order, serverFirst bool) schedule {
	s := schedule{}
	blocks := s.group(runs)
	for b, members := range blocks {
		bases, servers := s.blockSteps(b, members)
		steps := append(bases, servers...)
		switch {
		case serverFirst:
			steps = append(servers, bases...)
		case order != plan.OrderByServer:
			steps = rotate(steps, runs[members[0]].Repeat)
		}
		s.steps = append(s.steps, steps...)
	}
	if order == plan.OrderByServer && !serverFirst {
		s.steps = byEndpoint(s.steps, s.endpoints)
	}
	return s
}

// group finds the endpoints and blocks and returns the runs of each block.
func (s *schedule) group(runs []plan.Run) [][]int {
	var blocks [][]int
	index := map[string]int{}
	for i := range runs {
		r := &runs[i]
		s.serverOf = append(s.serverOf, s.add(r.Server.Name, false, &r.Server.Endpoint))
		base := -1
		if r.Server.Baseline != nil {
			base = s.add(r.Server.Name, true, r.Server.Baseline)
		}
		s.baselineOf = append(s.baselineOf, base)
		key := blockKey(r)
		b, ok := index[key]
		if !ok {
			b = len(blocks)
			index[key] = b
			blocks = append(blocks, nil)
		}
		blocks[b] = append(blocks[b], i)
		s.blockOf = append(s.blockOf, b)
	}
	return blocks
}

// blockKey is everything of a run but its pair.
func blockKey(r *plan.Run) string {
	return fmt.Sprintf("%s\x00%d\x00%d\x00%v\x00%d\x00%v\x00%d",
		r.Dataset.Name, r.Concurrency, r.MaxNewTokens, r.Temperature, r.NumPrompts, r.RequestRate, r.Repeat)
}

// add returns the number of an endpoint. Servers are one per name; baselines are
// the same when everything that the plan says of them is.
func (s *schedule) add(name string, baseline bool, e *plan.Endpoint) int {
	for i, have := range s.endpoints {
		if have.baseline != baseline {
			continue
		}
		if baseline && (have.plan == e || reflect.DeepEqual(have.plan, e)) || !baseline && have.name == name {
			return i
		}
	}
	s.endpoints = append(s.endpoints, endpoint{name: name, baseline: baseline, plan: e})
	return len(s.endpoints) - 1
}

func (s *schedule) blockSteps(block int, members []int) (bases, servers []step) {
	at := map[int]int{}
	for _, r := range members {
		servers = append(servers, step{endpoint: s.serverOf[r], block: block, runs: []int{r}})
		e := s.baselineOf[r]
		if e < 0 {
			continue
		}
		i, ok := at[e]
		if !ok {
			i = len(bases)
			at[e] = i
			bases = append(bases, step{endpoint: e, baseline: true, block: block})
		}
		bases[i].runs = append(bases[i].runs, r)
	}
	return bases, servers
}

func rotate(steps []step, by int) []step {
	by %= len(steps)
	return append(steps[by:len(steps):len(steps)], steps[:by]...)
}

// byEndpoint collects the steps of each endpoint, baselines first, keeping the
// order of blocks.
func byEndpoint(steps []step, endpoints []endpoint) []step {
	out := make([]step, 0, len(steps))
	for _, baseline := range []bool{true, false} {
		for e := range endpoints {
			if endpoints[e].baseline != baseline {
				continue
			}
			for _, st := range steps {
				if st.endpoint == e {
					out = append(out, st)
				}
			}
		}
	}
	return out
}
