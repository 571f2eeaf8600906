package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner"
	"github.com/specsweep/specsweep/runner/engine/all"
)

func newPlanCmd(e *env) *cobra.Command {
	var (
		o      overrideFlags
		format string
		check  bool
		shards int
	)
	cmd := &cobra.Command{
		Use:   "plan PLAN",
		Short: "Check a plan and print its matrix",
		Long: `plan checks a plan, reads its datasets as far as the runs need them, prints every run
with its id, what the whole costs in requests, and every command that it would start. It
sends nothing, except with --check-servers, which asks the servers that run already,
once, whether they are ready and serve the model.

A cell's id is the same on every machine: it does not depend on the order of keys in
the file, on URLs, keys, labels or retries.`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, log, err := tools(cmd, e)
			if err != nil {
				return err
			}
			engines := all.Engines()
			m, err := loadMatrix(cmd, e, args[0], engines, &o, nil)
			if err != nil {
				return err
			}
			datasets := runner.CheckDatasets(cmd.Context(), m.runs)
			var divided []planShard
			if cmd.Flags().Changed("shards") {
				if divided, err = shardsOfPlan(m, datasets, shards); err != nil {
					return err
				}
			}
			err = errors.Join(writePlan(e.stdout, m, datasets, divided, format), datasetErrors(datasets))
			if err != nil || !check {
				return err
			}
			bar := newProgress(e.stderr, s, false, runner.Cost{}, 0)
			records, err := runner.Check(cmd.Context(), runner.Options{
				Plan: m.plan, Runs: m.runs, Engines: engines, Sink: &collectSink{progress: bar}, Log: log, LookupEnv: e.lookup, Now: e.now,
			})
			return errors.Join(err, writeChecks(e.stdout, records))
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "text", "text or json")
	f.BoolVar(&check, "check-servers", false, "ask the servers that run already")
	f.IntVar(&shards, "shards", 0, "show who runs what when the plan is divided into so many (run --shard i/n)")
	o.add(f)
	return cmd
}

// planJSON is the matrix for programs.
type planJSON struct {
	Plan     string        `json:"plan"`
	Runs     []planRunJSON `json:"runs"`
	Cost     planCostJSON  `json:"cost"`
	Datasets []planDataset `json:"datasets"`
	Commands []planCommand `json:"commands"`
	Shards   []planShard   `json:"shards,omitempty"`
}

type planDataset struct {
	Dataset string `json:"dataset"`
	Asked   int    `json:"prompts_asked"`
	Found   *int   `json:"prompts_found"` // at most as many as asked; null: on the Hub, not read
	Error   string `json:"error,omitempty"`
}

type planRunJSON struct {
	RunIndex     int             `json:"run_index"`
	RunID        string          `json:"run_id"`
	CellID       string          `json:"cell_id"`
	Repeat       int             `json:"repeat"`
	Server       string          `json:"server"`
	Baseline     bool            `json:"baseline"`
	Dataset      string          `json:"dataset"`
	Concurrency  int             `json:"concurrency"`
	MaxNewTokens int             `json:"max_new_tokens"`
	Temperature  float64         `json:"temperature"`
	NumPrompts   int             `json:"num_prompts"`
	RequestRate  *float64        `json:"request_rate"` // null: a closed loop
	Cell         json.RawMessage `json:"cell"`
}

type planCostJSON struct {
	Runs           int `json:"runs"`
	ServerPasses   int `json:"server_passes"`
	BaselinePasses int `json:"baseline_passes"`
	Requests       int `json:"requests"`
}

// planCommand is a command that the plan would start, before ${} expansion: what
// a variable holds may be secret.
type planCommand struct {
	Server   string   `json:"server"`
	Baseline bool     `json:"baseline"`
	Command  []string `json:"command"`
}

func writePlan(w io.Writer, m matrix, datasets []runner.DatasetCheck, shards []planShard, format string) error {
	switch format {
	case "json":
		return writePlanJSON(w, m, datasets, shards)
	case "text":
		return errors.Join(writePlanText(w, m, datasets), writeShards(w, shards))
	}
	return unknownFormat(format)
}

func writePlanJSON(w io.Writer, m matrix, datasets []runner.DatasetCheck, shards []planShard) error {
	cost := runner.CostWith(m.runs, m.plan.Order, datasets)
	out := planJSON{Plan: m.plan.Name, Cost: planCostJSON(cost), Shards: shards, Commands: commands(m), Runs: []planRunJSON{}, Datasets: []planDataset{}}
	for _, d := range datasets {
		p := planDataset{Dataset: d.Dataset, Asked: d.Asked}
		if !d.Hub {
			p.Found = &d.Found
		}
		if d.Err != nil {
			p.Error = d.Err.Error()
		}
		out.Datasets = append(out.Datasets, p)
	}
	for _, r := range m.runs {
		var rate *float64
		if r.RequestRate > 0 {
			rate = &r.RequestRate
		}
		out.Runs = append(out.Runs, planRunJSON{
			RequestRate: rate,
			RunIndex:    r.Index, RunID: r.RunID, CellID: r.CellID, Repeat: r.Repeat,
			Server: r.Server.Name, Baseline: r.Server.Baseline != nil, Dataset: r.Dataset.Name,
			Concurrency: r.Concurrency, MaxNewTokens: r.MaxNewTokens, Temperature: r.Temperature, NumPrompts: r.NumPrompts,
			Cell: r.Cell,
		})
	}
	return writeJSON(w, out)
}

