// Package compare puts two sides next to each other, cell by cell: two run-sets, or
// two servers of one. It says what each side alone has and what was measured in
// another way before it says what changed, and it calls nothing better than the
// samples can carry.
//
// It prints nothing and reads no files.
package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/runner/result"
)

// Side is one run-set. Rows may be of several plans; Requests, by run_id, may be
// missing, and then accept_length gets no verdict.
type Side struct {
	Name     string
	Rows     []result.Row
	Requests map[string][]result.Request
	Manifest result.Manifest
	Problems []string // lines of its rows that could not be read
}

// Options say how to compare. The zero value compares two run-sets and gives a
// verdict on whatever is shown to differ.
type Options struct {
	// MinEffect is the relative change below which there is no verdict: 0.01 is 1 %.
	// One that is negative or no finite number counts as 0.
	MinEffect float64
	// ByServer names two servers of the old side, to be compared with each other; the
	// new side is not read then. Empty: two run-sets.
	ByServer [2]string
}

// byServer tells whether both sides were measured by the same sweep.
func (o Options) byServer() bool { return o.ByServer != [2]string{} }

// Comparison is everything that there is to say about two sides. No list is in a
// map's order: the same sides give the same Comparison.
type Comparison struct {
	Old       string  `json:"old"`
	New       string  `json:"new"`
	ByServer  bool    `json:"by_server"`
	MinEffect float64 `json:"min_effect"`

	Cells   []Cell     `json:"cells"`    // in the order of the old side's run_index
	OnlyOld []Identity `json:"only_old"` // cells without a counterpart
	OnlyNew []Identity `json:"only_new"`
	// Differences is what was not measured in the same way on both sides.
	Differences []string  `json:"differences"`
	Overall     []Overall `json:"overall"`
	// Notes hold for all of it.
	Notes []string `json:"notes"`
}

// Identity is a cell without its run-set.
type Identity struct {
	Server       string   `json:"server"`
	NewServer    string   `json:"new_server,omitempty"` // by server only: the other one
	Dataset      string   `json:"dataset"`
	Concurrency  int      `json:"concurrency"`
	MaxNewTokens int      `json:"max_new_tokens"`
	Temperature  float64  `json:"temperature"`
	RequestRate  *float64 `json:"request_rate,omitempty"` // requests per second; nil: a closed loop
	PromptsAsked int      `json:"prompts_asked"`
}

// String names the cell in one line.
func (i Identity) String() string {
	server := i.Server
	if i.NewServer != "" {
		server += " / " + i.NewServer
	}
	return fmt.Sprintf("%s on %s at %s", server, i.Dataset, i.point())
}

// point is the cell's place on the axes that are not the dataset.
func (i Identity) point() string {
	s := fmt.Sprintf("concurrency %d, max_new_tokens %d, temperature %g", i.Concurrency, i.MaxNewTokens, i.Temperature)
	if i.RequestRate != nil {
		s += fmt.Sprintf(", request_rate %g", *i.RequestRate)
	}
	return s
}

// Cell is a cell that both sides have.
type Cell struct {
	Identity
	OldRows Tally    `json:"old_rows"`
	NewRows Tally    `json:"new_rows"`
	Metrics []Metric `json:"metrics"` // those that either side has, in the order of Metrics
	// Incomparable is why no metric of the cell gets a verdict; empty: nothing.
	Incomparable string   `json:"incomparable,omitempty"`
	Notes        []string `json:"notes,omitempty"`
}

// Tally is the rows of a cell on one side. Error rows enter no number.
type Tally struct {
	OK     int `json:"ok"`
	Errors int `json:"errors"`
}

// Metric of the cell; nil when neither side has it.
func (c *Cell) Metric(name string) *Metric {
	for i := range c.Metrics {
		if c.Metrics[i].Name == name {
			return &c.Metrics[i]
		}
	}
	return nil
}

// Measured is how many cells have a number on both sides.
func (c *Comparison) Measured() int {
	n := 0
	for i := range c.Cells {
		if slices.ContainsFunc(c.Cells[i].Metrics, func(m Metric) bool { return m.Old != nil && m.New != nil }) {
			n++
		}
	}
	return n
}

// Compare compares the sides. It never fails: sides without rows give a Comparison
// without cells.
func Compare(old, new Side, o Options) Comparison {
	if !(o.MinEffect >= 0) || math.IsInf(o.MinEffect, 0) {
		o.MinEffect = 0
	}
	c := Comparison{Old: old.Name, New: new.Name, ByServer: o.byServer(), MinEffect: o.MinEffect, Cells: []Cell{}, Overall: []Overall{}}
	oldCells, newCells := group(old, ""), group(new, "")
	if c.ByServer {
		c.Old, c.New = o.ByServer[0], o.ByServer[1]
		oldCells, newCells = group(old, o.ByServer[0]), group(old, o.ByServer[1])
	}
	pairs, onlyOld, onlyNew := match(oldCells, newCells, c.ByServer)
	c.OnlyOld, c.OnlyNew = identities(onlyOld), identities(onlyNew)
	ds := &differences{}
	if !c.ByServer {
		ds.manifests(old.Manifest, new.Manifest)
	}
	for _, p := range pairs {
		c.Cells = append(c.Cells, compareCell(p, o, ds))
	}
	c.Differences = ds.list(len(pairs))
	c.Overall = overall(c.Cells, o)
	c.Notes = c.notes()
	for _, name := range o.ByServer {
		if servers := servers(old); name != "" && !slices.Contains(servers, name) {
			c.Notes = append(c.Notes, fmt.Sprintf("%s has no row of a server %q; it has: %s", old.Name, name, orNone(strings.Join(servers, ", "))))
		}
	}
	return c
}

// notes say how to read the comparison.
func (c *Comparison) notes() []string {
	out := []string{}
	if !c.ByServer {
		out = append(out, "two run-sets: each server was started once for each side, so how much a value changes from start to start does not show in the intervals")
	}
	oldErrors, newErrors := 0, 0
	for _, x := range c.Cells {
		oldErrors, newErrors = oldErrors+x.OldRows.Errors, newErrors+x.NewRows.Errors
	}
	if oldErrors+newErrors > 0 {
		out = append(out, fmt.Sprintf("error rows are left out of every number: %d old, %d new", oldErrors, newErrors))
	}
	if n := len(c.Cells) - c.Measured(); n > 0 {
		out = append(out, fmt.Sprintf("%d of the %d cells on both sides have no number on one of them", n, len(c.Cells)))
	}
	if len(c.Cells) == 0 {
		out = append(out, "no cell is on both sides: nothing is compared")
	}
	return out
}

func servers(s Side) []string {
	refs := make([]*result.Row, len(s.Rows))
	for i := range s.Rows {
		refs[i] = &s.Rows[i]
	}
	return texts(refs, func(r *result.Row) string { return r.Server })
}
