package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner"
)

// planShard is what one shard does.
type planShard struct {
	Shard   int      `json:"shard"` // from 1
	Servers []string `json:"servers"`
	planCostJSON
}

// shardsOfPlan says who runs what when the plan is divided into n.
func shardsOfPlan(m matrix, datasets []runner.DatasetCheck, n int) ([]planShard, error) {
	if n < 1 {
		return nil, usage(fmt.Errorf("--shards %d: there must be at least one shard", n))
	}
	if n > 1 {
		if err := plan.Shardable(m.runs); err != nil {
			return nil, usage(err)
		}
	}
	dealt := plan.Deal(m.runs, n)
	out := make([]planShard, n)
	runs := make([][]plan.Run, n)
	for _, r := range m.runs {
		i := dealt[r.Server.Name] - 1
		runs[i] = append(runs[i], r)
		if !slices.Contains(out[i].Servers, r.Server.Name) {
			out[i].Servers = append(out[i].Servers, r.Server.Name)
		}
	}
	for i := range out {
		out[i].Shard = i + 1
		if out[i].Servers == nil {
			out[i].Servers = []string{}
		}
		out[i].planCostJSON = planCostJSON(runner.CostWith(runs[i], m.plan.Order, datasets))
	}
	return out, nil
}

// writeShards prints who runs what. Requests are what a shard takes its time for.
func writeShards(w io.Writer, shards []planShard) error {
	if len(shards) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\nshard\truns\tserver_passes\tbaseline_passes\trequests\tservers")
	for _, s := range shards {
		servers := clean(strings.Join(s.Servers, ", "))
		if servers == "" {
			servers = "none: there are more shards than servers"
		}
		fmt.Fprintf(tw, "%d/%d\t%d\t%d\t%d\t%d\t%s\n", s.Shard, len(shards), s.Runs, s.ServerPasses, s.BaselinePasses, s.Requests, servers)
	}
	return tw.Flush()
}
