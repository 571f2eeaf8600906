package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// entry is one key of a mapping and its value.
type entry struct {
	key   string
	line  int // of the key
	value *yaml.Node
}

// entries are the keys of a mapping, those that << brings in last. A key that is
// there twice is a problem, and unless the map is free in form so is one that
// differs from another in case only. A key of the mapping itself overrides a
// merged one, and an earlier merged mapping a later one
// (https://yaml.org/type/merge.html).
func (d *decoder) entries(n *yaml.Node, path string, free bool) []entry {
	var own []entry
	var merges []*yaml.Node
	first := map[string]entry{} // by key, folded unless free
	merged := 0                 // line of the << key
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := target(n.Content[i]), n.Content[i+1]
		line := n.Content[i].Line
		switch {
		case k.Kind != yaml.ScalarNode:
			d.doc.addAt(line, path, "a key must be a word (have %s)", describe(k))
			continue
		case k.ShortTag() == "!!merge" && merged > 0:
			d.doc.addAt(line, join(path, "<<"), "duplicate key (first on line %d); merge several with <<: [*a, *b]", merged)
			continue
		case k.ShortTag() == "!!merge":
			merged = line
			merges = append(merges, d.mergeSources(v, path)...)
			continue
		}
		id := k.Value
		if !free {
			id = strings.ToLower(id)
		}
		e := entry{k.Value, line, v}
		switch other, taken := first[id]; {
		case taken && other.key == e.key:
			d.doc.addAt(line, join(path, e.key), "duplicate key (first on line %d)", other.line)
		case taken:
			d.doc.addAt(line, join(path, e.key), "duplicate key: differs from %s on line %d in case only", other.key, other.line)
		default:
			first[id] = e
			own = append(own, e)
		}
	}
	return d.merge(own, merges, path, free)
}

func (d *decoder) merge(own []entry, merges []*yaml.Node, path string, free bool) []entry {
	if len(merges) == 0 {
		return own
	}
	have := map[string]bool{}
	for _, e := range own {
		have[e.key] = true
	}
	// Duplicates inside an anchored mapping are reported where it stands.
	silent := &decoder{doc: &document{lines: map[string]int{}}}
	for _, m := range merges {
		for _, e := range silent.entries(m, path, free) {
			if !have[e.key] {
				have[e.key] = true
				own = append(own, e)
			}
		}
	}
	return own
}

// mergeSources are the mappings that the value of << names.
func (d *decoder) mergeSources(n *yaml.Node, path string) []*yaml.Node {
	sources := []*yaml.Node{n}
	if t := target(n); isList(t) {
		sources = t.Content
	}
	var out []*yaml.Node
	for _, s := range sources {
		t := target(s)
		if !isMapping(t) {
			d.doc.addAt(s.Line, join(path, "<<"), "want a mapping to merge, or a list of them (have %s)", describe(t))
			continue
		}
		out = append(out, t)
	}
	return out
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
