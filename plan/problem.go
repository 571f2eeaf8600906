package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a plan, and where.
type Problem struct {
	File string // as it was named; empty for an Override
	Line int    // from 1; 0 when the problem stands on no line
	Path string // as in servers[0].server; empty for the file as a whole
	Text string // what is wrong, and what would be right
}

// Error is file:line: path: text, without the parts that are not known.
func (p Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		b.WriteString(": ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// Problems is everything that is wrong with a plan. It is the error that Load
// and Parse return for a plan that can be read but not used.
type Problems []Problem

// Error holds one line a problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a single Problem.
func (p Problems) Unwrap() []error {
	errs := make([]error, len(p))
	for i, problem := range p {
		errs[i] = problem
	}
	return errs
}

// sorted drops what was said twice and puts the rest in the order of lines.
func (p Problems) sorted() Problems {
	seen := map[Problem]bool{}
	out := slices.DeleteFunc(slices.Clone(p), func(q Problem) bool {
		said := seen[q]
		seen[q] = true
		return said
	})
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return out
}
