package runner

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset"
	"github.com/specsweep/specsweep/runner/result"
)

// CodeBaselineAgain marks a row whose baseline is not the one that the other rows of
// its block have.
const CodeBaselineAgain = "baseline_measured_again"

// CodeRetryFailed marks an ok row that was to be made again, in vain: it is the old one.
const CodeRetryFailed = "retry_failed"

// Retried is the row of a run that counts after it was made again: a retry that failed does
// not replace an ok row. was then stays, with a warning that tells of the last failed retry,
// and kept is true.
func Retried(was, now result.Row) (row result.Row, kept bool) {
	if !was.OK() || now.OK() {
		return now, false
	}
	was.Warnings = slices.DeleteFunc(slices.Clone(was.Warnings), func(w result.Warning) bool { return w.Code == CodeRetryFailed })
	was.Warnings = append(was.Warnings, result.Warning{
		Code: CodeRetryFailed,
		Text: fmt.Sprintf("a retry at %s failed: %s", now.StartedAt.UTC().Format(time.RFC3339), now.Error),
	})
	was.RunIndex = now.RunIndex // the plan's now
	return was, true
}

// Pending is the runs that a resumed sweep has to make, in order: those without a
// row, and, when retry is set, those whose row has an error or lacks the baseline
// that the plan gives it.
func Pending(runs []plan.Run, rows []result.Row, retry bool) []plan.Run {
	done := byRunID(rows)
	var out []plan.Run
	for i := range runs {
		row, ok := done[runs[i].RunID]
		if !ok || retry && !Finished(&runs[i], row) {
			out = append(out, runs[i])
		}
	}
	return out
}

// Finished tells whether a run's row has all that the plan asks for.
func Finished(run *plan.Run, row *result.Row) bool {
	return row.OK() && (run.Server.Baseline == nil || row.BaselineThroughputTokS != nil)
}

func byRunID(rows []result.Row) map[string]*result.Row {
	m := map[string]*result.Row{}
	for i := range rows {
		m[rows[i].RunID] = &rows[i]
	}
	return m
}

// ChangedError says that what a run-set's rows were measured with is not what there
// is now: rows of both would not be comparable.
type ChangedError struct {
	What    string // for people: the version of server a, the prompts of dataset b …
	Was, Is string
	RunID   string // of a row that has Was
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s has changed since run %s of this run-set: it was %s, it is %s; start a new run-set, or bring the old one back",
		e.What, e.RunID, e.Was, e.Is)
}

// earlier is what a resumed sweep knows of the rows that are there already. The nil
// value knows none.
type earlier struct {
	rows []result.Row
	runs map[string]*plan.Run // of the whole plan, by run_id
	todo map[string]bool      // run_ids that this sweep makes
}

func newEarlier(o *Options) earlier {
	e := earlier{rows: o.Earlier, runs: map[string]*plan.Run{}, todo: map[string]bool{}}
	if len(o.Earlier) == 0 {
		return e
	}
	all := o.Plan.Expand()
	for i := range all {
		e.runs[all[i].RunID] = &all[i]
	}
	for i := range o.Runs {
		e.todo[o.Runs[i].RunID] = true
	}
	return e
}

// kept is the finished rows that stay, with their runs.
func (e *earlier) kept(yield func(*plan.Run, *result.Row) bool) {
	for i := range e.rows {
		row := &e.rows[i]
		if run := e.runs[row.RunID]; run != nil && !e.todo[row.RunID] && Finished(run, row) && !yield(run, row) {
			return
		}
	}
}

// served tells whether any row, finished or not, came from a server of that name.
func (e *earlier) served(name string) bool {
	for i := range e.rows {
		if e.rows[i].Server == name {
			return true
		}
	}
	return false
}

