package plan

import (
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"
)

// defaultMinEffect is the relative difference below which there is no verdict.
const defaultMinEffect = 0.01

type thresholdYAML struct {
	Metric *string    `yaml:"metric" jsonschema:"required" jsonschema_description:"Column of the tables that is judged."`
	Min    *number    `yaml:"min" jsonschema_description:"The least that is good."`
	Max    *number    `yaml:"max" jsonschema_description:"The most that is good."`
	Where  *whereYAML `yaml:"where" jsonschema_description:"The cells that are judged: those that match every key. Left out: all."`
}

type whereYAML struct {
	matchYAML
	Labels labelNames `yaml:"labels" jsonschema_description:"Labels of servers: a value or a list each."`
}

// number is any finite number.
type number float64

func (f *number) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	v, ok := d.float(n, path)
	*f = number(v)
	return ok
}

func (number) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "number"} }

// effect is min_effect: a number of at least 0.
type effect float64

func (f *effect) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	v, ok := d.float(n, path)
	*f = effect(v)
	if ok && v < 0 {
		return d.rule(n, path, fmt.Sprintf("must be at least 0 (have %s)", clip(n.Value)))
	}
	return ok
}

func (effect) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", Minimum: "0"}
}

// labelNames are labels with a value or a list of values each, as in labels.
type labelNames map[string][]string

func (l *labelNames) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if !isMapping(n) {
		return d.wrong(n, path, "a mapping (key: value)")
	}
	*l = labelNames{}
	good := true
	for _, e := range d.entries(n, path, true) {
		at := join(path, e.key)
		d.doc.lines[at] = e.line
		values, ok := axis(d, target(e.value), at, d.label, func(string) string { return "" })
		good = good && ok
		(*l)[e.key] = values
	}
	return good
}

func (labelNames) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: oneOrMore(anyOf("string", "number", "boolean"))}
}

// Matches reports whether the cell of the run is meant. Labels are those of the
// run's server, the plan's among them.
func (w Where) Matches(r *Run) bool {
	for name, values := range w.Labels {
		if have, ok := r.Server.Labels[name]; !ok || !slices.Contains(values, have) {
			return false
		}
	}
	return w.cell(r)
}

// thresholds builds the limits; whether each meets a cell is found out when there
// is a matrix.
func (l *loader) thresholds() {
	l.plan.MinEffect = float64(valueOr(l.file.MinEffect, defaultMinEffect))
	for i, y := range l.file.Thresholds {
		at := item("thresholds", i)
		switch metric := valueOr(y.Metric, ""); {
		case y.Metric == nil: // said already
		case metric == "":
			l.doc.add(at+".metric", "must not be empty")
		case len(l.opts.Metrics) > 0 && !slices.Contains(l.opts.Metrics, metric):
			l.doc.add(at+".metric", "no column %q that holds a number %s", clip(metric), unknown(metric, l.opts.Metrics))
		}
		switch {
		case !l.doc.has(at+".min") && !l.doc.has(at+".max") && l.doc.clean(at):
			l.doc.add(at, "give at least one of min and max")
		case y.Min != nil && y.Max != nil && *y.Min > *y.Max:
			l.doc.add(at+".min", "above max: nothing can be both")
		}
		t := Threshold{Line: l.doc.lines[at], Metric: valueOr(y.Metric, ""), Min: (*float64)(y.Min), Max: (*float64)(y.Max)}
		if y.Where != nil {
			t.Where = l.where(at+".where", *y.Where)
		}
		l.plan.Thresholds = append(l.plan.Thresholds, t)
	}
}

// where builds one where. A label that no server has is a slip of the pen.
func (l *loader) where(at string, y whereYAML) Where {
	var known []string
	for i := range l.plan.Servers {
		known = append(known, sortedKeys(l.plan.Servers[i].Labels)...)
	}
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	for _, name := range sortedKeys(y.Labels) {
		if !slices.Contains(known, name) {
			l.doc.add(join(at+".labels", name), "no server has the label %q %s", clip(name), unknown(name, known))
		}
	}
	return Where{Match: l.match(at, y.matchYAML), Labels: y.Labels}
}

// meet notes the thresholds that no cell of the whole matrix has to keep. With an
// Override the cells that were meant may be gone.
func (m *matrix) meet() {
	for i, t := range m.l.plan.Thresholds {
		hit := slices.ContainsFunc(m.cells, func(r Run) bool { return t.Where.Matches(&r) })
		if at := item("thresholds", i); !hit && !m.l.opts.Override.any() && m.l.doc.clean(at) {
			m.l.doc.add(at+".where", "matches no cell of the matrix")
		}
	}
}
