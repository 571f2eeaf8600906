package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/result"
)

// shardAuto is the word of --shard that leaves it to the scheduler.
const shardAuto = "auto"

// lookupFunc reads an environment variable.
type lookupFunc = func(string) (string, bool)

// shardJob is the part of a plan that this process makes; nil: all of it.
type shardJob struct {
	plan.Shard
	array string // id of the Slurm job array, where that says the shard
	whole result.Whole
	ids   []string // of the shard's runs
}

// parseShard reads --shard. With auto the scheduler's variables say it.
func parseShard(word string, lookup lookupFunc) (*shardJob, error) {
	var s shardJob
	var err error
	switch word {
	case "":
		return nil, nil
	case shardAuto:
		s, err = schedulerShard(lookup)
	default:
		s.Shard, err = plan.ParseShard(word)
	}
	if err != nil {
		return nil, usage(fmt.Errorf("--shard %s: %w", word, err))
	}
	return &s, nil
}

// Of a Slurm job array (sbatch, "Job Array Support") and of a Kubernetes Indexed Job.
// Kubernetes tells the index alone, so the job file sets the number of completions.
const (
	slurmTask   = "SLURM_ARRAY_TASK_ID"
	slurmMin    = "SLURM_ARRAY_TASK_MIN"
	slurmMax    = "SLURM_ARRAY_TASK_MAX"
	slurmStep   = "SLURM_ARRAY_TASK_STEP"
	slurmCount  = "SLURM_ARRAY_TASK_COUNT"
	slurmJob    = "SLURM_ARRAY_JOB_ID"
	k8sIndex    = "JOB_COMPLETION_INDEX"
	k8sComplete = "JOB_COMPLETIONS"
)

func schedulerShard(lookup lookupFunc) (shardJob, error) {
	_, slurm := lookup(slurmTask)
	_, k8s := lookup(k8sIndex)
	switch {
	case slurm && k8s:
		return shardJob{}, fmt.Errorf("both %s and %s are set: which scheduler counts? Give --shard i/n", slurmTask, k8sIndex)
	case slurm:
		return slurmShard(lookup)
	case k8s:
		v, err := numbers(lookup, k8sIndex, k8sComplete)
		if err != nil {
			return shardJob{}, fmt.Errorf("%w; the job file must set it to the job's completions", err)
		}
		s := plan.Shard{Index: v[0] + 1, Of: v[1]}
		if err := s.Check(); err != nil {
			return shardJob{}, fmt.Errorf("%s %d of %s %d (%s counts from 0): %w", k8sIndex, v[0], k8sComplete, v[1], k8sIndex, err)
		}
		return shardJob{Shard: s}, nil
	}
	return shardJob{}, fmt.Errorf("neither %s (a Slurm job array: sbatch --array) nor %s with %s (a Kubernetes Indexed Job) is set; give --shard i/n",
		slurmTask, k8sIndex, k8sComplete)
}

// slurmShard counts a task within its array: --array=10-30:10 is three shards.
func slurmShard(lookup lookupFunc) (shardJob, error) {
	v, err := numbers(lookup, slurmTask, slurmMin, slurmMax)
	if err != nil {
		return shardJob{}, err
	}
	id, least, most, step := v[0], v[1], v[2], 1
	if _, ok := lookup(slurmStep); ok {
		if v, err = numbers(lookup, slurmStep); err != nil {
			return shardJob{}, err
		}
		step = v[0]
	}
	if step < 1 || id < least || id > most || (id-least)%step != 0 {
		return shardJob{}, fmt.Errorf("%s %d is no task of an array from %d to %d by %d", slurmTask, id, least, most, step)
	}
	of := (most-least)/step + 1
	// A list such as 1,5,6 has gaps that no step describes: shards would be missing.
	if _, ok := lookup(slurmCount); ok {
		if v, err = numbers(lookup, slurmCount); err != nil {
			return shardJob{}, err
		}
		if v[0] != of {
			return shardJob{}, fmt.Errorf("the array has %d tasks, but %d to %d by %d are %d: use an array without gaps, or give --shard i/n",
				v[0], least, most, step, of)
		}
	}
	array, _ := lookup(slurmJob)
	return shardJob{Shard: plan.Shard{Index: (id-least)/step + 1, Of: of}, array: array}, nil
}

// numbers reads variables that must be whole numbers.
func numbers(lookup lookupFunc, names ...string) ([]int, error) {
	out := make([]int, len(names))
	for i, name := range names {
		text, ok := lookup(name)
		if !ok || text == "" {
			return nil, fmt.Errorf("%s is not set", name)
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s is %q, not a whole number", name, text)
		}
		out[i] = n
	}
	return out, nil
}

