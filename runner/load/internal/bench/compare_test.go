package bench

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
)

const (
	inFlight = 64
	warmUp   = 500
)

// rival is one client of a comparison. Its command runs on the clients' core.
type rival struct {
	name    string
	command func(root string) *exec.Cmd
	read    func([]byte) (outcome, error)
}

// requests scales a turn's requests, which are meant for a turn of some two
// seconds, by SPECSWEEP_BENCH_SCALE.
func requests(tb testing.TB, n int) int {
	text := os.Getenv("SPECSWEEP_BENCH_SCALE")
	if text == "" {
		return n
	}
	scale, err := strconv.ParseFloat(text, 64)
	if err != nil {
		tb.Fatalf("SPECSWEEP_BENCH_SCALE: %v", err)
	}
	return max(int(float64(n)*scale), inFlight)
}

func ownRival(tb testing.TB, name, manner string, n int) rival {
	return rival{name, func(root string) *exec.Cmd {
		return job{
			Client: name, URL: root + "/" + manner, Stream: manner != plain,
			Concurrency: inFlight, WarmUp: warmUp, Requests: requests(tb, n),
		}.command(tb)
	}, readOutcome}
}

// compare gives every rival a turn in each round, so that whatever else the
// machine does falls on all, and reports medians: each one's rate times each, in
// units of unit, its processor time a request, and the median over the rounds of
// specsweep's, who is first, against each other's.
func compare(b *testing.B, rivals []rival, each float64, unit string) {
	root := startServer(b)
	rates, cpus := make([][]float64, len(rivals)), make([][]float64, len(rivals))
	for b.Loop() {
		for i, r := range rivals {
			got := turn(b, root, r.command(root), r.read)
			rates[i], cpus[i] = append(rates[i], got.rate), append(cpus[i], got.cpu)
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, r := range rivals {
		b.ReportMetric(median(rates[i])*each, r.name+"-"+unit)
		b.ReportMetric(median(cpus[i]), r.name+"-µs-cpu")
		if i > 0 {
			b.ReportMetric(median(ratios(rates[0], rates[i])), "x-"+r.name)
			b.ReportMetric(median(ratios(cpus[0], cpus[i])), "cpu-of-"+r.name)
		}
	}
}

func ratios(a, b []float64) []float64 {
	list := make([]float64, len(a))
	for i := range a {
		list[i] = a[i] / b[i]
	}
	return list
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

// BenchmarkPlain is answers in one piece.
func BenchmarkPlain(b *testing.B) {
	rivals := []rival{ownRival(b, "specsweep", plain, 40_000), ownRival(b, "bare", plain, 40_000)}
	rivals = append(rivals, others(b, plain)...)
	compare(b, rivals, 1, "requests/s")
}

// BenchmarkCoalesced is streams of a server that is ahead of its sockets.
func BenchmarkCoalesced(b *testing.B) {
	rivals := []rival{
		ownRival(b, "specsweep", coalesced, 12_000),
		ownRival(b, "lines", coalesced, 6_000),
		ownRival(b, "raw", coalesced, 12_000),
	}
	rivals = append(rivals, others(b, coalesced)...)
	compare(b, rivals, streamEvents, "events/s")
}

// BenchmarkFlushed is streams with a write for each event.
func BenchmarkFlushed(b *testing.B) {
	rivals := []rival{ownRival(b, "specsweep", flushed, 5_000), ownRival(b, "raw", flushed, 5_000)}
	rivals = append(rivals, others(b, flushed)...)
	compare(b, rivals, streamEvents, "events/s")
}

// BenchmarkVLLM is `vllm bench serve` on the same streams as BenchmarkCoalesced; its
// start alone takes longer than all the others' turns.
func BenchmarkVLLM(b *testing.B) {
	tool := os.Getenv(vllmEnv)
	if tool == "" {
		b.Fatalf("vllm is missing: set %s", vllmEnv)
	}
	compare(b, []rival{ownRival(b, "specsweep", coalesced, 12_000), vllm(b, tool, coalesced)}, streamEvents, "events/s")
}
