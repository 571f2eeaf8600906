package result

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// describe makes the manifest of the parts' manifests.
func (m *Merged) describe() {
	notes := m.Manifest.Notes
	out := m.parts[0].manifest
	out.Command, out.Resumed, out.Shard, out.RunIDs = nil, nil, nil, nil
	out.Servers, out.Datasets, out.Shards, out.Missing, out.Notes = nil, nil, nil, nil, nil
	out.Cells, out.Labels = map[string]json.RawMessage{}, maps.Clone(out.Labels)
	if p := firstWhole(m.parts); p != nil {
		out.Whole = p.manifest.Whole
	}
	for i := range m.parts {
		p := &m.parts[i]
		pm := &p.manifest
		maps.DeleteFunc(out.Labels, func(name, value string) bool { return pm.Labels[name] != value })
		maps.Copy(out.Cells, pm.Cells)
		if pm.StartedAt.Before(out.StartedAt) {
			out.StartedAt = pm.StartedAt
		}
		if pm.EndedAt != nil && (out.EndedAt == nil || pm.EndedAt.After(*out.EndedAt)) {
			out.EndedAt = pm.EndedAt
		}
		for _, s := range pm.Servers {
			out.Servers = addServer(out.Servers, s)
		}
		for _, d := range pm.Datasets {
			if !slices.ContainsFunc(out.Datasets, func(have ManifestDataset) bool { return reflect.DeepEqual(have, d) }) {
				out.Datasets = append(out.Datasets, d)
			}
		}
		out.Shards = append(out.Shards, p.records()...)
		notes = append(notes, p.problems...)
		if p.count == 0 {
			notes = append(notes, p.dir+" has no rows"+whyEmpty(pm))
		}
		notes = append(notes, pm.Notes...)
	}
	m.Manifest = out
	m.Manifest.Notes = append(notes, m.shardTwice()...)
	m.Manifest.Missing = m.missing()
	m.Manifest.Runs = len(m.Rows)
	for _, missing := range m.Manifest.Missing {
		m.Manifest.Runs += missing.Runs
	}
	m.Manifest.Status = m.status()
}

func whyEmpty(m *Manifest) string {
	switch {
	case m.Shard != nil && m.Whole != nil && len(m.RunIDs) == 0:
		return fmt.Sprintf(": the plan's %d servers leave nothing for shard %d of %d", len(m.Whole.Servers), m.Shard.Index, m.Shard.Of)
	case m.Status == StatusFinished:
		return ""
	}
	return ": its status is " + m.Status
}

// records is what a merged manifest keeps of a part, which may be merged itself.
func (p *part) records() []ShardRecord {
	m := &p.manifest
	if len(m.Shards) > 0 {
		return m.Shards
	}
	return []ShardRecord{{
		Dir: filepath.Base(filepath.Clean(p.dir)), Shard: m.Shard, ToolVersion: m.ToolVersion, GitCommit: m.GitCommit, Host: m.Host,
		StartedAt: m.StartedAt, EndedAt: m.EndedAt, Status: m.Status, Sessions: 1 + len(m.Resumed), Rows: p.count,
	}}
}

// addServer adds a server, or a baseline that is not there yet: each shard has found
// its own, which are one to the reader when they are alike.
func addServer(have []ManifestServer, s ManifestServer) []ManifestServer {
	if slices.ContainsFunc(have, func(h ManifestServer) bool {
		if s.Baseline {
			h.Name = s.Name // the first server that it belongs to
		}
		return reflect.DeepEqual(h, s)
	}) {
		return have
	}
	return append(have, s)
}

// shardTwice names the shards that several run-sets are of, and divisions that differ.
func (m *Merged) shardTwice() []string {
	var notes []string
	first := map[int]string{}
	of := 0
	for i := range m.parts {
		p := &m.parts[i]
		s := p.manifest.Shard
		switch {
		case s == nil:
		case of != 0 && s.Of != of:
			notes = append(notes, fmt.Sprintf("%s is shard %d of %d, others are of %d: they overlap, and each run counts once", p.dir, s.Index, s.Of, of))
		case first[s.Index] != "":
			notes = append(notes, fmt.Sprintf("%s and %s are both shard %d of %d: each run counts once", first[s.Index], p.dir, s.Index, s.Of))
		default:
			first[s.Index], of = p.dir, s.Of
		}
	}
	return notes
}

// status is the worst of the parts': what was cut short in one is cut short in all.
func (m *Merged) status() string {
	for _, status := range []string{StatusFailed, StatusInterrupted, StatusRunning} {
		if slices.ContainsFunc(m.parts, func(p part) bool { return p.manifest.Status == status }) && len(m.Manifest.Missing) > 0 {
			return status
		}
	}
	if len(m.Manifest.Missing) > 0 {
		return StatusIncomplete
	}
	return StatusFinished
}

// missing is the runs without a row: of what each part was asked for, and of the servers
// that no part has anything of.
func (m *Merged) missing() []MissingRuns {
	var out []MissingRuns
	seen := map[string]bool{}     // run_ids and, where these are not known, cell_ids
	measured := map[string]bool{} // cell_ids with a row
	servers := map[string]bool{}
	for i := range m.Rows {
		measured[m.Rows[i].CellID] = true
		servers[m.Rows[i].Server] = true
	}
	for i := range m.parts {
		pm := &m.parts[i].manifest
		add := func(server, id string) {
			if seen[id] {
				return
			}
			seen[id] = true
			j := slices.IndexFunc(out, func(r MissingRuns) bool { return r.Server == server })
			if j < 0 {
				j = len(out)
				out = append(out, MissingRuns{Server: server, Shard: shardOf(m.Manifest.Whole, server)})
			}
			out[j].Runs++
			out[j].RunIDs = append(out[j].RunIDs, id)
		}
		for _, id := range pm.RunIDs {
			cell, _, _ := strings.Cut(id, "-r")
			server := serverOf(pm.Cells[cell])
			servers[server] = true
			if _, ok := m.from[id]; !ok {
				add(server, id)
			}
		}
		if pm.Shard != nil {
			continue
		}
		for _, was := range pm.Missing { // a merged one knows its own
			for _, id := range was.RunIDs {
				servers[was.Server] = true
				if _, ok := m.from[id]; !ok {
					add(was.Server, id)
				}
			}
		}
		if pm.Whole != nil {
			continue
		}
		for _, cell := range slices.Sorted(maps.Keys(pm.Cells)) {
			if !measured[cell] {
				add(serverOf(pm.Cells[cell]), cell)
			}
		}
	}
	if m.Manifest.Whole == nil {
		return out
	}
	for _, s := range m.Manifest.Whole.Servers {
		if !servers[s.Server] {
			out = append(out, MissingRuns{Server: s.Server, Shard: s.Shard, Runs: s.Runs})
		}
	}
	return out
}

func shardOf(w *Whole, server string) int {
	if w == nil {
		return 0
	}
	for _, s := range w.Servers {
		if s.Server == server {
			return s.Shard
		}
	}
	return 0
}

// serverOf is the server of a cell's canonical JSON; empty when it says none.
func serverOf(cell json.RawMessage) string {
	var c struct {
		Server string `json:"server"`
	}
	if err := json.Unmarshal(cell, &c); err != nil {
		return ""
	}
	return c.Server
}
