package compare

import (
	"slices"
	"strings"

	"github.com/specsweep/specsweep/runner/result"
)

// rowsOf is one cell of one side.
type rowsOf struct {
	Identity
	id       string // cell_id; empty in files that lack it
	ok       []*result.Row
	errors   int
	all      []*result.Row
	requests map[string][]result.Request
	config   []byte // the cell's canonical JSON, where the manifest keeps it
}

func (r *rowsOf) tally() Tally { return Tally{OK: len(r.ok), Errors: r.errors} }

// key is what a cell of the other side must share when the ids differ.
type key struct {
	server, dataset                         string
	concurrency, maxNewTokens, promptsAsked int
	temperature, requestRate                float64
}

func (r *rowsOf) key(byServer bool) key {
	k := key{
		server: r.Server, dataset: r.Dataset, concurrency: r.Concurrency, maxNewTokens: r.MaxNewTokens,
		promptsAsked: r.PromptsAsked, temperature: r.Temperature, requestRate: -1,
	}
	if byServer {
		k.server = ""
	}
	if r.RequestRate != nil {
		k.requestRate = *r.RequestRate
	}
	return k
}

// group makes the side's cells, in the order of run_index; server "" takes all.
func group(s Side, server string) []*rowsOf {
	type groupKey struct {
		id string
		key
	}
	refs := make([]*result.Row, len(s.Rows))
	for i := range s.Rows {
		refs[i] = &s.Rows[i]
	}
	slices.SortStableFunc(refs, func(a, b *result.Row) int { return a.RunIndex - b.RunIndex })
	var cells []*rowsOf
	at := map[groupKey]*rowsOf{}
	for _, r := range refs {
		if server != "" && r.Server != server {
			continue
		}
		c := &rowsOf{id: r.CellID, requests: s.Requests, config: s.Manifest.Cells[r.CellID], Identity: Identity{
			Server: r.Server, Dataset: r.Dataset, Concurrency: r.Concurrency, MaxNewTokens: r.MaxNewTokens,
			Temperature: r.Temperature, RequestRate: r.RequestRate, PromptsAsked: r.PromptsAsked,
		}}
		k := groupKey{r.CellID, c.key(false)}
		if at[k] == nil {
			at[k] = c
			cells = append(cells, c)
		}
		c = at[k]
		c.all = append(c.all, r)
		if r.OK() {
			c.ok = append(c.ok, r)
		} else {
			c.errors++
		}
	}
	return cells
}

// pair is a cell on both sides.
type pair struct{ old, new *rowsOf }

// match pairs the cells: by cell_id, then those that are left by everything of a
// cell that its rows name, where that is one cell on each side.
func match(old, new []*rowsOf, byServer bool) (pairs []pair, onlyOld, onlyNew []*rowsOf) {
	taken := map[*rowsOf]bool{}
	partner := map[*rowsOf]*rowsOf{}
	take := func(a, b *rowsOf) { partner[a], taken[b] = b, true }
	if !byServer {
		ids := unique(new, func(r *rowsOf) string { return r.id })
		for _, a := range unique(old, func(r *rowsOf) string { return r.id }) {
			if a == nil || a.id == "" {
				continue
			}
			if b := ids[a.id]; b != nil {
				take(a, b)
			}
		}
	}
	free := func(cells []*rowsOf) []*rowsOf {
		return slices.DeleteFunc(slices.Clone(cells), func(r *rowsOf) bool { return taken[r] || partner[r] != nil })
	}
	byKey := func(r *rowsOf) key { return r.key(byServer) }
	keys := unique(free(new), byKey)
	for k, a := range unique(free(old), byKey) {
		if b := keys[k]; a != nil && b != nil {
			take(a, b)
		}
	}
	for _, a := range old {
		if b := partner[a]; b != nil {
			pairs = append(pairs, pair{a, b})
		} else {
			onlyOld = append(onlyOld, a)
		}
	}
	for _, b := range new {
		if !taken[b] {
			onlyNew = append(onlyNew, b)
		}
	}
	return pairs, onlyOld, onlyNew
}

// unique is the cells by their key; nil where several share it.
func unique[K comparable](cells []*rowsOf, of func(*rowsOf) K) map[K]*rowsOf {
	out := map[K]*rowsOf{}
	for _, c := range cells {
		if _, several := out[of(c)]; several {
			out[of(c)] = nil
		} else {
			out[of(c)] = c
		}
	}
	return out
}

func identities(cells []*rowsOf) []Identity {
	out := []Identity{}
	for _, c := range cells {
		out = append(out, c.Identity)
	}
	return out
}

// texts is the different non-empty values over rows, in order of appearance.
func texts(rows []*result.Row, get func(*result.Row) string) []string {
	var out []string
	for _, r := range rows {
		if s := strings.TrimSpace(get(r)); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