func writePlanText(w io.Writer, m matrix, datasets []runner.DatasetCheck) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	rates := slices.ContainsFunc(m.runs, func(r plan.Run) bool { return r.RequestRate > 0 })
	header := "run_id\tserver\tbaseline\tdataset\tconcurrency\tmax_new_tokens\ttemperature\tnum_prompts"
	if rates {
		header += "\trequest_rate"
	}
	fmt.Fprintln(tw, header)
	for _, r := range m.runs {
		baseline := "none"
		if r.Server.Baseline != nil {
			baseline = "shared"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%d", r.RunID, clean(r.Server.Name), baseline, clean(r.Dataset.Name),
			r.Concurrency, r.MaxNewTokens, strconv.FormatFloat(r.Temperature, 'g', -1, 64), r.NumPrompts)
		switch {
		case !rates:
		case r.RequestRate > 0:
			fmt.Fprintf(tw, "\t%s", strconv.FormatFloat(r.RequestRate, 'g', -1, 64))
		default:
			fmt.Fprint(tw, "\tinf")
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	c := runner.CostWith(m.runs, m.plan.Order, datasets)
	unread := ""
	if slices.ContainsFunc(datasets, func(d runner.DatasetCheck) bool { return d.Hub }) {
		unread = ", if those on the Hub have as many prompts, of one turn each, as are asked for"
	}
	fmt.Fprintf(w, "\n%d runs: %d server passes and %d baseline passes, %d requests in all (warm-up and retries not counted)%s\n",
		c.Runs, c.ServerPasses, c.BaselinePasses, c.Requests, unread)
	for _, d := range datasets {
		switch {
		case d.Hub:
			fmt.Fprintf(w, "dataset %s: on the Hub, not read yet (specsweep datasets show)\n", clean(d.Dataset))
		case d.Err != nil:
			fmt.Fprintf(w, "dataset %s: ERROR %s\n", clean(d.Dataset), clean(d.Err.Error()))
		case d.Found < d.Asked:
			fmt.Fprintf(w, "dataset %s: %d prompts of the %d that are asked for (%s)\n", clean(d.Dataset), d.Found, d.Asked, clean(d.Summary))
		}
	}
	for _, cmd := range commands(m) {
		role := "server"
		if cmd.Baseline {
			role = "baseline of"
		}
		if _, err := fmt.Fprintf(w, "starts %s %s: %s\n", role, clean(cmd.Server), clean(strings.Join(cmd.Command, " "))); err != nil {
			return err
		}
	}
	return nil
}

// datasetErrors is the error of a plan whose data does not all load.
func datasetErrors(datasets []runner.DatasetCheck) error {
	failed := 0
	for _, d := range datasets {
		if d.Err != nil {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return &codeError{exitFailed, fmt.Errorf("%d of %d datasets cannot be measured", failed, len(datasets))}
}

// commands are the launches of the servers that the runs use, each once.
func commands(m matrix) []planCommand {
	out := []planCommand{}
	seen := map[*plan.Launch]bool{}
	add := func(name string, baseline bool, l *plan.Launch) {
		if l == nil || seen[l] {
			return
		}
		seen[l] = true
		out = append(out, planCommand{name, baseline, l.RawCommand})
	}
	for i := range m.runs {
		s := m.runs[i].Server
		if s.Baseline != nil {
			add(s.Name, true, s.Baseline.Launch)
		}
		add(s.Name, false, s.Launch)
	}
	return out
}

// writeChecks says of each server whether it is ready.
func writeChecks(w io.Writer, records []runner.ServerRecord) error {
	failed := 0
	for _, r := range records {
		role := "server"
		if r.Baseline {
			role = "baseline of"
		}
		text := "ok"
		switch {
		case r.Err != nil:
			failed++
			text = r.Err.Error()
		case r.Model != "":
			text = fmt.Sprintf("ok: serves %s, version %s", r.Model, orUnknown(r.Version))
			if len(r.Notes) > 0 {
				text += "; " + strings.Join(r.Notes, "; ")
			}
		}
		if _, err := fmt.Fprintf(w, "%s %s: %s\n", role, clean(r.Server), clean(text)); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &codeError{exitFailed, fmt.Errorf("%d of %d servers cannot be measured", failed, len(records))}
	}
	return nil
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
