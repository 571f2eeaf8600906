package plan

import (
	"slices"
	"strings"
)

// matches builds the entries of exclude or include.
func (l *loader) matches(path string, entries []matchYAML) []Match {
	var out []Match
	for i, y := range entries {
		out = append(out, l.match(item(path, i), y))
	}
	return out
}

// match builds one entry.
func (l *loader) match(at string, y matchYAML) Match {
	var servers, datasets []string
	for i := range l.plan.Servers {
		servers = append(servers, l.plan.Servers[i].Name)
	}
	for i := range l.plan.Datasets {
		datasets = append(datasets, l.plan.Datasets[i].Name)
	}
	l.known(at+".server", y.Server, servers)
	l.known(at+".dataset", y.Dataset, datasets)
	return Match{
		Line: l.doc.lines[at], Servers: y.Server, Datasets: y.Dataset, Concurrency: y.Concurrency,
		MaxNewTokens: y.MaxNewTokens, Temperature: y.Temperature, NumPrompts: y.NumPrompts, RequestRate: y.RequestRate,
	}
}

// known checks names. Where one of those there are could not be read, it may be
// the one that is meant.
func (l *loader) known(at string, words, known []string) {
	if slices.Contains(known, "") {
		return
	}
	for _, w := range words {
		if !slices.Contains(known, w) {
			l.doc.add(at, "there is no %q %s", clip(w), unknown(w, known))
		}
	}
}

// cell reports whether the entry is about the cell.
func (m *Match) cell(r *Run) bool {
	return allows(m.Servers, r.Server.Name) && allows(m.Datasets, r.Dataset.Name) &&
		allows(m.Concurrency, r.Concurrency) && allows(m.MaxNewTokens, r.MaxNewTokens) &&
		allows(m.Temperature, r.Temperature) && allows(m.RequestRate, r.rate()) && (m.NumPrompts == nil || slices.ContainsFunc(m.NumPrompts, r.asks))
}

// asks reports whether n is the number of prompts that the run asks for.
func (r *Run) asks(n NumPrompts) bool { return n.For(r.Concurrency) == r.NumPrompts }

// allows is true for a key that is left out.
func allows[T comparable](want []T, have T) bool {
	return want == nil || slices.Contains(want, have)
}

// axes are the plan's axes with those that the entry names in their place. The
// axes of a zip are named together or not at all, and go together here too.
func (m *Match) axes(plan Axes, o *Override) Axes {
	a := plan
	put(&a.Concurrency, m.Concurrency, o.Concurrency)
	put(&a.MaxNewTokens, m.MaxNewTokens, o.MaxNewTokens)
	put(&a.Temperature, m.Temperature, o.Temperature)
	put(&a.NumPrompts, m.NumPrompts, o.NumPrompts)
	put(&a.RequestRate, m.RequestRate, o.RequestRate)
	return a
}

// put takes the entry's values, unless the axis is overridden for the whole plan.
func put[T any](to *[]T, own, override []T) {
	if own != nil && override == nil {
		*to = own
	}
}

// zipProblem says what is wrong with an entry of include that names zipped axes.
func (m *Match) zipProblem(zip []string) string {
	own := Axes{m.Concurrency, m.MaxNewTokens, m.Temperature, m.NumPrompts, m.RequestRate}
	named := 0
	for _, axis := range zip {
		if own.length(axis) > 0 {
			named++
		}
	}
	switch named {
	case 0:
		return ""
	case len(zip):
		return unequal(own, zip)
	}
	return "names some of the zipped axes only: name all of " + strings.Join(zip, ", ") + ", or none"
}
