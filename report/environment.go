package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// maxField bounds a field of the environment, in runes.
const maxField = 400

// environment is what one needs to make the measurement again.
func environment(s Set) []table.Grid {
	m := s.Manifest
	g := table.Grid{Title: "Environment and plan", Columns: []table.Header{{Name: "what"}, {Name: "value"}}}
	add := func(name, value string) {
		if value = table.Clean(value, maxField); value != "" {
			g.Lines = append(g.Lines, []table.Cell{{Text: name}, {Text: value}})
		}
	}
	add("plan", m.Plan)
	add("description", m.Description)
	add("plan file", m.PlanPath)
	add("plan sha256", m.PlanSHA256)
	add("command", shellWords(m.Command))
	add("overrides", pairs(m.Overrides))
	add("specsweep", toolVersion(s))
	add("specsweep commit", m.GitCommit)
	if m.Host.OS != "" {
		add("host", fmt.Sprintf("%s/%s, %d CPUs", m.Host.OS, m.Host.Arch, m.Host.CPUs))
	}
	add("started", stamp(m.StartedAt))
	if m.EndedAt != nil {
		add("ended", stamp(*m.EndedAt))
	}
	add("status", m.Status)
	return []table.Grid{g, servers(s), shards(s), merging(s)}
}

func toolVersion(s Set) string {
	if s.Manifest.ToolVersion == "" && len(s.Rows) > 0 {
		return s.Rows[0].ToolVersion
	}
	return s.Manifest.ToolVersion
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// servers is the servers as the manifest has them or, without one, as the rows
// name them.
func servers(s Set) table.Grid {
	g := table.Grid{Title: "Servers"}
	for _, name := range []string{"server", "role", "url", "engine", "version", "model", "speculation", "labels", "notes"} {
		g.Columns = append(g.Columns, table.Header{Name: name})
	}
	list := s.Manifest.Servers
	if len(list) == 0 {
		list = serversOf(s.Rows)
	}
	for _, srv := range list {
		role := "server"
		if srv.Baseline {
			role = "baseline_server"
		}
		notes := slices.Clone(srv.Notes)
		if srv.Error != "" {
			notes = append([]string{srv.Error}, notes...)
		}
		var cells []table.Cell
		for _, text := range []string{
			srv.Name, role, srv.URL, srv.Engine, srv.Version, srv.Model, pairs(srv.Speculation), pairs(srv.Labels), strings.Join(notes, "; "),
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

func serversOf(rows []result.Row) []result.ManifestServer {
	var list []result.ManifestServer
	seen := map[string]bool{}
	add := func(srv result.ManifestServer) {
		if key := fmt.Sprint(srv.Name, srv.Baseline, srv.Engine, srv.Model, srv.Version); srv.Engine != "" && !seen[key] {
			seen[key] = true
			list = append(list, srv)
		}
	}
	for i := range rows {
		r := &rows[i]
		add(result.ManifestServer{Name: r.Server, Engine: r.Engine, Version: r.ServerVersion, Model: r.Model, Labels: r.Labels})
		add(result.ManifestServer{Name: r.Server, Engine: r.BaselineEngine, Version: r.BaselineVersion, Baseline: true})
	}
	return list
}

// pairs is a map as name=value, sorted by name.
func pairs(m map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, name+"="+m[name])
	}
	return strings.Join(parts, ", ")
}

// shellWords is a command as one can paste it, words with blanks quoted.
func shellWords(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n\"'\\$`;&|<>(){}*?~#!") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