// cut leaves a job the runs of its shard, in a folder of the shard's own.
func (s *shardJob) cut(job *sweepJob) error {
	if s == nil {
		return nil
	}
	if s.Of > 1 {
		if err := plan.Shardable(job.runs); err != nil {
			return usage(err)
		}
	}
	dir, err := s.dir(job)
	if err != nil {
		return usage(err)
	}
	s.whole = wholeOf(job.runs, s.Of)
	job.out, job.shard, job.runs = dir, s, s.Runs(job.runs)
	s.ids = runIDs(job.runs)
	return nil
}

// dir is the shard's folder; empty: the one that --resume names.
func (s *shardJob) dir(job *sweepJob) (string, error) {
	name := result.ShardPrefix + strconv.Itoa(s.Index)
	switch word := job.resume.dir; {
	case job.out != "":
		return filepath.Join(job.out, name), nil
	case word != "" && word != resumeLast && word != resumeAuto:
		return "", nil
	case s.array != "" && filepath.IsLocal(s.array):
		return filepath.Join(job.settings.ResultsDir, job.plan.Name, "slurm-"+s.array, name), nil
	}
	return "", fmt.Errorf("--shard %s needs --out DIR, the folder that all shards of this run share: each writes to DIR/%s<i>", s.Shard, result.ShardPrefix)
}

// wholeOf describes all runs that shards are cut from.
func wholeOf(runs []plan.Run, of int) result.Whole {
	w := result.Whole{RunsSHA256: result.RunsHash(runIDs(runs)), Runs: len(runs)}
	dealt, at := plan.Deal(runs, of), map[string]int{}
	for i := range runs {
		name := runs[i].Server.Name
		j, ok := at[name]
		if !ok {
			j = len(w.Servers)
			at[name] = j
			w.Servers = append(w.Servers, result.WholeServer{Server: name, Shard: dealt[name]})
		}
		w.Servers[j].Runs++
	}
	return w
}

func runIDs(runs []plan.Run) []string {
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = runs[i].RunID
	}
	return ids
}

// describe notes the shard in a manifest.
func (s *shardJob) describe(m *result.Manifest, lookup lookupFunc) {
	if s == nil {
		return
	}
	node, _ := nodeName(lookup)
	gpu, _ := gpuName(lookup)
	m.Shard = &result.Shard{Index: s.Index, Of: s.Of, Node: node, GPU: gpu}
	m.Whole, m.RunIDs = &s.whole, s.ids
}

// sameShard refuses to go on with another shard's run-set.
func sameShard(m *result.Manifest, s *shardJob) error {
	switch {
	case s == nil || m.Shard == nil && m.Whole == nil:
		return nil // the whole plan may go on with any part of it
	case m.Shard == nil:
		return errors.New("it is merged from shards: go on with it without --shard")
	case m.Shard.Index != s.Index || m.Shard.Of != s.Of:
		return fmt.Errorf("it is shard %d/%d, not %s: give the shards a new --out when their number changes", m.Shard.Index, m.Shard.Of, s.Shard)
	}
	return nil
}

// Words in labels that stand for where a sweep runs.
const (
	nodeWord = "{node}"
	gpuWord  = "{gpu}"
	unknown  = "unknown"
)

// placed is a plan with {node} and {gpu} in its labels replaced, and the values of the
// labels that had such a word.
func placed(p *plan.Plan, lookup lookupFunc, log *slog.Logger) (*plan.Plan, map[string]bool) {
	node, _ := nodeName(lookup)
	gpu, _ := gpuName(lookup)
	missed, values := map[string]bool{}, map[string]bool{}
	p = p.WithLabels(func(text string) string {
		found := false
		for _, w := range []struct{ word, value string }{{nodeWord, node}, {gpuWord, gpu}} {
			if !strings.Contains(text, w.word) {
				continue
			}
			found = true
			if w.value == "" && !missed[w.word] {
				missed[w.word] = true
				log.Warn("a label's word is not known here", "word", w.word, "label_value", unknown)
			}
			if w.value == "" {
				w.value = unknown
			}
			text = strings.ReplaceAll(text, w.word, w.value)
		}
		if found {
			values[text] = true
		}
		return text
	})
	return p, values
}

// nodeName is the node as the scheduler calls it, else the host's own name. NODE_NAME
// is what job files call spec.nodeName of the downward API.
func nodeName(lookup lookupFunc) (string, bool) {
	if name, ok := firstSet(lookup, "SLURMD_NODENAME", "NODE_NAME"); ok {
		return name, true
	}
	name, err := os.Hostname()
	return name, err == nil && name != ""
}

// gpuName is the devices that this process was given.
func gpuName(lookup lookupFunc) (string, bool) {
	return firstSet(lookup, "CUDA_VISIBLE_DEVICES", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "NVIDIA_VISIBLE_DEVICES")
}

func firstSet(lookup lookupFunc, names ...string) (string, bool) {
	for _, name := range names {
		if v, ok := lookup(name); ok && v != "" {
			return v, true
		}
	}
	return "", false
}
