package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// maxRuns is more than anybody can wait for; a slip of the pen is found here and
// not when memory is full.
const maxRuns = 100_000

// Expand gives the runs in the order of the tables: server, dataset, the axes
// concurrency, max_new_tokens, temperature, num_prompts, request_rate (zipped ones move
// together at the place of the first), then the cells of include; repeats innermost. It
// gives the same runs every time; a Plan that Load has not made has none.
func (p *Plan) Expand() []Run {
	runs := make([]Run, 0, len(p.cells)*p.Repeats)
	for _, c := range p.cells {
		for repeat := range p.Repeats {
			c.Index = len(runs)
			c.Repeat = repeat
			c.RunID = c.CellID + "-r" + strconv.Itoa(repeat)
			runs = append(runs, c)
		}
	}
	return runs
}

// matrix builds the plan's cells.
func (l *loader) matrix() {
	m := newMatrix(l)
	for s := range l.plan.Servers {
		for d := range l.plan.Datasets {
			if !m.product(s, d, m.axes(d)) {
				return
			}
		}
	}
	m.exclude()
	if !m.include() {
		return
	}
	if len(m.cells) == 0 && len(l.doc.problems) == 0 {
		l.doc.add("exclude", "everything is excluded: there is nothing to run")
	}
	m.meet()
	l.plan.cells = m.cells
}

type matrix struct {
	l      *loader
	fields []json.RawMessage // of the datasets, for ids
	cells  []Run
	seen   map[string]string // canonical JSON by cell id
	hash   func([]byte) string
}

func newMatrix(l *loader) *matrix {
	m := &matrix{l: l, seen: map[string]string{}, hash: cellHash}
	for _, d := range l.datasetIDs {
		m.fields = append(m.fields, canonical(d.fields))
	}
	return m
}

// axes are the plan's axes as the dataset has them.
func (m *matrix) axes(dataset int) Axes {
	a, d := m.l.plan.Axes, &m.l.plan.Datasets[dataset]
	if d.MaxNewTokens != nil {
		a.MaxNewTokens = []int{*d.MaxNewTokens}
	}
	if d.NumPrompts != nil {
		a.NumPrompts = []NumPrompts{*d.NumPrompts}
	}
	return a
}

// product adds a cell for each point of the axes, except cells that are there
// already: with num_prompts [10x, 64] that happens at low concurrency. It is false
// when the matrix became too large.
func (m *matrix) product(server, dataset int, a Axes) bool {
	all := points(a, m.l.plan.Zip, maxRuns)
	tooMany := len(all) > maxRuns
	for i := 0; i < len(all) && !tooMany; i++ {
		m.add(server, dataset, all[i])
		tooMany = len(m.cells)*m.l.plan.Repeats > maxRuns
	}
	if tooMany {
		m.l.doc.add("", "the matrix has more than %d runs", maxRuns)
	}
	return !tooMany
}

// point is one value of each axis.
type point struct {
	concurrency, maxNewTokens int
	temperature               float64
	prompts                   NumPrompts
	rate                      float64 // +Inf: a closed loop
}

// points are the points of the axes in order, at most limit + 1.
func points(a Axes, zip []string, limit int) []point {
	out := []point{{}}
	for _, group := range groups(zip) {
		var next []point
		for _, p := range out {
			for i := range a.length(group[0]) {
				if len(next) > limit {
					break
				}
				for _, axis := range group {
					p.set(a, axis, i)
				}
				next = append(next, p)
			}
		}
		out = next
	}
	return out
}

func (p *point) set(a Axes, axis string, i int) {
	switch axis {
	case axisConcurrency:
		p.concurrency = a.Concurrency[i]
	case axisMaxNewTokens:
		p.maxNewTokens = a.MaxNewTokens[i]
	case axisTemperature:
		p.temperature = a.Temperature[i]
	case axisRequestRate:
		p.rate = a.RequestRate[i]
	default:
		p.prompts = a.NumPrompts[i]
	}
}

// groups are the axes that move together: the zip at its first axis, the others
// alone.
func groups(zip []string) [][]string {
	zipped := map[string]bool{}
	for _, axis := range zip {
		zipped[axis] = true
	}
	var out [][]string
	done := false
	for _, axis := range axisNames() {
		switch {
		case !zipped[axis]:
			out = append(out, []string{axis})
		case !done:
			out = append(out, zip)
			done = true
		}
	}
	return out
}

