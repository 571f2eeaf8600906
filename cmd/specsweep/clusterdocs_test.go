package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// indexedJob is what the tests read of the Job; the schema sees all of it.
type indexedJob struct {
	Spec struct {
		CompletionMode           string
		Completions, Parallelism int
		BackoffLimitPerIndex     *int
		PodFailurePolicy         struct {
			Rules []struct {
				OnExitCodes *struct{ ContainerName string }
			}
		}
		Template struct {
			Spec struct {
				RestartPolicy string
				Containers    []struct {
					Name          string
					Command, Args []string
					Env           []struct {
						Name, Value string
						ValueFrom   struct {
							FieldRef struct{ FieldPath string }
						}
					}
					Resources    struct{ Limits map[string]any }
					VolumeMounts []struct{ Name, MountPath string }
				}
				Volumes []struct {
					Name                  string
					PersistentVolumeClaim *struct{ ClaimName string }
				}
			}
		}
	}
}

// jobFile reads the documents of docs/cluster/indexed-job.yaml, as JSON, by kind.
func jobFile(t *testing.T) map[string][]byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("..", "..", "docs", "cluster", "indexed-job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string][]byte{}
	for d := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var v map[string]any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return docs
		} else if err != nil {
			t.Fatal(err)
		}
		kind, _ := v["kind"].(string)
		if docs[kind] != nil {
			t.Fatalf("two documents of kind %q", kind)
		}
		if docs[kind], err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
}

// validateKind holds one object against the extract of the Kubernetes API.
func validateKind(t *testing.T, kind string, text []byte) error {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("testdata/kubernetes/objects.schema.json#/$defs/" + kind)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(doc)
}

func TestIndexedJobIsValid(t *testing.T) {
	t.Parallel()
	docs := jobFile(t)
	for _, kind := range []string{"Job", "PersistentVolumeClaim"} {
		if docs[kind] == nil {
			t.Errorf("no document of kind %s", kind)
			continue
		}
		if err := validateKind(t, kind, docs[kind]); err != nil {
			t.Error(err)
		}
	}
	if len(docs) != 2 {
		t.Errorf("%d documents, want a Job and a PersistentVolumeClaim", len(docs))
	}
}

