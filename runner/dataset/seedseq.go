package dataset

// The constants of numpy's SeedSequence, which is O'Neill's seed_seq_fe128 with
// its hash constants (numpy NEP 19; pcg-random.org, "Developing a seed_seq
// Alternative").
const (
	seedInitA    uint32 = 0x43b0d7e5
	seedMultA    uint32 = 0x931e8875
	seedInitB    uint32 = 0x8b51f9dd
	seedMultB    uint32 = 0x58f38ded
	seedMixLeft  uint32 = 0xca01f9dd
	seedMixRight uint32 = 0x4973f715
)

// seedWords is numpy's SeedSequence(seed).generate_state(4, uint64).
func seedWords(seed uint64) [4]uint64 {
	var pool [4]uint32
	h := seedHash{constant: seedInitA, multiplier: seedMultA}
	for i, word := range [4]uint32{uint32(seed), uint32(seed >> 32)} { //nolint:gosec // the low half is what is wanted
		pool[i] = h.next(word)
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				pool[to] = seedMix(pool[to], h.next(pool[from]))
			}
		}
	}
	out := seedHash{constant: seedInitB, multiplier: seedMultB}
	var words [4]uint64
	for i := range words {
		low := out.next(pool[2*i%4])
		high := out.next(pool[(2*i+1)%4])
		words[i] = uint64(high)<<32 | uint64(low)
	}
	return words
}

// seedHash scrambles words, each with another constant.
type seedHash struct{ constant, multiplier uint32 }

func (h *seedHash) next(v uint32) uint32 {
	v ^= h.constant
	h.constant *= h.multiplier
	v *= h.constant
	return v ^ v>>16
}

func seedMix(a, b uint32) uint32 {
	v := seedMixLeft*a - seedMixRight*b
	return v ^ v>>16
}
