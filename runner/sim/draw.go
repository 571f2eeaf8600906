package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// draws is the stream of one request's draws. It is made of the seed, the prompt
// and how often that prompt has come, so it does not depend on what else the
// server does at the same time, and a repeat of the prompt draws anew.
func draws(seed uint64, prompt promptHash, occurrence uint64) *rand.Rand {
	key := binary.LittleEndian.AppendUint64(prompt[:], seed)
	key = binary.LittleEndian.AppendUint64(key, occurrence)
	return rand.New(rand.NewChaCha8(sha256.Sum256(key)))
}

// accepted is how many draft tokens a verify step accepts. One draw against all
// the rates gives each position exactly its marginal rate, because they do not
// increase.
func accepted(r *rand.Rand, rates []float64) int {
	u := r.Float64()
	n := 0
	for n < len(rates) && u < rates[n] {
		n++
	}
	return n
}