// sameServer compares what a server is with what the kept rows say of it. What was not
// known then or is not known now is no change.
func (e *earlier) sameServer(srv *server) error {
	var err error
	e.kept(func(run *plan.Run, row *result.Row) bool {
		was, model, what := row.ServerVersion, row.Model, "server "+srv.name
		if srv.baseline {
			was, model, what = row.BaselineVersion, srv.desc.Model, "the baseline_server of "+srv.name
			if run.Server.Baseline == nil || !sameEndpoint(run.Server.Baseline, srv.plan) {
				return true
			}
		} else if run.Server.Name != srv.name {
			return true
		}
		switch {
		case was != "" && srv.desc.Version != "" && was != srv.desc.Version:
			err = &ChangedError{"the version of " + what, was, srv.desc.Version, row.RunID}
		case model != "" && srv.desc.Model != "" && model != srv.desc.Model:
			err = &ChangedError{"the model of " + what, model, srv.desc.Model, row.RunID}
		}
		return err == nil
	})
	return err
}

// samePrompts compares the prompts of the datasets that this sweep has loaded.
func (e *earlier) samePrompts(loaded func(*plan.Dataset) *dataset.Set) error {
	var err error
	e.kept(func(run *plan.Run, row *result.Row) bool {
		set := loaded(run.Dataset)
		if set == nil || row.PromptSet == "" {
			return true
		}
		if is := dataset.Hash(set.First(run.NumPrompts)); is != row.PromptSet {
			err = &ChangedError{"prompt_set of dataset " + run.Dataset.Name, row.PromptSet, is, row.RunID}
		}
		return err == nil
	})
	return err
}

// measured is a pass that this session has made; nil for a restored one.
func measured(p *pass) *pass {
	if p == nil || p.restored != nil {
		return nil
	}
	return p
}

// baseline is a finished row that stays and has the baseline of a run's block. other
// says that there is none, but a row of the block with a baseline in doubt.
func (e *earlier) baseline(run *plan.Run) (found *result.Row, other bool) {
	for i := range e.rows {
		row := &e.rows[i]
		member := e.runs[row.RunID]
		if member == nil || e.todo[row.RunID] || row.BaselineThroughputTokS == nil ||
			blockKey(member) != blockKey(run) || !sameEndpoint(member.Server.Baseline, run.Server.Baseline) {
			continue
		}
		if row.OK() {
			return row, false
		}
		other = true
	}
	return nil, other
}

func sameEndpoint(a, b *plan.Endpoint) bool { return a == b || reflect.DeepEqual(a, b) }

// restoreBaseline fills in the baseline of a row from another one of its block that
// an earlier session has measured.
func (s *sweep) restoreBaseline(row *result.Row, p *pass, from *result.Row) {
	to, src := reflect.ValueOf(row).Elem(), reflect.ValueOf(from).Elem()
	for i := range to.NumField() {
		if strings.HasPrefix(to.Type().Field(i).Name, "Baseline") {
			to.Field(i).Set(src.Field(i))
		}
	}
	noRatio, saturated := "", p.latency.rates.saturated()
	for _, w := range from.Warnings {
		if ofBaseline(w) {
			row.Warnings = append(row.Warnings, w)
		}
		switch w.Code {
		case CodeBaselineSpeculates:
			noRatio = "the baseline server speculates itself"
		case CodeSaturated:
			saturated = saturated || slices.Contains(w.Columns, "baseline_throughput_tok_s")
		}
	}
	if noRatio == "" {
		fillSpeedup(row, saturated)
	}
	s.fillTPOTSpeedup(row, noRatio)
}

// ofBaseline tells the warnings that speak of the baseline's pass alone.
func ofBaseline(w result.Warning) bool {
	switch w.Code {
	case CodeBaselineSpeculates, CodeBaselineUnknown, CodeBaselineEngine, CodeNotInterleaved:
		return true
	case CodeSaturated:
		return slices.Contains(w.Columns, "baseline_throughput_tok_s")
	}
	return strings.HasPrefix(w.Text, baselineSide().who) || strings.HasPrefix(w.Text, "baseline throughput")
}
