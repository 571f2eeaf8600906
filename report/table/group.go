package table

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/specsweep/specsweep/report/stat"
	"github.com/specsweep/specsweep/runner/result"
)

// group is a server at one point of the axes other than concurrency.
type group struct {
	hs []headline // by concurrency, ascending
}

// groupKey tells groups apart.
type groupKey struct {
	server          string
	temperature     float64
	rate            float64
	tokens, prompts int // 0: every dataset has its own
}

// groups puts the headlines of one server together, in order of appearance. A
// number of prompts that grows with the concurrency is no axis of its own.
func groups(hs []headline) []group {
	own := map[groupKey]map[int]int{} // prompts by concurrency
	byPrompts := false
	for _, h := range hs {
		k := h.key()
		prompts := k.prompts
		k.prompts = 0
		if own[k] == nil {
			own[k] = map[int]int{}
		}
		if before, ok := own[k][h.Concurrency]; ok && before != prompts {
			byPrompts = true
		}
		own[k][h.Concurrency] = prompts
	}
	var gs []group
	at := map[groupKey]int{}
	for _, h := range hs {
		k := h.key()
		if !byPrompts {
			k.prompts = 0
		}
		i, ok := at[k]
		if !ok {
			i = len(gs)
			at[k] = i
			gs = append(gs, group{})
		}
		gs[i].hs = append(gs[i].hs, h)
	}
	for _, g := range gs {
		slices.SortStableFunc(g.hs, func(a, b headline) int { return cmp.Compare(a.Concurrency, b.Concurrency) })
	}
	return gs
}

func (p Point) key() groupKey {
	k := groupKey{server: p.Server, temperature: p.Temperature, rate: p.rate()}
	if p.MaxNewTokens != nil {
		k.tokens = *p.MaxNewTokens
	}
	if p.NumPrompts != nil {
		k.prompts = *p.NumPrompts
	}
	return k
}

func (p Point) rate() float64 {
	if p.RequestRate == nil {
		return 0
	}
	return *p.RequestRate
}

// rows is the group's rows, each once: a dataset with its own number of prompts is
// in several points.
func (g group) rows() []*result.Row {
	var rows []*result.Row
	seen := map[*result.Row]bool{}
	for _, h := range g.hs {
		for _, r := range h.Rows {
			if !seen[r] {
				seen[r] = true
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// at is the group's headline at a concurrency, nil where it has none.
func (g group) at(concurrency int) *headline {
	for i := range g.hs {
		if g.hs[i].Concurrency == concurrency {
			return &g.hs[i]
		}
	}
	return nil
}

// axisCells are the values that identify the group.
func (g group) axisCells(axes []Column) ([]Header, []Cell) {
	var cols []Column
	for _, c := range axes {
		if c.Name != "concurrency" {
			cols = append(cols, c)
		}
	}
	p := g.hs[0].Point
	p.Rows = g.rows()
	return p.axisCells(cols)
}

// repeats is how many repeats the group's means are made of.
func (g group) repeats() string {
	least, most := 0, 0
	for i, h := range g.hs {
		n := 0
		if h.interval != nil {
			n = h.interval.N
		}
		if i == 0 || n < least {
			least = n
		}
		most = max(most, n)
	}
	if least < most {
		return fmt.Sprintf("%d–%d", least, most)
	}
	return fmt.Sprint(most)
}

// pooled is a column of acceptance over all rows that are ok: the ratio of summed
// counts or, where a row has none, the mean. It is nil where sources differ, since
// their values do not compare.
func pooled(name string, rows []*result.Row) *float64 {
	l := lineOf(rows)
	if len(l.ok) == 0 || differ(column("accept_source"), l.ok) {
		return nil
	}
	return l.value(column(name))
}

// concurrencies is every concurrency of the headlines, ascending.
func concurrencies(hs []headline) []int {
	var all []int
	for _, h := range hs {
		all = append(all, h.Concurrency)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// overDatasets is the geometric mean of the lines' speedups in each repeat that
// every line has: the mean of these has the repeats' interval.
func overDatasets(ls []line) map[int]float64 {
	byRepeat := map[int][]float64{}
	for _, l := range ls {
		for _, r := range l.ok {
			if r.Speedup != nil {
				byRepeat[r.Repeat] = append(byRepeat[r.Repeat], *r.Speedup)
			}
		}
	}
	means := map[int]float64{}
	for repeat, vs := range byRepeat {
		if m := stat.GeoMean(vs); m != nil && len(vs) == len(ls) {
			means[repeat] = *m
		}
	}
	return means
}

// intervalOf is the geometric mean of repeats' ratios with its interval.
func intervalOf(means map[int]float64) *stat.Interval {
	var vs []float64
	for _, repeat := range slices.Sorted(maps.Keys(means)) {
		vs = append(vs, means[repeat])
	}
	return stat.GeoMeanInterval(vs)
}
