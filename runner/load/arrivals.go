package load

import (
	"math/rand/v2"
	"time"
)

// Schedule is the due times of n requests since a pass began, for
// Options.Arrivals: rate of them a second, the first at 0.
//
// Constant arrivals are 1/rate apart. Those of a Poisson process have exponential
// gaps of mean 1/rate, drawn from the seed alone (PCG), so that every server is
// offered the same. They are not rescaled: n drawn arrivals take about n/rate, with
// a relative spread of 1/√n. A rate that is not positive, or infinite, makes all due
// at once.
func Schedule(n int, rate float64, poisson bool, seed uint64) []time.Duration {
	due := make([]time.Duration, max(n, 0))
	if !(rate > 0) {
		return due
	}
	draws := rand.New(rand.NewPCG(seed, 0))
	at := 0.0 // seconds; float64 keeps microseconds over a century
	for i := range due {
		due[i] = time.Duration(at * float64(time.Second))
		if poisson {
			at += draws.ExpFloat64() / rate
		} else {
			at = float64(i+1) / rate // not a sum: its rounding would add up
		}
	}
	return due
}
