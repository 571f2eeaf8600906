package sglang

import "time"

// batchSteps estimates how many decode steps the batch took for the answers of a
// pass:
//
//	Σ (tokens - 1) / accept_length  steps of single requests, the first token of an answer being the prefill's
//	÷ mean requests in flight       which share a step: Σ request times / wall clock
//
// Foreign traffic, waiting and prefill are in the request times, so this is an
// estimate only. It is zero when anything of it is not known.
func batchSteps(tokens int64, answers int, acceptLength float64, busy, wall time.Duration) float64 {
	decoded := float64(tokens - int64(answers))
	if decoded <= 0 || acceptLength < 1 || busy <= 0 || wall <= 0 {
		return 0
	}
	inFlight := max(1, busy.Seconds()/wall.Seconds())
	return decoded / acceptLength / inFlight
}

// coverage estimates the share of so many decode steps that the server's average
// covers. Its sums are brought up to date every interval steps, so 0 to interval-1
// of the last ones are missing. The steps are not known exactly enough to tell
// how many, so it is the mean of these. Since there is an average, there was at
// least one whole interval. nil: not known.
func coverage(steps float64, interval int) *float64 {
	if steps <= 0 || interval < 1 {
		return nil
	}
	steps = max(steps, float64(interval))
	share := 1 - float64(interval-1)/2/steps
	return &share
}
