package main

import (
	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/engine"
)

// matrix is a loaded plan and the runs of it that were asked for.
type matrix struct {
	plan *plan.Plan
	runs []plan.Run
}

// loadMatrix reads a plan with the workload flags and the --only filter. place, unless
// it is nil, puts what is only known where the plan runs into it. Every
// error of it is a usage error: nothing has been started or written.
func loadMatrix(cmd *cobra.Command, e *env, path string, engines *engine.Registry, o *overrideFlags, place func(*plan.Plan) *plan.Plan) (matrix, error) {
	over, err := o.override(cmd.Flags())
	if err != nil {
		return matrix{}, usage(err)
	}
	only, err := plan.ParseOnly(o.only)
	if err != nil {
		return matrix{}, usage(err)
	}
	p, err := plan.Load(path, plan.Options{Engines: engines.Names(), Metrics: metrics(), LookupEnv: e.lookup, Override: over})
	if err != nil {
		return matrix{}, usage(err)
	}
	if err := neverMet(p); err != nil {
		return matrix{}, usage(err)
	}
	if place != nil {
		p = place(p)
	}
	runs, err := only.Filter(p.Expand())
	if err != nil {
		return matrix{}, usage(err)
	}
	return matrix{p, runs}, nil
}
