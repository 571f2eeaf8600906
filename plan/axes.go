package plan

import (
	"fmt"
	"math"
	"slices"
)

// The axes, in the order in which Expand goes through them.
const (
	axisConcurrency  = "concurrency"
	axisMaxNewTokens = "max_new_tokens"
	axisTemperature  = "temperature"
	axisNumPrompts   = "num_prompts"
	axisRequestRate  = "request_rate"
)

func axisNames() []string {
	return []string{axisConcurrency, axisMaxNewTokens, axisTemperature, axisNumPrompts, axisRequestRate}
}

// length is how many values the axis has.
func (a *Axes) length(axis string) int {
	switch axis {
	case axisConcurrency:
		return len(a.Concurrency)
	case axisMaxNewTokens:
		return len(a.MaxNewTokens)
	case axisTemperature:
		return len(a.Temperature)
	case axisRequestRate:
		return len(a.RequestRate)
	default:
		return len(a.NumPrompts)
	}
}

// axes builds the matrix's axes, and exclude and include.
func (l *loader) axes() {
	f, a := &l.file, &l.plan.Axes
	a.Concurrency = orDefault(f.Concurrency, 16)
	a.MaxNewTokens = orDefault(f.MaxNewTokens, 256)
	a.Temperature = orDefault(f.Temperature, 0)
	a.NumPrompts = orDefault(f.NumPrompts, NumPrompts{N: 64})
	a.RequestRate = orDefault(f.RequestRate, math.Inf(1))
	l.zip()
	l.replace()
	l.plan.Exclude = l.matches("exclude", f.Exclude)
	l.plan.Include = l.matches("include", f.Include)
}

func orDefault[T any](values []T, fallback T) []T {
	if values == nil {
		return []T{fallback}
	}
	return values
}

// zip checks the axes that go together, as the file has them.
func (l *loader) zip() {
	l.plan.Zip = l.file.Zip
	if l.file.Zip == nil || !l.doc.clean(append(axisNames(), "zip")...) {
		return
	}
	if len(l.file.Zip) < 2 {
		l.doc.add("zip", "want at least two axes that go together")
	}
	seen := map[string]bool{}
	for i, axis := range l.file.Zip {
		at := item("zip", i)
		switch {
		case !slices.Contains(axisNames(), axis):
			l.doc.add(at, "unknown axis %q %s", clip(axis), unknown(axis, axisNames()))
		case seen[axis]:
			l.doc.add(at, "%s is in the list twice", axis)
		case !l.doc.has(axis):
			l.doc.add(at, "the plan gives no %s to go together with the others", axis)
		}
		seen[axis] = true
	}
	for i := range l.plan.Datasets {
		d := &l.plan.Datasets[i]
		for axis, own := range map[string]bool{axisMaxNewTokens: d.MaxNewTokens != nil, axisNumPrompts: d.NumPrompts != nil} {
			if own && seen[axis] {
				doc := l.doc
				if l.config != nil {
					doc = l.config
				}
				doc.add(item("datasets", i)+"."+axis, "%s is zipped with other axes: a dataset cannot have its own", axis)
			}
		}
	}
	if problem := unequal(l.plan.Axes, l.file.Zip); problem != "" && l.doc.clean("zip") {
		l.doc.add("zip", "%s", problem)
	}
}

// unequal says how long zipped axes are when they are not equally long.
func unequal(a Axes, zip []string) string {
	text, same := "", true
	for i, axis := range zip {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s has %d", axis, a.length(axis))
		same = same && a.length(axis) == a.length(zip[0])
	}
	if same {
		return ""
	}
	return "zipped axes must be equally long: " + text
}

// replace puts the Override in the place of the plan's and the datasets' values.
func (l *loader) replace() {
	o, a := &l.opts.Override, &l.plan.Axes
	replaceAxis(l, axisConcurrency, o.Concurrency, &a.Concurrency, checkCount)
	replaceAxis(l, axisMaxNewTokens, o.MaxNewTokens, &a.MaxNewTokens, checkCount)
	replaceAxis(l, axisTemperature, o.Temperature, &a.Temperature, checkTemperature)
	replaceAxis(l, axisNumPrompts, o.NumPrompts, &a.NumPrompts, checkNumPrompts)
	replaceAxis(l, axisRequestRate, o.RequestRate, &a.RequestRate, checkRate)
	if o.Repeats != nil {
		l.plan.Repeats = *o.Repeats
		l.overrideRule("repeats", checkCount(*o.Repeats))
	}
	for i := range l.plan.Datasets {
		d := &l.plan.Datasets[i]
		if o.MaxNewTokens != nil {
			d.MaxNewTokens = nil
		}
		if o.NumPrompts != nil {
			d.NumPrompts = nil
		}
	}
	if l.doc.clean("zip") && l.override == nil {
		l.overrideRule("zip", unequal(*a, l.plan.Zip))
	}
}

func replaceAxis[T comparable](l *loader, axis string, values []T, to *[]T, check func(T) string) {
	if values == nil {
		return
	}
	if len(values) == 0 {
		l.overrideRule(axis, "an empty list: give at least one value")
	}
	for i, v := range values {
		l.overrideRule(axis, check(v))
		if slices.Contains(values[:i], v) {
			l.overrideRule(axis, fmt.Sprintf("%v is in the list twice", v))
		}
	}
	*to = values
}

func (l *loader) overrideRule(path, problem string) {
	if problem != "" {
		l.override = append(l.override, Problem{Path: path, Text: "overridden: " + problem})
	}
}
