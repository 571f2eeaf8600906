package runner

import (
	"context"
	"errors"
	"sync"

	"github.com/specsweep/specsweep/plan"
)

// Cost is what a sweep will do, as far as it can be told beforehand.
type Cost struct {
	Runs           int
	ServerPasses   int
	BaselinePasses int // shared baselines counted once a block
	Requests       int // with as many prompts as asked; retries not counted
}

// CostOf counts the passes and requests of runs, without doing anything.
func CostOf(runs []plan.Run, order plan.Order) Cost {
	s := newSchedule(runs, order, false)
	c := Cost{Runs: len(runs)}
	for _, st := range s.steps {
		if st.baseline {
			c.BaselinePasses++
		} else {
			c.ServerPasses++
		}
		c.Requests += runs[st.runs[0]].NumPrompts
	}
	return c
}

// Check asks every server of the runs that runs already whether it can be
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
			wg.Go(func() { srv.attach(ctx) })
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
