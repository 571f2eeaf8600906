package result

import (
	"fmt"
	"slices"
	"strings"
)

// CodeShardsDiffer marks the rows of a merged run-set whose parts were made in
// different ways.
const CodeShardsDiffer = "shards_differ"

// difference is something that should be alike in all parts.
type difference struct {
	what    string
	columns []string // that it puts in doubt
	of      func(*Manifest) []named
}

// named is a value under the name of what has it; parts are compared name by name.
type named struct{ name, value string }

func differences() []difference {
	throughput := []string{"output_throughput_tok_s"}
	baseline := []string{"baseline_throughput_tok_s", "speedup"}
	one := func(v string) []named { return []named{{"", v}} }
	return []difference{
		{"specsweep's version", throughput, func(m *Manifest) []named { return one(m.ToolVersion) }},
		{"the host", throughput, func(m *Manifest) []named {
			return one(fmt.Sprintf("%s/%s with %d CPUs", m.Host.OS, m.Host.Arch, m.Host.CPUs))
		}},
		{"the baseline's version", baseline, func(m *Manifest) []named {
			return ofBaselines(m, func(s ManifestServer) string { return s.Version })
		}},
		{"the baseline's model", baseline, func(m *Manifest) []named {
			return ofBaselines(m, func(s ManifestServer) string { return s.Model })
		}},
		{"the prompts", []string{"accept_length", "acceptance_rate", "output_throughput_tok_s"}, func(m *Manifest) []named {
			var all []named
			for _, d := range m.Datasets {
				all = append(all, named{fmt.Sprintf("dataset %s, %d prompts", d.Name, d.Prompts), d.PromptSet})
			}
			return all
		}},
	}
}

// ofBaselines is what is known of the baselines. Shards start their own: the same one
// in two of them is one that is started in the same way.
func ofBaselines(m *Manifest, get func(ManifestServer) string) []named {
	var all []named
	for _, s := range m.Servers {
		if v := get(s); s.Baseline && v != "" {
			all = append(all, named{strings.Join(append([]string{s.Engine, s.URL}, s.Command...), " "), v})
		}
	}
	return all
}

// mark gives all rows a warning for each difference, and the manifest a note.
func (m *Merged) mark() {
	var warnings Warnings
	for _, d := range differences() {
		if text := m.differs(d); text != "" {
			warnings = append(warnings, Warning{Code: CodeShardsDiffer, Columns: d.columns, Text: text})
			m.note("%s", text)
		}
	}
	for i := range m.Rows {
		r := &m.Rows[i]
		r.Warnings = slices.DeleteFunc(r.Warnings, func(w Warning) bool { return w.Code == CodeShardsDiffer })
		for _, w := range warnings {
			if w.Columns[0] != "baseline_throughput_tok_s" || r.BaselineThroughputTokS != nil {
				r.Warnings = append(r.Warnings, w)
			}
		}
	}
}

// differs says what differs and which part has what, one for each value.
func (m *Merged) differs(d difference) string {
	values := map[string][]string{} // by name, in order of appearance
	who := map[named]string{}
	var order []string
	for i := range m.parts {
		// A part without rows has measured nothing in any way.
		if m.parts[i].count == 0 {
			continue
		}
		for _, v := range d.of(&m.parts[i].manifest) {
			if who[v] == "" {
				who[v] = m.parts[i].dir
				if len(values[v.name]) == 0 {
					order = append(order, v.name)
				}
				values[v.name] = append(values[v.name], v.value)
			}
		}
	}
	for _, name := range order {
		if len(values[name]) < 2 {
			continue
		}
		var parts []string
		for _, v := range values[name] {
			parts = append(parts, fmt.Sprintf("%s (%s)", v, shortDir(who[named{name, v}])))
		}
		return fmt.Sprintf("%s differs between the shards: %s", d.what, strings.Join(parts, ", "))
	}
	return ""
}
