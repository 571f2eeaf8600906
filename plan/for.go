package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"
)

// maxFor is how many servers one entry may stand for.
const maxFor = 1000

// portWord is the word in braces that launch replaces.
const portWord = "port"

// forYAML is servers[].for: the values of each name, as they are written. Several
// names go together, position by position.
type forYAML map[string][]string

// decodeYAML keeps a name in the map, without values, when they are wrong.
func (f *forYAML) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if !isMapping(n) {
		return d.wrong(n, path, "a mapping of names to lists, as in {k: [2, 4, 6]}")
	}
	*f = forYAML{}
	good := true
	text, same := "", true
	length := -1
	for _, e := range d.entries(n, path, false) {
		at := join(path, e.key)
		d.doc.lines[at] = e.line
		values, ok := d.forValues(target(e.value), e, at)
		(*f)[e.key] = values
		good = good && ok
		if length >= 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s has %d", e.key, len(values))
		same = same && (length < 0 || length == len(values))
		length = len(values)
	}
	switch {
	case length < 0:
		return d.rule(n, path, "an empty mapping: give at least one name and its values")
	case good && !same:
		return d.rule(n, path, "names that go together must have equally many values: "+text)
	}
	return good
}

// forValues reads the list of one name. Variables are left for later: the text is
// put where the name stands, and expanded there.
func (d *decoder) forValues(n *yaml.Node, e entry, at string) ([]string, bool) {
	switch {
	case e.key == portWord:
		d.doc.addAt(e.line, at, "{port} is the port that launch finds: take another name")
		return nil, false
	case !varName.MatchString(e.key):
		d.doc.addAt(e.line, at, "not a name: want ASCII letters, digits and _")
		return nil, false
	case !isList(n):
		return nil, d.wrong(n, at, "a list")
	case len(n.Content) == 0:
		return nil, d.rule(n, at, "an empty list: give at least one value")
	case len(n.Content) > maxFor:
		return nil, d.rule(n, at, fmt.Sprintf("more than %d values", maxFor))
	}
	plain := &decoder{doc: d.doc}
	values, good := make([]string, len(n.Content)), true
	for i, c := range n.Content {
		s, ok := plain.label(target(c), item(at, i))
		values[i], good = s, good && ok
	}
	return values, good
}

func (forYAML) JSONSchema() *jsonschema.Schema {
	one := uint64(1)
	list := &jsonschema.Schema{Type: "array", Items: anyOf("string", "number", "boolean"), MinItems: &one}
	return &jsonschema.Schema{
		Type: "object", AdditionalProperties: list, MinProperties: &one,
		PropertyNames: &jsonschema.Schema{Pattern: varName.String(), Not: &jsonschema.Schema{Const: portWord}},
	}
}

// serversYAML is the list of servers, an entry with a for written out: one server
// for each value.
type serversYAML []serverYAML

func (s *serversYAML) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if !isList(n) {
		return d.wrong(n, path, "a list")
	}
	*s = serversYAML{}
	good := true
	for i, c := range n.Content {
		at := item(path, i)
		d.doc.lines[at] = c.Line
		for _, words := range d.rounds(target(c), at) {
			inner := &decoder{doc: d.doc, expand: d.expand, words: words}
			server, ok := decodeStruct[serverYAML](inner, target(c), at)
			server.entry = i
			*s = append(*s, server)
			good = good && ok
		}
	}
	return good
}

// JSONSchemaExtend adds what a tag would say of a list without a type of its own.
func (serversYAML) JSONSchemaExtend(s *jsonschema.Schema) {
	one := uint64(1)
	s.MinItems = &one
}

// rounds are what the names of an entry's for stand for in each of its servers;
// one round without names when there is no for. Problems of the for itself are
// noted when the entry is decoded: with them, one round finds what else is wrong.
func (d *decoder) rounds(n *yaml.Node, at string) []map[string]string {
	silent := &decoder{doc: &document{lines: map[string]int{}}}
	var f forYAML
	ok, length := true, 1
	if isMapping(n) {
		for _, e := range silent.entries(n, at, false) {
			if e.key == "for" {
				ok = f.decodeYAML(silent, target(e.value), join(at, e.key))
			}
		}
	}
	for _, values := range f {
		if ok {
			length = len(values)
		}
	}
	out := make([]map[string]string, length)
	for i := range out {
		out[i] = map[string]string{}
		for name, values := range f {
			out[i][name] = "1" // a value that is right nearly everywhere
			if i < len(values) {
				out[i][name] = values[i]
			}
		}
	}
	return out
}

// fill puts values in the place of {name}. What is no name of the for stays, and
// so does ${name}, which is a variable.
func fill(s string, words map[string]string) string {
	if len(words) == 0 {
		return s
	}
	var out strings.Builder
	for {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			out.WriteString(s)
			return out.String()
		}
		name, _, closed := strings.Cut(s[open+1:], "}")
		value, known := words[name]
		if !closed || !known || open > 0 && s[open-1] == '$' {
			out.WriteString(s[:open+1])
			s = s[open+1:]
			continue
		}
		out.WriteString(s[:open] + value)
		s = s[open+len(name)+2:]
	}
}

// steps is a server's num_steps: a number, or "{k}" for the value of its for.
type steps int

func (s *steps) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if text := fill(n.Value, d.words); text != n.Value {
			n = &yaml.Node{Kind: yaml.ScalarNode, Value: text, Line: n.Line}
		}
	}
	i, ok := d.int(n, path)
	*s = steps(i)
	return ok && d.rule(n, path, checkCount(i))
}

func (steps) JSONSchema() *jsonschema.Schema {
	word := &jsonschema.Schema{Type: "string", Pattern: `\{[A-Za-z_][A-Za-z0-9_]*\}`}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{integer("1"), word}}
}

// collides notes that two servers of one for have the same name.
func (l *loader) collides(at string, i int) bool {
	s := &l.file.Servers[i]
	first := slices.IndexFunc(l.file.Servers, func(o serverYAML) bool { return o.entry == s.entry })
	same := func(o serverYAML) bool { return o.Name != nil && *o.Name == *s.Name }
	if s.Name == nil || !slices.ContainsFunc(l.file.Servers[first:i], same) {
		return false
	}
	l.doc.add(at+".name", "for makes several servers with the name %q: put {%s} into it, with values that differ", clip(*s.Name),
		strings.Join(sortedKeys(s.For), "} or {"))
	return true
}
