package plan

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decoder fills the YAML types of file.go from a tree, strictly: a value must
// have been written as what it is read as. It goes on after a problem, so that
// all of them are known after one pass.
type decoder struct {
	doc *document
	// expand replaces variables in string values. Nil leaves them as they are:
	// ids are made from the text of the file.
	expand func(string) (string, []string)
	// words replace {name} in string values, before variables.
	words map[string]string
}

// valueDecoder is a YAML type with a form of its own. decodeYAML reports whether
// the receiver holds a good value; where it does not, the problems are noted.
type valueDecoder interface {
	decodeYAML(d *decoder, n *yaml.Node, path string) bool
}

// decode reads the document twice: as written, and with variables expanded. Only
// the second reading notes problems and lines.
func decode[T any](doc *document, lookup lookupFunc) (raw, expanded T) {
	scratch := &document{lines: map[string]int{}}
	(&decoder{doc: scratch}).value(doc.root, reflect.ValueOf(&raw).Elem(), "")
	d := &decoder{doc: doc, expand: func(s string) (string, []string) { return expandVars(s, lookup) }}
	d.value(doc.root, reflect.ValueOf(&expanded).Elem(), "")
	return raw, expanded
}

func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) bool {
	n = target(n)
	if c, ok := v.Addr().Interface().(valueDecoder); ok {
		return c.decodeYAML(d, n, path)
	}
	switch v.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		ok := d.value(n, fresh.Elem(), path)
		if ok {
			v.Set(fresh)
		}
		return ok
	case reflect.Struct:
		return d.mapping(n, v, path)
	case reflect.Slice:
		return d.list(n, v, path)
	case reflect.String:
		s, ok := d.text(n, path)
		v.SetString(s)
		return ok
	default:
		panic("plan: no decoding for " + v.Type().String())
	}
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) bool {
	if !isMapping(n) {
		return d.wrong(n, path, "a mapping (key: value)")
	}
	fields := fieldsOf(v)
	seen := map[string]bool{}
	for _, e := range d.entries(n, path, false) {
		f, ok := fields[e.key]
		at := join(path, e.key)
		if !ok {
			d.doc.addAt(e.line, at, "unknown key %s", unknown(e.key, sortedKeys(fields)))
			continue
		}
		seen[e.key] = true
		d.doc.lines[at] = e.line
		switch {
		case !isNull(target(e.value)):
			d.value(e.value, f.value, at)
		case !f.nullable:
			d.doc.addAt(e.line, at, "no value: give one, or leave the key out")
		}
	}
	for _, key := range sortedKeys(fields) {
		if fields[key].required && !seen[key] {
			d.doc.addAt(n.Line, join(path, key), "required")
		}
	}
	return true
}

// list keeps the place of an item that is wrong, so that paths stay right.
func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) bool {
	if !isList(n) {
		return d.wrong(n, path, "a list")
	}
	items := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	good := true
	for i, c := range n.Content {
		at := item(path, i)
		d.doc.lines[at] = c.Line
		good = d.value(c, items.Index(i), at) && good
	}
	v.Set(items)
	return good
}

type field struct {
	value              reflect.Value
	required, nullable bool
}

// fieldsOf are the fields of a struct by their keys, embedded ones included.
func fieldsOf(v reflect.Value) map[string]field {
	fields := map[string]field{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case f.Anonymous:
			for key, inner := range fieldsOf(v.Field(i)) {
				fields[key] = inner
			}
			continue
		case !f.IsExported(): // no key, but what the decoder keeps beside them
			continue
		}
		tags := "," + f.Tag.Get("jsonschema") + ","
		fields[f.Tag.Get("yaml")] = field{
			v.Field(i), strings.Contains(tags, ",required,"), strings.Contains(tags, ",nullable,"),
		}
	}
	return fields
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// join is the path of a key; one with dots or blanks in it is put in quotes.
func join(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// item is the path of a place in a list.
func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// decodeStruct decodes a mapping for a type that has more forms than one.
func decodeStruct[T any](d *decoder, n *yaml.Node, path string) (T, bool) {
	var fresh T
	ok := d.mapping(n, reflect.ValueOf(&fresh).Elem(), path)
	return fresh, ok
}
