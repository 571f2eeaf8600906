package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/result"
)

// cmdSameCounts checks that two run-sets have the same runs in the same order, with the
// same answers and the same acceptance: samecounts dir dir. Times may differ.
func cmdSameCounts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samecounts dir dir")
	}
	var sides [2][]result.Row
	for i, dir := range args {
		rows, problems, err := result.Read(ts.MkAbs(dir))
		ts.Check(err)
		if len(problems) > 0 {
			ts.Fatalf("%s: %q", dir, problems)
		}
		for _, r := range rows {
			sides[i] = append(sides[i], withoutTimes(r))
		}
	}
	if len(sides[0]) == 0 {
		ts.Fatalf("%s has no rows", args[0])
	}
	if diff := cmp.Diff(sides[0], sides[1]); diff != "" {
		ts.Fatalf("%s and %s (-first +second)\n%s", args[0], args[1], diff)
	}
}

// withoutTimes is what of a row must be the same each time that it is measured.
func withoutTimes(r result.Row) result.Row {
	return result.Row{
		SchemaVersion: r.SchemaVersion, Plan: r.Plan, RunIndex: r.RunIndex, CellID: r.CellID, RunID: r.RunID, Repeat: r.Repeat,
		Server: r.Server, Engine: r.Engine, Model: r.Model, Dataset: r.Dataset, Concurrency: r.Concurrency, Labels: r.Labels,
		PromptsAsked: r.PromptsAsked, NumPrompts: r.NumPrompts, Completed: r.Completed, Failed: r.Failed, OutputTokens: r.OutputTokens,
		AcceptLength: r.AcceptLength, AcceptanceRate: r.AcceptanceRate, AcceptSource: r.AcceptSource, NumDrafts: r.NumDrafts,
		NumDraftTokens: r.NumDraftTokens, NumAcceptedTokens: r.NumAcceptedTokens, PerPosition: r.PerPosition,
		BaselineEngine: r.BaselineEngine, BaselineCompleted: r.BaselineCompleted, BaselineFailed: r.BaselineFailed,
		BaselineOutputTokens: r.BaselineOutputTokens, PromptTokens: r.PromptTokens, PromptSet: r.PromptSet, Error: r.Error,
		ServerVersion: r.ServerVersion, BaselineVersion: r.BaselineVersion,
	}
}

func TestParseShard(t *testing.T) {
	for _, tt := range []struct {
		name, word, env string
		want            plan.Shard
		wantErr         string
	}{
		{"counted from 1", "2/3", "", plan.Shard{Index: 2, Of: 3}, ""},
		{"beyond the last", "4/3", "", plan.Shard{}, "count from 1 to 3"},
		{"from zero", "0/3", "", plan.Shard{}, "count from 1"},
		{"of none", "1/0", "", plan.Shard{}, "at least one shard"},
		{"no number", "a/3", "", plan.Shard{}, "write i/n"},
		{"another word", "all", "", plan.Shard{}, "write i/n"},
		{"an array", "auto", "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=2 SLURM_ARRAY_TASK_STEP=1", plan.Shard{Index: 1, Of: 3}, ""},
		{"an array with a step", "auto", "SLURM_ARRAY_TASK_ID=15 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_MAX=24 SLURM_ARRAY_TASK_STEP=5", plan.Shard{Index: 2, Of: 3}, ""},
		{"an array without a step", "auto", "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_COUNT=4", plan.Shard{Index: 4, Of: 4}, ""},
		{"an array with gaps", "auto", "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=6 SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=3", plan.Shard{}, "without gaps"},
		{"a task between steps", "auto", "SLURM_ARRAY_TASK_ID=11 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_MAX=20 SLURM_ARRAY_TASK_STEP=5", plan.Shard{}, "no task"},
		{"half an array", "auto", "SLURM_ARRAY_TASK_ID=1", plan.Shard{}, "SLURM_ARRAY_TASK_MIN is not set"},
		{"no number in an array", "auto", "SLURM_ARRAY_TASK_ID=x SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=2", plan.Shard{}, `is "x"`},
		{"an indexed job", "auto", "JOB_COMPLETION_INDEX=2 JOB_COMPLETIONS=3", plan.Shard{Index: 3, Of: 3}, ""},
		{"an indexed job without its completions", "auto", "JOB_COMPLETION_INDEX=2", plan.Shard{}, "JOB_COMPLETIONS is not set; the job file must set it"},
		{"an index beyond", "auto", "JOB_COMPLETION_INDEX=3 JOB_COMPLETIONS=3", plan.Shard{}, "counts from 0"},
		{"no scheduler", "auto", "", plan.Shard{}, "neither SLURM_ARRAY_TASK_ID"},
		{"two schedulers", "auto", "SLURM_ARRAY_TASK_ID=1 JOB_COMPLETION_INDEX=0", plan.Shard{}, "both SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseShard(tt.word, environOf(tt.env))
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("parseShard = %v, %v; want an error with %q", got, err, tt.wantErr)
				}
				return
			}
			if err != nil || got.Shard != tt.want {
				t.Fatalf("parseShard = %v, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func environOf(words string) lookupFunc {
	m := map[string]string{}
	for _, w := range strings.Fields(words) {
		name, value, _ := strings.Cut(w, "=")
		m[name] = value
	}
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func TestShardDir(t *testing.T) {
	for _, tt := range []struct {
		name, out, resume, array, want, wantErr string
	}{
		{"below --out", "p", "auto", "", filepath.Join("p", "shard-2"), ""},
		{"a job array", "", "auto", "4711", filepath.Join("results", "x", "slurm-4711", "shard-2"), ""},
		{"--out before the array", "p", "", "4711", filepath.Join("p", "shard-2"), ""},
		{"the folder that --resume names", "", "some/shard-2", "", "", ""},
		{"nothing in common", "", "last", "", "", "needs --out DIR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shardJob{Shard: plan.Shard{Index: 2, Of: 3}, array: tt.array}
			job := &sweepJob{out: tt.out, resume: resumeFlags{dir: tt.resume}, settings: settings{ResultsDir: "results"}}
			job.plan = &plan.Plan{Name: "x"}
			got, err := s.dir(job)
			if got != tt.want || (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("dir = %q, %v; want %q, %q", got, err, tt.want, tt.wantErr)
			}
		})
	}
}
