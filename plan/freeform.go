package plan

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// texts is a map whose keys are the user's own: labels, headers, env. Keys keep
// their case and their dots, values stand as they were written.
type texts map[string]string

func (t *texts) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if !isMapping(n) {
		return d.wrong(n, path, "a mapping (key: value)")
	}
	*t = texts{}
	good := true
	for _, e := range d.entries(n, path, true) {
		at := join(path, e.key)
		d.doc.lines[at] = e.line
		s, ok := d.label(target(e.value), at)
		good = good && ok
		(*t)[e.key] = s
	}
	return good
}

// anything is extra_body: a map of whatever JSON can say, for the server to
// understand. Its values are map[string]any, []any, string, bool, int64, float64
// and nil.
type anything map[string]any

// maxDepth is how deep extra_body may nest; schemas of structured output, the
// deepest thing that is sent, stay far below.
const maxDepth = 100

func (a *anything) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if !isMapping(n) {
		return d.wrong(n, path, "a mapping (key: value)")
	}
	*a = d.jsonObject(n, path, 0)
	return true
}

func (d *decoder) jsonObject(n *yaml.Node, path string, depth int) map[string]any {
	out := map[string]any{}
	for _, e := range d.entries(n, path, true) {
		at := join(path, e.key)
		d.doc.lines[at] = e.line
		out[e.key] = d.jsonValue(target(e.value), at, depth+1)
	}
	return out
}

func (d *decoder) jsonValue(n *yaml.Node, path string, depth int) any {
	if depth > maxDepth {
		d.doc.addAt(n.Line, path, "nested more than %d deep", maxDepth)
		return nil
	}
	switch {
	case isMapping(n):
		return d.jsonObject(n, path, depth)
	case isList(n):
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			out[i] = d.jsonValue(target(c), item(path, i), depth+1)
		}
		return out
	default:
		return d.jsonScalar(n, path)
	}
}

func (d *decoder) jsonScalar(n *yaml.Node, path string) any {
	switch tag := n.ShortTag(); {
	case tag == "!!null":
		return nil
	case tag == "!!bool":
		return strings.EqualFold(n.Value, "true")
	case tag == "!!timestamp", tag == "!!merge":
		return n.Value // JSON has no dates: the text is what was meant
	case isNumber(n) && intForm.MatchString(n.Value):
		i, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil {
			d.outOfRange(n, path)
		}
		return i
	case isNumber(n) && floatForm.MatchString(n.Value):
		f, _ := d.float(n, path)
		return f
	case tag == "!!str":
		s, _ := d.text(n, path)
		return s
	default:
		d.wrong(n, path, "something that JSON can say, numbers in plain decimal digits")
		return nil
	}
}