// The schema finds the faults that a job file is likely to have.
func TestIndexedJobFaultsAreFound(t *testing.T) {
	t.Parallel()
	job := string(jobFile(t)["Job"])
	for _, tt := range []struct{ name, old, new string }{
		{"misspelt field", `"completionMode"`, `"completionsMode"`},
		{"unknown mode", `"Indexed"`, `"indexed"`},
		{"text for a number", `"completions":3`, `"completions":"3"`},
		{"number for a text", `"value":"3"`, `"value":3`},
		{"condition status as a boolean", `"status":"True"`, `"status":true`},
		{"no restart policy of that name", `"restartPolicy":"Never"`, `"restartPolicy":"never"`},
		{"version of another kind", `"batch/v1"`, `"v1"`},
		{"quantity with a blank", `"64Gi"`, `"64 Gi"`},
		{"exit code as a text", `"values":[2,4]`, `"values":["2","4"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(job, tt.old, tt.new, 1)
			if bad == job {
				t.Fatalf("%s is not in the job", tt.old)
			}
			if err := validateKind(t, "Job", []byte(bad)); err == nil {
				t.Errorf("%s instead of %s is valid, want an error", tt.new, tt.old)
			}
		})
	}
}

// What the API server checks beyond the schema, and what --shard auto relies on.
func TestIndexedJobFitsTogether(t *testing.T) {
	t.Parallel()
	var job indexedJob
	var claim struct{ Metadata struct{ Name string } }
	docs := jobFile(t)
	if err := errors.Join(json.Unmarshal(docs["Job"], &job), json.Unmarshal(docs["PersistentVolumeClaim"], &claim)); err != nil {
		t.Fatal(err)
	}
	spec, pod := job.Spec, job.Spec.Template.Spec
	if spec.CompletionMode != "Indexed" || spec.Completions != spec.Parallelism || spec.BackoffLimitPerIndex == nil {
		t.Errorf("completionMode %s, completions %d, parallelism %d, backoffLimitPerIndex %v; want Indexed, two equal numbers and a limit",
			spec.CompletionMode, spec.Completions, spec.Parallelism, spec.BackoffLimitPerIndex)
	}
	if pod.RestartPolicy != "Never" {
		t.Errorf("restartPolicy %s: a podFailurePolicy needs Never", pod.RestartPolicy)
	}
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers, want 1", len(pod.Containers))
	}
	c := pod.Containers[0]
	for i, rule := range spec.PodFailurePolicy.Rules {
		if rule.OnExitCodes != nil && rule.OnExitCodes.ContainerName != c.Name {
			t.Errorf("rule %d speaks of container %s, there is %s", i, rule.OnExitCodes.ContainerName, c.Name)
		}
	}
	env := map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.Value + e.ValueFrom.FieldRef.FieldPath
	}
	if got := env["JOB_COMPLETIONS"]; got != strconv.Itoa(spec.Completions) {
		t.Errorf("JOB_COMPLETIONS %q, completions %d: want the same", got, spec.Completions)
	}
	if got := env["NODE_NAME"]; got != "spec.nodeName" {
		t.Errorf("NODE_NAME comes from %q, want spec.nodeName", got)
	}
	if _, ok := c.Resources.Limits["nvidia.com/gpu"]; !ok {
		t.Error("no limit of nvidia.com/gpu")
	}
	var mounted, volumes []string
	for _, m := range c.VolumeMounts {
		mounted = append(mounted, m.Name)
	}
	for _, v := range pod.Volumes {
		volumes = append(volumes, v.Name)
		if v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName != claim.Metadata.Name {
			t.Errorf("volume %s claims %s, the file makes %s", v.Name, v.PersistentVolumeClaim.ClaimName, claim.Metadata.Name)
		}
	}
	slices.Sort(mounted)
	slices.Sort(volumes)
	if diff := cmp.Diff(volumes, mounted); diff != "" {
		t.Errorf("mounts (-volumes +mounted):\n%s", diff)
	}
	out := slices.IndexFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--out=/results/") })
	if out < 0 || !slices.Contains(mounted, "results") {
		t.Errorf("args %q: want --out below the mounted /results", c.Args)
	}
}

// flagWord is a long flag as it stands in a file of docs/cluster.
var flagWord = regexp.MustCompile(`--[a-z][a-z-]*`)

// commandLine is a call of specsweep in a shell file or a page: the program, its
// command, and the rest of the line.
var commandLine = regexp.MustCompile(`(?m)(?:^|[^-./\w]|:-)specsweep(?:\}")? (run|plan|merge|report|compare)\b([^\n` + "`" + `|;#>]*)`)

// Every call of specsweep in docs/cluster names flags that its command has.
func TestClusterFilesUseFlagsThatExist(t *testing.T) {
	t.Parallel()
	root := newRootCmd(&env{})
	check := func(t *testing.T, command, line string) {
		cmd, _, err := root.Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range flagWord.FindAllString(line, -1) {
			if name := strings.TrimPrefix(word, "--"); cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
				t.Errorf("specsweep %s%s: %s has no flag %s", command, line, command, word)
			}
		}
	}
	for _, tt := range []struct {
		file  string
		least []string // flags that must be there
	}{
		{"sweep.sbatch", []string{"--shard", "--out", "--resume"}},
		{"README.md", []string{"--shards", "--out", "--format"}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("..", "..", "docs", "cluster", tt.file))
			if err != nil {
				t.Fatal(err)
			}
			calls := commandLine.FindAllStringSubmatch(string(text), -1)
			var all strings.Builder
			for _, call := range calls {
				check(t, call[1], call[2])
				all.WriteString(call[2] + " ")
			}
			for _, flag := range tt.least {
				if !slices.Contains(flagWord.FindAllString(all.String(), -1), flag) {
					t.Errorf("no call of specsweep with %s among %q", flag, calls)
				}
			}
		})
	}
	t.Run("indexed-job.yaml", func(t *testing.T) {
		t.Parallel()
		var job indexedJob
		if err := json.Unmarshal(jobFile(t)["Job"], &job); err != nil {
			t.Fatal(err)
		}
		c := job.Spec.Template.Spec.Containers[0]
		if diff := cmp.Diff([]string{"specsweep", "run"}, append(slices.Clone(c.Command), c.Args[0])); diff != "" {
			t.Fatalf("command (-want +got):\n%s", diff)
		}
		run, _, err := newRootCmd(&env{}).Find([]string{"run"})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.ParseFlags(c.Args[1:]); err != nil {
			t.Error(err)
		}
		given := 0
		run.Flags().Visit(func(*pflag.Flag) { given++ })
		if given != 3 || run.Flags().NArg() != 1 {
			t.Errorf("args %q: %d flags and %d plans, want 3 and 1", c.Args, given, run.Flags().NArg())
		}
	})
}
