package dataset

import (
	"context"
	"math"
	"math/bits"
)

// permutation is the order that numpy.random.default_rng(seed).permutation(n)
// gives the numbers below n, and with it the order of the Hugging Face datasets
// library's shuffle(seed): entry k is the row that comes k-th. It is Fisher and
// Yates' shuffle from the last place down.
//
// When ctx ends, so does it, with ctx's error.
func permutation(ctx context.Context, seed uint64, n int) ([]int, error) {
	g := newPCG64(seed)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		if i%(1<<20) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		j := g.upTo(uint64(i))
		order[i], order[j] = order[j], order[i]
	}
	return order, nil
}

// pcg64 is numpy's default generator: PCG XSL-RR 128/64 of O'Neill, "PCG: A Family
// of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number
// Generation" (2014). math/rand/v2 has a PCG of another output function.
type pcg64 struct {
	state, inc u128
	half       uint32 // the high half of the last word, while kept
	kept       bool
}

// pcgMultiplier is the 128-bit multiplier of the paper's reference code.
func pcgMultiplier() u128 { return u128{2549297995355413924, 4865540595714422341} }

// newPCG64 seeds the generator as numpy's PCG64(SeedSequence(seed)) does: the
// first two words are the state, the other two the stream.
func newPCG64(seed uint64) *pcg64 {
	words := seedWords(seed)
	g := &pcg64{inc: u128{words[2], words[3]}.doubled()}
	g.inc.lo |= 1
	g.step()
	g.state = g.state.plus(u128{words[0], words[1]})
	g.step()
	return g
}

func (g *pcg64) step() {
	g.state = g.state.times(pcgMultiplier()).plus(g.inc)
}

func (g *pcg64) uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.state.hi^g.state.lo, -int(g.state.hi>>58))
}

// uint32 gives the low half of a word, then its high half.
func (g *pcg64) uint32() uint32 {
	if g.kept {
		g.kept = false
		return g.half
	}
	word := g.uint64()
	g.half, g.kept = uint32(word>>32), true
	return uint32(word) //nolint:gosec // the low half is what is wanted
}

// upTo draws a number from 0 to limit: the bits that limit has, drawn again while
// they are more than limit.
func (g *pcg64) upTo(limit uint64) uint64 {
	mask := uint64(1)<<bits.Len64(limit) - 1
	for {
		var v uint64
		if limit <= math.MaxUint32 {
			v = uint64(g.uint32()) & mask
		} else {
			v = g.uint64() & mask
		}
		if v <= limit {
			return v
		}
	}
}

// u128 is an unsigned number of 128 bits, modulo 2^128.
type u128 struct{ hi, lo uint64 }

func (a u128) plus(b u128) u128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return u128{hi, lo}
}

func (a u128) times(b u128) u128 {
	hi, lo := bits.Mul64(a.lo, b.lo)
	return u128{hi + a.hi*b.lo + a.lo*b.hi, lo}
}

func (a u128) doubled() u128 { return a.plus(a) }
