package runner

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/specsweep/specsweep/runner/result"
)

// CodeClientBottleneck says that specsweep itself was too slow for the pass.
const CodeClientBottleneck = "client_bottleneck"

// Above these the client cannot be trusted to have sent and read in time. A pass that
// is shorter than judgedFrom says little of either: one collection weighs too much.
const (
	clientCPULimit     = 0.80 // of what it may use
	clientSchedLimitMs = 5.0  // 99th percentile
	judgedFrom         = time.Second
)

// clientState is what this process has used so far. Histograms count since its start.
type clientState struct {
	at     time.Time
	cpu    time.Duration // user and system time; negative: not known
	procs  int           // CPUs that it may use: GOMAXPROCS, which follows the container's limit
	sched  *metrics.Float64Histogram
	pauses *metrics.Float64Histogram // of garbage collection
}

// clientUse is what it used during a pass; nil: not known.
type clientUse struct {
	wall       time.Duration
	cpuShare   *float64 // 0 to 1
	schedP99Ms *float64 // that goroutines waited for a CPU
	gcPauseMs  *float64 // sum
}

const (
	metricSched  = "/sched/latencies:seconds"
	metricPauses = "/sched/pauses/total/gc:seconds"
)

// readClient reads the state of this process.
func readClient() clientState {
	samples := []metrics.Sample{{Name: metricSched}, {Name: metricPauses}}
	metrics.Read(samples)
	return clientState{
		at: time.Now(), cpu: cpuTime(), procs: runtime.GOMAXPROCS(0),
		sched: histogramOf(samples[0].Value), pauses: histogramOf(samples[1].Value),
	}
}

func histogramOf(v metrics.Value) *metrics.Float64Histogram {
	if v.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return v.Float64Histogram()
}

// clientBetween is what was used between two states.
func clientBetween(a, b clientState) clientUse {
	use := clientUse{wall: b.at.Sub(a.at)}
	if may := use.wall.Seconds() * float64(b.procs); a.cpu >= 0 && b.cpu >= a.cpu && may > 0 {
		// Both clocks tick coarsely: a short pass may seem to use more than there is.
		use.cpuShare = ptr(min((b.cpu-a.cpu).Seconds()/may, 1))
	}
	if counts := since(a.sched, b.sched); counts != nil {
		use.schedP99Ms = bucketQuantile(counts, b.sched.Buckets, 0.99)
	}
	if counts := since(a.pauses, b.pauses); counts != nil {
		use.gcPauseMs = ptr(bucketSum(counts, b.pauses.Buckets))
	}
	return use
}

// since is the counts of b that came after a; nil when they cannot be compared.
func since(a, b *metrics.Float64Histogram) []uint64 {
	if a == nil || b == nil || !slices.Equal(a.Buckets, b.Buckets) {
		return nil
	}
	out := make([]uint64, len(b.Counts))
	for i := range out {
		out[i] = b.Counts[i] - a.Counts[i]
	}
	return out
}

// bucketQuantile is the upper bound of the bucket that holds the quantile, in ms: what
// it is at most. It is nil without a count.
func bucketQuantile(counts []uint64, bounds []float64, q float64) *float64 {
	total := uint64(0)
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return nil
	}
	rank, sum := uint64(math.Ceil(q*float64(total))), uint64(0)
	for i, n := range counts {
		if sum += n; sum >= rank {
			return ptr(1000 * upper(bounds, i))
		}
	}
	return nil
}

// bucketSum is Σ of the counts times the middles of their buckets, in ms: exact to half
// the width of a bucket.
func bucketSum(counts []uint64, bounds []float64) float64 {
	sum := 0.0
	for i, n := range counts {
		if n > 0 {
			sum += float64(n) * (max(bounds[i], 0) + upper(bounds, i)) / 2
		}
	}
	return 1000 * sum
}

// upper is the upper bound of a bucket; the last one has only a lower.
func upper(bounds []float64, i int) float64 {
	if math.IsInf(bounds[i+1], 1) {
		return bounds[i]
	}
	return bounds[i+1]
}

// fillClient puts in what the client used during the server's pass.
func fillClient(row *result.Row, p *pass) {
	row.ClientCPUShare, row.ClientSchedP99Ms, row.ClientGCPauseMs = p.client.cpuShare, p.client.schedP99Ms, p.client.gcPauseMs
	var missing []string
	for _, c := range []struct {
		v    *float64
		name string
	}{{row.ClientCPUShare, "client_cpu_share"}, {row.ClientSchedP99Ms, "client_sched_p99_ms"}, {row.ClientGCPauseMs, "client_gc_pause_ms"}} {
		if c.v == nil {
			missing = append(missing, c.name)
		}
	}
	if len(missing) > 0 {
		warn(row, CodeNotReported, "the client's own use was not measured", missing...)
	}
}

// guardClient doubts what a client measured that was short of CPU itself.
func (s *sweep) guardClient(row *result.Row, p *pass, at side, prefix string) {
	use := &p.client
	if use.wall < judgedFrom {
		return
	}
	var reasons []string
	if v := use.cpuShare; v != nil && *v > clientCPULimit {
		reasons = append(reasons, fmt.Sprintf("it used %.0f %% of the CPU time that it may use", 100**v))
	}
	if v := use.schedP99Ms; v != nil && *v > clientSchedLimitMs {
		reasons = append(reasons, fmt.Sprintf("its goroutines waited up to %.1f ms for a CPU (99th percentile)", *v))
	}
	if len(reasons) == 0 {
		return
	}
	warn(row, CodeClientBottleneck, at.who+"specsweep itself was too slow: "+strings.Join(reasons, ", ")+"; give it more CPU",
		slices.Concat(at.columns, s.latencyColumns(prefix))...)
}
