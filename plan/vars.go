package plan

import (
	"fmt"
	"regexp"
	"strings"
)

// lookupFunc is os.LookupEnv or something like it.
type lookupFunc func(string) (string, bool)

var varName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reference is one ${VAR} or ${VAR:-default}.
type reference struct {
	name, fallback string
	hasDefault     bool
}

// expandVars replaces ${VAR} and ${VAR:-default} in s and turns $${ into ${. As in
// a shell, the default also stands in for a variable that is set to nothing. The
// second result says what is wrong with s.
func expandVars(s string, lookup lookupFunc) (string, []string) {
	var missing []string
	text, problems := replaceVars(s, func(r reference) string {
		var value string
		set := false
		if lookup != nil {
			value, set = lookup(r.name)
		}
		switch {
		case r.hasDefault && value == "":
			return r.fallback
		case !set:
			missing = append(missing, fmt.Sprintf("variable %s is not set: set it, or write ${%s:-default}", r.name, r.name))
		}
		return value
	})
	return text, append(problems, missing...)
}

// fromVar stands in a skeleton for what a variable brings in.
const fromVar = "\uFFFF"

// skeleton is what of s is written out in the file. A default is as literal as
// the text around it; any other ${VAR} becomes fromVar.
func skeleton(s string) string {
	text, _ := replaceVars(s, func(r reference) string {
		if r.fallback != "" {
			return r.fallback
		}
		return fromVar
	})
	return text
}

// replaceVars puts the value that f gives in the place of each reference.
func replaceVars(s string, f func(reference) string) (string, []string) {
	var out strings.Builder
	var problems []string
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			out.WriteString(s)
			return out.String(), problems
		}
		if i > 0 && s[i-1] == '$' {
			out.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		out.WriteString(s[:i])
		body, rest, closed := strings.Cut(s[i+2:], "}")
		if !closed {
			return out.String(), append(problems, "a ${ without its } (a literal ${ is written $${)")
		}
		var r reference
		r.name, r.fallback, r.hasDefault = strings.Cut(body, ":-")
		if varName.MatchString(r.name) && !strings.Contains(r.fallback, "${") {
			out.WriteString(f(r))
		} else {
			problems = append(problems, fmt.Sprintf("${%s} is not understood: want ${VAR} or ${VAR:-default} (a literal ${ is written $${)", clip(body)))
		}
		s = rest
	}
}
