package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// Options is what Load must be told, since this package looks at no environment
// and knows no engine.
type Options struct {
	Engines   []string                    // the engines that a plan may name
	LookupEnv func(string) (string, bool) // for ${VAR}; nil: no variable is set
	Metrics   []string                    // the columns that a threshold may name; empty: any word
	Override  Override
}

// Override holds values that replace the plan's and the datasets' own. A nil
// field replaces nothing. With any of them set, an entry of exclude or include
// and the where of a threshold may match nothing; a zipped axis must keep its length.
type Override struct {
	NumPrompts   []NumPrompts
	Concurrency  []int
	MaxNewTokens []int
	Temperature  []float64
	RequestRate  []float64 // +Inf: a closed loop
	Repeats      *int
}

func (o Override) any() bool {
	return o.NumPrompts != nil || o.Concurrency != nil || o.MaxNewTokens != nil || o.Temperature != nil || o.RequestRate != nil || o.Repeats != nil
}

// Load reads and checks the plan in a file. The error is Problems when the file
// can be read: everything that is wrong with it, in the order of its lines.
func Load(path string, o Options) (*Plan, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	return Parse(path, src, o)
}

// Parse checks a plan that has been read already. path names it in errors, and its
// folder is where the plan's relative paths start; the files that the plan names
// must exist there.
func Parse(path string, src []byte, o Options) (*Plan, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("finding the folder of the plan %s: %w", path, err)
	}
	l := &loader{opts: o, doc: parseDocument(path, src), plan: &Plan{Path: path, Dir: dir, Source: src}}
	if l.doc.root != nil {
		l.raw, l.file = decode[planYAML](l.doc, o.LookupEnv)
		l.load()
	}
	if problems := append(l.override.sorted(), l.problems()...); len(problems) > 0 {
		return nil, problems
	}
	return l.plan, nil
}

// loader turns the file into a Plan. Each step notes its problems and goes on.
type loader struct {
	opts     Options
	doc      *document
	config   *document // of datasets_config; nil without
	override Problems
	raw      planYAML // as written: what ids are made from
	file     planYAML // variables expanded
	plan     *Plan

	serverIDs  []serverID // beside plan.Servers
	datasetIDs []datasetID
}

func (l *loader) load() {
	l.settings()
	l.acceptance()
	l.traffic()
	l.limits()
	l.servers()
	l.datasets()
	l.axes()
	l.thresholds()
	sound := l.doc.clean(axisNames()...) && l.doc.clean("engine", "model", "baseline_server", "extra_body", "num_steps", "servers",
		"datasets", "datasets_config", "stream", "arrivals", "seed", "zip", "exclude", "include", "top_p", "top_k", "repeats", "shuffle_seed",
		"warmup_prompts", "prefix_cache", "accept_sources")
	if sound && l.override == nil && (l.config == nil || len(l.config.problems) == 0) {
		l.matrix()
	}
}

func (l *loader) problems() Problems {
	problems := l.doc.problems.sorted()
	if l.config != nil {
		problems = append(problems, l.config.problems.sorted()...)
	}
	return problems
}

// planName must do as the name of a folder on every system.
var planName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)

// settings takes over what concerns neither servers nor datasets nor axes.
func (l *loader) settings() {
	f, p := &l.file, l.plan
	if f.Name != nil && !planName.MatchString(*f.Name) {
		l.doc.add("name", "%q cannot name a folder: want at most 100 ASCII letters, digits, dots, _ and -, and neither . nor - first", clip(*f.Name))
	}
	p.Name = valueOr(f.Name, "")
	p.Description = valueOr(f.Description, "")
	p.Labels = f.Labels
	p.TopP = float64(valueOr(f.TopP, 1))
	if f.TopK != nil {
		k := int(*f.TopK)
		p.TopK = &k
	}
	p.Repeats = int(valueOr(f.Repeats, 1))
	p.Order = Order(valueOr(f.Order, string(OrderByBlock)))
	if orders := []string{string(OrderByBlock), string(OrderByServer)}; !slices.Contains(orders, string(p.Order)) {
		l.doc.add("order", "unknown order %q %s", clip(string(p.Order)), unknown(string(p.Order), orders))
	}
	p.Timeout = time.Duration(valueOr(f.TimeoutS, seconds(600*time.Second)))
	p.MaxRetries = int(valueOr(f.MaxRetries, 3))
	p.ServerWait = time.Duration(valueOr(f.ServerWaitS, waitSeconds(600*time.Second)))
}

// path is where a file that the plan names lies.
func (l *loader) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(l.plan.Dir, name)
}

func valueOr[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}
