//go:build !unix

package runner

import (
	"runtime/metrics"
	"time"
)

// cpuTime is the time that this process has used, as the Go runtime estimates it at
// each garbage collection: where there is none in a pass it shows no use. Negative:
// not known.
func cpuTime() time.Duration {
	samples := []metrics.Sample{{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() != metrics.KindFloat64 {
			return -1
		}
	}
	return time.Duration((samples[0].Value.Float64() - samples[1].Value.Float64()) * float64(time.Second))
}
