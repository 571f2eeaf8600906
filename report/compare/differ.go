package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/specsweep/specsweep/runner/result"
)

// differences collects what was not measured alike, each once however many cells
// say it.
type differences struct {
	order []string
	count map[string]int
	whole map[string]bool // of the run-sets, not of cells
}

func (d *differences) add(text string) {
	if d.count == nil {
		d.count = map[string]int{}
	}
	if d.count[text] == 0 {
		d.order = append(d.order, text)
	}
	d.count[text]++
}

// list says in how many of n cells each holds.
func (d *differences) list(n int) []string {
	out := []string{}
	for _, text := range d.order {
		if !d.whole[text] && d.count[text] < n {
			text += fmt.Sprintf(" (%d of %d cells)", d.count[text], n)
		}
		out = append(out, text)
	}
	return out
}

// manifests notes what the run-sets say of themselves as a whole.
func (d *differences) manifests(old, new result.Manifest) {
	d.whole = map[string]bool{}
	note := func(what, a, b string) {
		if text := differ(what, a, b); text != "" && a != "" && b != "" {
			d.whole[text] = true
			d.add(text)
		}
	}
	note("specsweep built from", old.GitCommit, new.GitCommit)
	note("client host", host(old.Host), host(new.Host))
	revisions := map[string]string{}
	for _, x := range old.Datasets {
		revisions[x.Name] = x.Revision
	}
	for _, x := range new.Datasets {
		note("revision of "+x.Name, revisions[x.Name], x.Revision)
	}
	for _, m := range []struct {
		name string
		result.Manifest
	}{{"old", old}, {"new", new}} {
		if m.Status != "" && m.Status != result.StatusFinished {
			text := fmt.Sprintf("the %s run-set is %s", m.name, m.Status)
			d.whole[text] = true
			d.add(text)
		}
	}
}

func host(h result.Host) string {
	if h == (result.Host{}) {
		return ""
	}
	return fmt.Sprintf("%s/%s with %d CPUs", h.OS, h.Arch, h.CPUs)
}

// facts are the columns that tell how a row was measured.
func facts() []fact {
	type row = result.Row
	return []fact{
		{"engine", func(r *row) string { return r.Engine }},
		{"model", func(r *row) string { return r.Model }},
		{"prompt_set", func(r *row) string { return r.PromptSet }},
		{"num_prompts", func(r *row) string { return number(r.NumPrompts) }},
		{"server_version", func(r *row) string { return r.ServerVersion }},
		{"speculative_num_steps", func(r *row) string { return number(r.SpeculativeNumSteps) }},
		{"baseline_engine", func(r *row) string { return r.BaselineEngine }},
		{"baseline_version", func(r *row) string { return r.BaselineVersion }},
		{"accept_source", func(r *row) string { return r.AcceptSource }},
		{"labels", labels},
		{"tool_version", func(r *row) string { return r.ToolVersion }},
	}
}

type fact struct {
	name string
	of   func(*result.Row) string
}

// cell notes what differs between the two halves of a cell, and returns it.
func (d *differences) cell(p pair) []string {
	var out []string
	for _, f := range facts() {
		a, b := strings.Join(texts(p.old.ok, f.of), " | "), strings.Join(texts(p.new.ok, f.of), " | ")
		if len(p.old.ok) == 0 || len(p.new.ok) == 0 {
			continue // an error row may lack what it would have had
		}
		if text := differ(f.name, a, b); text != "" {
			out = append(out, text)
		}
	}
	if a, b := repeats(p.old), repeats(p.new); a != b {
		out = append(out, differ("repeats", strconv.Itoa(a), strconv.Itoa(b)))
	}
	if p.old.Server == p.new.Server && p.old.id != p.new.id && p.old.id != "" && p.new.id != "" {
		out = append(out, configs(p))
	}
	for _, text := range out {
		d.add(text)
	}
	return out
}

func repeats(r *rowsOf) int { return len(r.all) }

func differ(what, a, b string) string {
	if a == b {
		return ""
	}
	return fmt.Sprintf("%s: %s → %s", what, orNone(a), orNone(b))
}

func orNone(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}

// configs names the keys in which two cells with the same axes differ.
func configs(p pair) string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(p.old.config, &a) != nil || json.Unmarshal(p.new.config, &b) != nil {
		return fmt.Sprintf("cell_id: %s → %s, matched by server, dataset and axes", p.old.id, p.new.id)
	}
	keys := slices.Sorted(maps.Keys(a))
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, both := a[k]; !both {
			keys = append(keys, k)
		}
	}
	var parts []string
	for _, k := range keys {
		if setting(a[k]) != setting(b[k]) {
			parts = append(parts, fmt.Sprintf("%s %s → %s", k, setting(a[k]), setting(b[k])))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("cell_id: %s → %s with equal settings", p.old.id, p.new.id)
	}
	return "settings of the cell: " + strings.Join(parts, ", ")
}

// setting is a value of a cell's canonical JSON. What is not in it, or null, was not
// set: that is known.
func setting(v json.RawMessage) string {
	if len(v) == 0 || string(v) == "null" {
		return "none"
	}
	return string(v)
}

func labels(r *result.Row) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		parts = append(parts, name+"="+r.Labels[name])
	}
	return strings.Join(parts, " ")
}

func number(v *int) string {
	if v == nil {
		return ""
	}
	return strconv.Itoa(*v)
}

// incomparable is why the cell's numbers are not of the same thing; empty when they
// are. What is not known on one side only is said elsewhere and does not count.
func incomparable(p pair) string {
	for _, f := range facts() {
		if f.name != "engine" && f.name != "prompt_set" {
			continue
		}
		a, b := texts(p.old.ok, f.of), texts(p.new.ok, f.of)
		slices.Sort(a)
		slices.Sort(b)
		if len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
			what := map[string]string{"engine": "another engine", "prompt_set": "other prompts"}[f.name]
			return what + ": " + differ(f.name, strings.Join(a, " | "), strings.Join(b, " | "))
		}
	}
	return ""
}
