package table

import (
	"fmt"
	"slices"
)

// maxBest bounds the lines of the best servers.
const maxBest = 30

// bestGrid is the server with the highest speedup of each dataset and point, where
// there are too many servers to stand side by side. It is marked only where it is shown
// to be the highest; see bestOf.
func bestGrid(ls []line, axes []Column) Grid {
	speedup := column("speedup")
	servers := map[string]bool{}
	for _, l := range ls {
		servers[l.rows[0].Server] = true
	}
	if len(servers) <= maxPairs {
		return Grid{}
	}
	g := Grid{Name: GridBest, Title: "Best per dataset: the highest speedup", Brief: true}
	var shared []Column
	for _, c := range axes {
		// A server has its own engine and model.
		if c.Name != "server" && c.Name != "engine" && c.Name != "model" {
			shared = append(shared, c)
			g.Columns = append(g.Columns, c.header())
		}
	}
	g.Columns = append(g.Columns, column("server").header(), speedup.header(), column("accept_length").header(), Header{"of servers", true})
	blocks := blocks(ls, speedup)
	seen := map[lineKey]bool{}
	for _, l := range ls {
		members := blocks[l.block()]
		if seen[l.block()] || len(members) < 2 {
			continue
		}
		seen[l.block()] = true
		at := slices.MaxFunc(members, func(a, b int) int {
			if *ls[a].value(speedup) < *ls[b].value(speedup) {
				return -1
			}
			return 1
		})
		shown := bestOf(ls, members, speedup) == at
		name := Cell{Text: ls[at].text(column("server")), Best: shown}
		g.Lines = append(g.Lines, append(ls[at].identity(shared), name, Cell{Text: ls[at].text(speedup), Best: shown},
			Cell{Text: ls[at].text(column("accept_length"))}, Cell{Text: fmt.Sprint(len(members))}))
	}
	if more := len(g.Lines) - maxBest; more > 0 {
		g.Lines = g.Lines[:maxBest]
		g.Title += fmt.Sprintf(" (the first %d of %d)", maxBest, maxBest+more)
	}
	return g
}
