package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// Schema is the JSON Schema (draft 2020-12) of plans, for editors. It knows types,
// keys and single values; what holds between values only Load checks.
func Schema() ([]byte, error) {
	r := &jsonschema.Reflector{
		FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true, Anonymous: true, ExpandedStruct: true,
		Namer: func(t reflect.Type) string { return strings.TrimSuffix(t.Name(), "YAML") },
	}
	s := r.Reflect(&planYAML{})
	s.Title = "specsweep plan"
	// Types of more than one form only name their mappings, so the definitions are
	// fetched here.
	for name, form := range map[string]any{"baselineMap": &baselineMapYAML{}, "dataset": &datasetYAML{}, "durations": &durationsYAML{}} {
		def := r.Reflect(form)
		maps.Copy(s.Definitions, def.Definitions)
		def.Version, def.Definitions = "", nil
		s.Definitions[name] = def
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of plans: %w", err)
	}
	return text, nil
}

// The schemas of the values in values.go and freeform.go, rule by rule the same.

func (count) JSONSchema() *jsonschema.Schema { return integer("1") }

func (counts) JSONSchema() *jsonschema.Schema { return oneOrMore(integer("1")) }

func (retries) JSONSchema() *jsonschema.Schema { return integer("0") }

func (temperatures) JSONSchema() *jsonschema.Schema {
	return oneOrMore(&jsonschema.Schema{Type: "number", Minimum: "0"})
}

func (promptCount) JSONSchema() *jsonschema.Schema { return prompts() }

func (promptCounts) JSONSchema() *jsonschema.Schema { return oneOrMore(prompts()) }

func (names) JSONSchema() *jsonschema.Schema { return oneOrMore(&jsonschema.Schema{Type: "string"}) }

func (formatVersion) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Const: 1} }

func (probability) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", ExclusiveMinimum: "0", Maximum: "1"}
}

func (topK) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{integer("1"), {Const: -1}}}
}

func (seconds) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", ExclusiveMinimum: "0"}
}

func (waitSeconds) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", Minimum: "0"}
}

func (texts) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: anyOf("string", "number", "boolean")}
}

func (baselineYAML) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Ref: "#/$defs/baselineMap"}}}
}

func (datasetEntryYAML) JSONSchema() *jsonschema.Schema {
	preset := &jsonschema.Schema{Type: "string"}
	for _, name := range presetNames() {
		preset.Enum = append(preset.Enum, name)
	}
	variable := &jsonschema.Schema{Type: "string", Pattern: `\$\{`}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{preset, variable, {Ref: "#/$defs/dataset"}}}
}

func (seed) JSONSchema() *jsonschema.Schema {
	s := integer("0")
	s.Maximum = json.Number(strconv.FormatUint(math.MaxUint64, 10))
	return s
}

func integer(least json.Number) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: least}
}

func prompts() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{integer("1"), {Type: "string", Pattern: "^[1-9][0-9]*x$"}}}
}

func anyOf(types ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	for _, t := range types {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: t})
	}
	return s
}

// oneOrMore is a value or a list of distinct ones.
func oneOrMore(item *jsonschema.Schema) *jsonschema.Schema {
	one := uint64(1)
	list := &jsonschema.Schema{Type: "array", Items: item, MinItems: &one, UniqueItems: true}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{item, list}}
}
