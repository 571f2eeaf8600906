package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Natural answer lengths, in tokens: a prompt's greedy answer has one length,
// whatever server gives it.
const (
	shortest = 32
	longest  = 288
)

// promptHash identifies a prompt by its messages.
func promptHash(messages []byte) [32]byte { return sha256.Sum256(messages) }

// naturalLength depends on the prompt alone, so that a drafter and its baseline
// give the same number of tokens.
func naturalLength(prompt [32]byte) int {
	return shortest + int(binary.LittleEndian.Uint64(prompt[:])%(longest-shortest+1))
}

// draws is the stream of a request's draws. It is made of the seed, the prompt
// and how often that prompt has come, so it does not depend on what else the
// server does at the same time.
func draws(seed uint64, prompt [32]byte, occurrence int) *rand.Rand {
	var key [48]byte
	copy(key[:], prompt[:])
	binary.LittleEndian.PutUint64(key[32:], seed)
	binary.LittleEndian.PutUint64(key[40:], uint64(occurrence))
	return rand.New(rand.NewChaCha8(sha256.Sum256(key[:])))
}

// accepted is how many draft tokens a verify step accepts: one draw against all
// marginal rates gives each position exactly its rate.
func accepted(r *rand.Rand, rates []float64) int {
	u := r.Float64()
	n := 0
	for n < len(rates) && u < rates[n] {
		n++
	}
	return n
}
