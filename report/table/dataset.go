package table

import "slices"

// maxPairs bounds the pairs of columns of a table over servers; more would be wider
// than a page, and the main table has them line by line.
const maxPairs = 6

// datasetGrid is the servers side by side: a pair of columns each, a line for every
// cell but for its server. Only speedups have a best; see bestOf.
func datasetGrid(ls []line, axes []Column, notes *footnotes) Grid {
	var servers []string
	for _, l := range ls {
		if s := l.rows[0].Server; !slices.Contains(servers, s) {
			servers = append(servers, s)
		}
	}
	if len(servers) < 2 || len(servers) > maxPairs {
		return Grid{}
	}
	g := Grid{Name: GridPerDataset, Title: "Side by side, per dataset"}
	var shared []Column
	for _, c := range axes {
		// A server has its own engine and model.
		if c.Name != "server" && c.Name != "engine" && c.Name != "model" {
			shared = append(shared, c)
			g.Columns = append(g.Columns, c.header())
		}
	}
	length, speedup := column("accept_length"), column("speedup")
	for _, s := range servers {
		name := orNotAvailable(Clean(s, maxText))
		g.Columns = append(g.Columns, Header{"accept_length " + name, true}, Header{"speedup " + name, true})
	}
	best := map[int]bool{}
	for _, members := range blocks(ls, speedup) {
		if i := bestOf(ls, members, speedup); i >= 0 {
			best[i] = true
		}
	}
	at := map[lineKey]int{}
	taken := map[[2]int]bool{}
	for i, l := range ls {
		n, ok := at[l.block()]
		pair := slices.Index(servers, l.rows[0].Server)
		// A second cell of one server at the same point, told apart by its id alone, has
		// a line of its own.
		if !ok || taken[[2]int{n, pair}] {
			n = len(g.Lines)
			at[l.block()] = n
			cells := l.identity(shared)
			for range servers {
				cells = append(cells, Cell{Text: NotAvailable}, Cell{Text: NotAvailable})
			}
			g.Lines = append(g.Lines, cells)
		}
		taken[[2]int{n, pair}] = true
		first := len(shared) + 2*pair
		g.Lines[n][first] = l.cell(length, notes)
		g.Lines[n][first+1] = l.cell(speedup, notes)
		g.Lines[n][first+1].Best = best[i]
	}
	return g
}
