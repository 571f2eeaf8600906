package runner

import (
	"context"
	"errors"
	"sync"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset"
)

// Cost is what a sweep will do, as far as it can be told beforehand.
type Cost struct {
	Runs           int
	ServerPasses   int
	BaselinePasses int // shared baselines counted once a block
	Requests       int // with as many prompts as asked; retries not counted
}

// CostOf counts the passes and requests of runs, without doing anything.
func CostOf(runs []plan.Run, order plan.Order) Cost { return CostWith(runs, order, nil) }

// CostWith is CostOf with what the datasets have: of one that was read, no more
// prompts than are there, and every turn of them.
func CostWith(runs []plan.Run, order plan.Order, datasets []DatasetCheck) Cost {
	s := newSchedule(runs, order, false)
	c := Cost{Runs: len(runs)}
	for _, st := range s.steps {
		if st.baseline {
			c.BaselinePasses++
		} else {
			c.ServerPasses++
		}
		run := &runs[st.runs[0]]
		requests := run.NumPrompts
		for i := range datasets {
			if datasets[i].Dataset == run.Dataset.Name && datasets[i].requests != nil {
				requests = datasets[i].requests[min(requests, datasets[i].Found)]
			}
		}
		c.Requests += requests
	}
	return c
}

// Check asks every server of the runs that runs already, once, whether it can be
// measured. Servers that the plan launches are not started and not reported.
func Check(ctx context.Context, o Options) ([]ServerRecord, error) {
	s, err := newSweep(o)
	if err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	var records []ServerRecord
	for _, srv := range s.servers {
		if srv.plan.Launch == nil {
			wg.Go(func() { srv.attach(ctx, 0) })
		}
	}
	wg.Wait()
	for _, srv := range s.servers {
		if srv.plan.Launch == nil {
			records = append(records, srv.record())
		}
	}
	return records, errors.Join(s.close(), context.Cause(ctx))
}

// DatasetCheck is what a dataset has for the runs.
type DatasetCheck struct {
	Dataset string
	Hub     bool // on the Hub: not read
	Asked   int  // prompts of the largest run
	Found   int  // usable prompts, at most Asked
	Summary string
	Err     error // why it cannot be measured

	requests []int // that the first 0, 1, 2 … prompts make; nil: not read
}

// CheckDatasets reads every local dataset of the runs as far as they need it. It
// does not ask the Hub.
func CheckDatasets(ctx context.Context, runs []plan.Run) []DatasetCheck {
	c := newPromptCache(runs, dataset.Options{})
	var out []DatasetCheck
	for _, d := range c.order {
		if d.Hub {
			out = append(out, DatasetCheck{Dataset: d.Name, Hub: true, Asked: c.need[d]})
			continue
		}
		set, err := c.get(ctx, d)
		check := DatasetCheck{Dataset: d.Name, Asked: c.need[d], Err: err}
		if err == nil {
			check.Found, check.Summary = len(set.Prompts), set.Summary()
			check.requests = []int{0}
			for i, p := range set.Prompts {
				check.requests = append(check.requests, check.requests[i]+1+len(p.Next))
			}
		}
		out = append(out, check)
	}
	return out
}
