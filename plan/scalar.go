package plan

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML 1.1 also takes 010, 0x10, 1_000 and 1e3 for numbers, and reads some of
// them as others than people do. Only what means the same everywhere is taken.
var (
	intForm   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	floatForm = regexp.MustCompile(`^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
)

func (d *decoder) int(n *yaml.Node, path string) (int, bool) {
	if !isNumber(n) || !intForm.MatchString(n.Value) {
		return 0, d.wrong(n, path, "an integer in plain decimal digits")
	}
	i, err := strconv.ParseInt(n.Value, 10, 32)
	if err != nil {
		return 0, d.outOfRange(n, path)
	}
	return int(i), true
}

func (d *decoder) outOfRange(n *yaml.Node, path string) bool {
	d.doc.addAt(n.Line, path, "%s is out of range", clip(n.Value))
	return false
}

// isNumber reports whether n is written as a number: without quotes and without a
// tag that says otherwise. YAML calls a number that is too large for it a string.
func isNumber(n *yaml.Node) bool {
	tag := n.ShortTag()
	plain := n.Style == 0 && floatForm.MatchString(n.Value)
	return n.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float" || tag == "!!str" && plain)
}

func (d *decoder) float(n *yaml.Node, path string) (float64, bool) {
	if !isNumber(n) || !floatForm.MatchString(n.Value) {
		return 0, d.wrong(n, path, "a number")
	}
	f, err := strconv.ParseFloat(n.Value, 64)
	if err != nil {
		return 0, d.outOfRange(n, path)
	}
	if f == 0 {
		f = 0 // -0 and 0 are one value, and one id
	}
	return f, true
}

// text is a string value with its variables replaced.
func (d *decoder) text(n *yaml.Node, path string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || isNumber(n) {
		return "", d.wrong(n, path, "a string")
	}
	written := fill(n.Value, d.words)
	if d.expand == nil {
		return written, true
	}
	s, problems := d.expand(written)
	for _, p := range problems {
		d.doc.addAt(n.Line, path, "%s", p)
	}
	return s, len(problems) == 0
}

// label is a text that may also be written as a number, a truth value or a date:
// it is kept as it was written.
func (d *decoder) label(n *yaml.Node, path string) (string, bool) {
	if tag := n.ShortTag(); isNumber(n) || n.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!bool" || tag == "!!timestamp") {
		return n.Value, true
	}
	return d.text(n, path)
}

// wrong notes that n is not what was wanted. It is false, for the caller to return.
func (d *decoder) wrong(n *yaml.Node, path, want string) bool {
	hint := ""
	if n.Kind == yaml.ScalarNode {
		switch {
		case want == "a string" && !isNull(n):
			hint = ": put it in quotes"
		case n.ShortTag() == "!!str" && floatForm.MatchString(n.Value):
			hint = ": drop the quotes"
		case n.ShortTag() == "!!str" && strings.Contains(n.Value, "${"):
			hint = ": variables are expanded in strings only"
		}
	}
	if isMapping(n) && len(n.Content) == 2 && isNull(n.Content[1]) {
		hint = fmt.Sprintf(`: to YAML, {%s} without quotes is one`, clip(n.Content[0].Value))
	}
	d.doc.addAt(n.Line, path, "want %s (have %s%s)", want, describe(n), hint)
	return false
}

// describe says what a value is, as it was written.
func describe(n *yaml.Node) string {
	kind := map[yaml.Kind]string{yaml.MappingNode: "a mapping", yaml.SequenceNode: "a list"}[n.Kind]
	switch {
	case isMapping(n) || isList(n):
		return kind
	case n.Kind != yaml.ScalarNode:
		return kind + " with the tag " + n.ShortTag()
	}
	value := clip(n.Value)
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return "nothing"
	case "!!str", "!!merge":
		if !isNumber(n) {
			return fmt.Sprintf("the string %q", value)
		}
		return fmt.Sprintf("%s, a number", value)
	case "!!int", "!!float":
		return fmt.Sprintf("%s, a number to YAML", value)
	case "!!bool":
		return fmt.Sprintf("%s, a truth value to YAML", value)
	case "!!timestamp":
		return fmt.Sprintf("%s, a date to YAML", value)
	default:
		return fmt.Sprintf("%s with the tag %s", value, tag)
	}
}

// isMapping and isList refuse tags that ask for something else.
func isMapping(n *yaml.Node) bool { return n.Kind == yaml.MappingNode && n.ShortTag() == "!!map" }
func isList(n *yaml.Node) bool    { return n.Kind == yaml.SequenceNode && n.ShortTag() == "!!seq" }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// clip shortens what a message quotes.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