// add appends a cell and is false when it is there already.
func (m *matrix) add(server, dataset int, p point) bool {
	l := m.l
	prompts := p.prompts.For(p.concurrency)
	text := canonical(cellID(l, server, m.fields[dataset], l.datasetIDs[dataset].extraBody, p, prompts))
	id := m.hash(text)
	if other, taken := m.seen[id]; taken {
		if other != string(text) {
			l.doc.add("", "two cells happen to have the id %s: change the name of a server or dataset", id)
		}
		return false
	}
	m.seen[id] = string(text)
	m.cells = append(m.cells, Run{
		CellID: id, Server: &l.plan.Servers[server], Dataset: &l.plan.Datasets[dataset], Cell: text,
		Concurrency: p.concurrency, MaxNewTokens: p.maxNewTokens, Temperature: p.temperature, NumPrompts: prompts,
		RequestRate: finiteRate(p.rate),
	})
	return true
}

// cellHash is the first ten hex digits of SHA-256.
func cellHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:10]
}

// cellJSON is what a cell's id is made from: fields in alphabetical order, so that
// the JSON is canonical. What has its default is left out: a key that a later
// version adds then changes no id.
type cellJSON struct {
	AcceptSources []string        `json:"accept_sources,omitempty"`
	Arrivals      string          `json:"arrivals,omitempty"`
	BaselineModel *string         `json:"baseline_model"`
	Concurrency   int             `json:"concurrency"`
	Dataset       json.RawMessage `json:"dataset"`
	Engine        *string         `json:"engine"`
	ExtraBody     map[string]any  `json:"extra_body,omitempty"`
	MaxNewTokens  int             `json:"max_new_tokens"`
	Model         *string         `json:"model"`
	NumPrompts    int             `json:"num_prompts"`
	NumSteps      *int            `json:"num_steps,omitempty"`
	PrefixCache   string          `json:"prefix_cache,omitempty"`
	RequestRate   float64         `json:"request_rate,omitempty"`
	Seed          uint64          `json:"seed,omitempty"`
	Server        string          `json:"server"`
	ShuffleSeed   *uint64         `json:"shuffle_seed,omitempty"`
	Stream        bool            `json:"stream,omitempty"`
	Temperature   float64         `json:"temperature"`
	TopK          *int            `json:"top_k,omitempty"`
	TopP          float64         `json:"top_p,omitempty"`
	WarmupPrompts *int            `json:"warmup_prompts,omitempty"`
}

func cellID(l *loader, server int, dataset json.RawMessage, extra map[string]any, p point, prompts int) cellJSON {
	s := &l.serverIDs[server]
	c := cellJSON{
		AcceptSources: s.sources, WarmupPrompts: l.plan.WarmupPrompts,
		BaselineModel: s.baselineModel, Concurrency: p.concurrency, Dataset: dataset, Engine: s.engine,
		ExtraBody: merged(s.extraBody, extra), MaxNewTokens: p.maxNewTokens, Model: s.model, NumPrompts: prompts,
		NumSteps: s.numSteps, Server: s.name, ShuffleSeed: (*uint64)(l.file.ShuffleSeed), Temperature: p.temperature, TopK: l.plan.TopK, TopP: l.plan.TopP,
	}
	if c.TopP == 1 {
		c.TopP = 0 // the default, which omitempty leaves out; 0 itself is no top_p
	}
	if l.plan.PrefixCache != PrefixCacheCold {
		c.PrefixCache = string(l.plan.PrefixCache)
	}
	c.Stream = l.plan.Stream
	// How requests arrive means something at a finite rate only.
	if c.RequestRate = finiteRate(p.rate); c.RequestRate > 0 {
		c.Seed = l.plan.Seed
		if l.plan.Arrivals != ArrivalsPoisson {
			c.Arrivals = string(l.plan.Arrivals)
		}
	}
	return c
}

// canonical is v as JSON on one line, without the escapes that are for HTML.
func canonical(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("plan: a cell that is no JSON: %v", err)) // the decoder lets nothing else through
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
