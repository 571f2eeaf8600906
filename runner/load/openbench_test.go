package load

import (
	"slices"
	"testing"
	"time"

	"github.com/specsweep/specsweep/runner/openai"
)

// BenchmarkLateness is how late requests go out in an open loop of 2,000 a second.
func BenchmarkLateness(b *testing.B) {
	const most = 1000
	c := clientAt(b, startBenchServer(b), openai.Options{MaxConns: most})
	list := benchBodies(b, 2000)
	arrivals := Schedule(len(list), 2000, true, 1)
	var late []time.Duration
	for b.Loop() {
		p, err := Run(b.Context(), c, list, Options{Concurrency: most, Arrivals: arrivals})
		if err != nil || p.Completed != len(list) {
			b.Fatalf("%d completed, %v", p.Completed, err)
		}
		for _, s := range p.Samples {
			late = append(late, s.Late)
		}
	}
	slices.Sort(late)
	b.ReportMetric(late[len(late)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(late[len(late)*99/100].Seconds()*1e3, "p99-ms")
}
