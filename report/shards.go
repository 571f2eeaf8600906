package report

import (
	"fmt"
	"strconv"

	"github.com/specsweep/specsweep/report/table"
)

// shards is the run-sets that a merged one was made of, side by side.
func shards(s Set) table.Grid {
	g := table.Grid{Title: "Shards"}
	for _, name := range []string{"folder", "shard", "node", "gpu", "host", "specsweep", "commit", "status", "sessions", "rows", "started", "ended"} {
		g.Columns = append(g.Columns, table.Header{Name: name})
	}
	for _, r := range s.Manifest.Shards {
		shard, node, gpu, ended := "", "", "", ""
		if r.Shard != nil {
			shard, node, gpu = fmt.Sprintf("%d of %d", r.Shard.Index, r.Shard.Of), r.Shard.Node, r.Shard.GPU
		}
		if r.EndedAt != nil {
			ended = stamp(*r.EndedAt)
		}
		var cells []table.Cell
		for _, text := range []string{
			r.Dir, shard, node, gpu, fmt.Sprintf("%s/%s, %d CPUs", r.Host.OS, r.Host.Arch, r.Host.CPUs), r.ToolVersion, r.GitCommit,
			r.Status, strconv.Itoa(r.Sessions), strconv.Itoa(r.Rows), stamp(r.StartedAt), ended,
		} {
			if text = table.Clean(text, maxField); text == "" {
				text = table.NotAvailable
			}
			cells = append(cells, table.Cell{Text: text})
		}
		g.Lines = append(g.Lines, cells)
	}
	return g
}

// merging is what a merge has noted: what is missing, and what it had to decide.
func merging(s Set) table.Grid {
	g := table.Grid{Title: "Notes of the merge", Columns: []table.Header{{Name: "what"}, {Name: "note"}}}
	add := func(what, note string) {
		g.Lines = append(g.Lines, []table.Cell{{Text: what}, {Text: table.Clean(note, maxField)}})
	}
	for _, m := range s.Manifest.Missing {
		note := fmt.Sprintf("server %s: %d runs", m.Server, m.Runs)
		if m.Shard > 0 {
			note += fmt.Sprintf(" of shard %d", m.Shard)
		}
		if len(m.RunIDs) == 0 {
			note += ", of which no run-set is there"
		}
		add("missing", note)
	}
	for _, note := range s.Manifest.Notes {
		add("note", note)
	}
	return g
}
