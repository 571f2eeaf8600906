package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"
)

// The values of a plan that say how clean and how strict a measurement is.

// warmup is auto, or an integer of at least 0. Variables are not expanded: what
// is sent stands in the plan.
type warmup struct{ n *int }

func (w *warmup) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value == "auto" {
		return true
	}
	if !isNumber(n) {
		return d.wrong(n, path, "auto or a number of requests")
	}
	i, ok := d.int(n, path)
	if ok && (i < 0 || i > math.MaxInt32) {
		return d.rule(n, path, fmt.Sprintf("must be at least 0 (have %d)", i))
	}
	w.n = &i
	return ok
}

func (warmup) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Const: "auto"}, integer("0")}}
}

// truth is true or false and nothing that YAML 1.1 also takes for it.
type truth bool

func (b *truth) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
		return d.wrong(n, path, "true or false")
	}
	*b = n.Value == "true"
	return true
}

func (truth) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "boolean"} }

// AcceptSources are the words of accept_sources, best first.
func AcceptSources() []string {
	return []string{"request", "flush", "counters", "restart", "cumulative"}
}

// sources is a list of distinct words of AcceptSources.
type sources []string

func (s *sources) decodeYAML(d *decoder, n *yaml.Node, path string) (ok bool) {
	if !isList(n) {
		return d.wrong(n, path, "a list")
	}
	*s, ok = axis(d, n, path, d.text, func(word string) string {
		if known := AcceptSources(); !slices.Contains(known, word) {
			return fmt.Sprintf("unknown source %q %s", clip(word), unknown(word, known))
		}
		return ""
	})
	return ok
}

func (sources) JSONSchema() *jsonschema.Schema {
	one, word := uint64(1), &jsonschema.Schema{Type: "string"}
	for _, name := range AcceptSources() {
		word.Enum = append(word.Enum, name)
	}
	return &jsonschema.Schema{Type: "array", Items: word, MinItems: &one, UniqueItems: true}
}

// sorted is the words in one order, since the order says nothing: the best source
// of those that are allowed is taken.
func (s sources) sorted() []string { return slices.Sorted(slices.Values(s)) }

// acceptance takes over the keys of this file that the plan alone has.
func (l *loader) acceptance() {
	f, p := &l.file, l.plan
	if f.WarmupPrompts != nil {
		p.WarmupPrompts = f.WarmupPrompts.n
	}
	p.Strict = bool(valueOr(f.Strict, false))
	p.PrefixCache = PrefixCache(valueOr(f.PrefixCache, string(PrefixCacheCold)))
	if known := []string{string(PrefixCacheCold), string(PrefixCacheAsIs)}; !slices.Contains(known, string(p.PrefixCache)) {
		l.doc.add("prefix_cache", "unknown prefix_cache %q %s", clip(string(p.PrefixCache)), unknown(string(p.PrefixCache), known))
	}
}
