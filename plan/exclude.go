package plan

import "slices"

// exclude drops the cells that an entry matches. Each entry is held against the
// whole matrix, so their order does not matter.
func (m *matrix) exclude() {
	drop := make([]bool, len(m.cells))
	for i := range m.l.plan.Exclude {
		e := &m.l.plan.Exclude[i]
		hit := false
		for c := range m.cells {
			if e.cell(&m.cells[c]) {
				drop[c], hit = true, true
			}
		}
		if !hit && !m.l.opts.Override.any() {
			m.l.doc.add(item("exclude", i), "matches no cell of the matrix")
		}
	}
	for c := range m.cells {
		if drop[c] {
			delete(m.seen, m.cells[c].CellID)
		}
	}
	c := -1
	m.cells = slices.DeleteFunc(m.cells, func(Run) bool { c++; return drop[c] })
}

// include adds the cells of the entries. It is false when the matrix became too
// large.
func (m *matrix) include() bool {
	l := m.l
	for i := range l.plan.Include {
		e := &l.plan.Include[i]
		at := item("include", i)
		if problem := e.zipProblem(l.plan.Zip); problem != "" {
			l.doc.add(at, "%s", problem)
			continue
		}
		if problem := unequal(e.axes(l.plan.Axes, &l.opts.Override), l.plan.Zip); problem != "" {
			l.overrideRule(at, problem)
			continue
		}
		before := len(m.cells)
		for s := range l.plan.Servers {
			for d := range l.plan.Datasets {
				if !allows(e.Servers, l.plan.Servers[s].Name) || !allows(e.Datasets, l.plan.Datasets[d].Name) {
					continue
				}
				if !m.product(s, d, e.axes(m.axes(d), &l.opts.Override)) {
					return false
				}
			}
		}
		if len(m.cells) == before && !l.opts.Override.any() {
			l.doc.add(at, "adds nothing: its cells are in the matrix already")
		}
	}
	return true
}
