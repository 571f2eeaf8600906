package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/openai"
)

// BenchmarkTruth holds what a pass says against what the server knows, whose
// answers take 10 to 200 ms each: the throughput over the same requests, and the
// quantiles of the latencies. It reports by how much they differ, in the worst turn and, of the
// quantiles, in the middle one.
func BenchmarkTruth(b *testing.B) {
	for _, concurrency := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("in-flight-%d", concurrency), func(b *testing.B) { truth(b, concurrency) })
	}
}

func truth(b *testing.B, concurrency int) {
	root := startServer(b)
	j := job{Client: "specsweep", Concurrency: concurrency}
	bodies, err := j.bodies(max(requests(b, 60), 20*concurrency))
	if err != nil {
		b.Fatal(err)
	}
	c, err := openai.New(openai.Options{URL: root + "/" + known, MaxConns: concurrency})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	// The runner warms a server up before it measures, and so are the connections here.
	if _, err := load.Run(b.Context(), c, bodies[:concurrency], load.Options{Concurrency: concurrency}); err != nil {
		b.Fatal(err)
	}
	var rate float64
	var quantiles []float64
	for seed := 1; b.Loop(); seed++ {
		get(b, fmt.Sprintf("%s/known?seed=%d", root, seed))
		p, err := load.Run(b.Context(), c, bodies, load.Options{Concurrency: concurrency})
		if err != nil || p.Completed != len(bodies) {
			b.Fatalf("%d of %d completed: %v %v", p.Completed, len(bodies), p.Failures, err)
		}
		var server stats
		if err := json.Unmarshal(get(b, root+"/stats"), &server); err != nil {
			b.Fatal(err)
		}
		if server.Requests != len(bodies) {
			b.Fatalf("the server answered %d of %d", server.Requests, len(bodies))
		}
		rate = max(rate, 100*math.Abs(server.Wall.Seconds()/p.Wall.Seconds()-1))
		quantiles = append(quantiles, worstQuantile(latencies(p), server.Times))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(rate, "%-off-throughput")
	slices.Sort(quantiles)
	b.ReportMetric(quantiles[len(quantiles)-1], "of-what-quantiles-may-be-off")
	b.ReportMetric(quantiles[len(quantiles)/2], "median-of-what-quantiles-may-be-off")
}

func latencies(p load.Pass) []time.Duration {
	list := make([]time.Duration, len(p.Samples))
	for i, s := range p.Samples {
		list[i] = s.Done
	}
	slices.Sort(list)
	return list
}

// worstQuantile is the largest difference of p50, p90 and p99 of two sorted lists
// of one length, as a part of what is allowed: 1 ms or 1 %, whichever is more.
func worstQuantile(ours, theirs []time.Duration) (worst float64) {
	for _, q := range []float64{0.5, 0.9, 0.99} {
		i := int(q * float64(len(ours)-1))
		allowed := max(time.Millisecond, theirs[i]/100)
		worst = max(worst, float64((ours[i]-theirs[i]).Abs())/float64(allowed))
	}
	return worst
}
