package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is one YAML file: its tree, where its values stand, and what is
// wrong with it so far.
type document struct {
	file     string
	root     *yaml.Node // the mapping at the top; nil when there are problems
	lines    map[string]int
	problems Problems
}

// parseDocument reads a file that must hold exactly one mapping.
func parseDocument(file string, src []byte) *document {
	doc := &document{file: file, lines: map[string]int{}}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var first, second yaml.Node
	err := dec.Decode(&first)
	switch {
	case errors.Is(err, io.EOF):
		doc.addAt(1, "", "the file is empty: want a mapping (key: value)")
		return doc
	case err != nil:
		doc.syntax(src, err)
		return doc
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		doc.addAt(second.Line, "", "a second document starts here: a file holds one only")
		return doc
	case !errors.Is(err, io.EOF):
		doc.syntax(src, err)
		return doc
	}
	root := target(first.Content[0])
	switch {
	case isNull(root):
		doc.addAt(1, "", "the file is empty: want a mapping (key: value)")
	case !isMapping(root):
		doc.addAt(root.Line, "", "want a mapping (key: value) at the top (have %s)", describe(root))
	default:
		doc.checkAliases(root)
	}
	if len(doc.problems) == 0 {
		doc.root = root
		doc.lines[""] = root.Line
	}
	return doc
}

// add notes a problem on the line of the path, or of the nearest part of it that
// stands in the file: a key that is missing is reported where its mapping starts.
func (d *document) add(path, format string, args ...any) {
	line, ok := d.lines[path]
	for at := path; !ok && at != ""; {
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
		line, ok = d.lines[at]
	}
	d.addAt(line, path, format, args...)
}

func (d *document) addAt(line int, path, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.file, line, path, fmt.Sprintf(format, args...)})
}

// has reports whether the path stands in the file, with a good value or not.
func (d *document) has(path string) bool {
	_, ok := d.lines[path]
	return ok
}

// clean reports whether there is no problem under these top-level keys, nor
// with the file as a whole.
func (d *document) clean(keys ...string) bool {
	for _, p := range d.problems {
		if p.Path == "" {
			return false
		}
		for _, key := range keys {
			if rest, ok := strings.CutPrefix(p.Path, key); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return false
			}
		}
	}
	return true
}

// syntax turns an error of the YAML parser into a problem. The parser leaves out
// the line of some errors, and takes a tab for an unknown character.
func (d *document) syntax(src []byte, err error) {
	m := regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`).FindStringSubmatch(err.Error())
	if m == nil {
		d.addAt(0, "", "%v", err)
		return
	}
	line, _ := strconv.Atoi(m[1]) // empty where the parser names no line
	if line == 0 {
		line = badLine(src, m[2])
	}
	lines := bytes.Split(src, []byte("\n"))
	indent := regexp.MustCompile(`^[ \-?:]*\t`)
	for n := max(line-1, 1); n <= min(line+1, len(lines)); n++ {
		if indent.Match(lines[n-1]) {
			d.addAt(n, "", "a tab as indentation: YAML takes blanks only")
			return
		}
	}
	d.addAt(line, "", "not YAML: %s", m[2])
}

// badLine looks for what the parser complains about without saying where.
func badLine(src []byte, message string) int {
	at := func(i int) int { return 1 + bytes.Count(src[:max(i, 0)], []byte("\n")) }
	if m := regexp.MustCompile(`unknown anchor '(.*)'`).FindStringSubmatch(message); m != nil {
		return at(bytes.Index(src, []byte("*"+m[1])))
	}
	for i, r := range string(src) {
		control := r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0x7f
		if control || r == '\uFFFD' {
			return at(i)
		}
	}
	return 1
}
