package load

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// maxGaps is how many gaps between chunks a pass keeps, 40 MB of them; above it a
// uniform sample is kept, whose quantiles are as good.
const maxGaps = 5_000_000

// gapCount is what the slots share about gaps: how many there were. A slot adds to
// it once an answer.
type gapCount struct {
	total atomic.Int64
	limit int64
}

// level is how often the gaps have to be halved so that the limit holds.
func (g *gapCount) level() int {
	total, level := g.total.Load(), 0
	for total > g.limit<<level {
		level++
	}
	return level
}

// gaps is one slot's share. Each gap that the slot has seen is in it with
// probability 2^-level, whatever the other gaps are; so slots that were thinned to
// the same level make one uniform sample together, which slots with reservoirs of
// their own would not.
type gaps struct {
	kept  []time.Duration
	level int
	draws *rand.Rand // nil until something is dropped
}

func (g *gaps) add(more []time.Duration, all *gapCount) {
	if len(more) == 0 {
		return
	}
	all.total.Add(int64(len(more)))
	g.thin(all.level())
	if g.level == 0 {
		g.kept = append(g.kept, more...)
		return
	}
	for _, d := range more {
		if g.draws.Uint64()>>(64-g.level) == 0 {
			g.kept = append(g.kept, d)
		}
	}
}

// thin drops each gap with probability 1/2 a level.
func (g *gaps) thin(level int) {
	if g.draws == nil && level > 0 {
		g.draws = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	for ; g.level < level; g.level++ {
		kept := g.kept[:0]
		for _, d := range g.kept {
			if g.draws.Uint64()>>63 == 0 {
				kept = append(kept, d)
			}
		}
		g.kept = kept
	}
}
