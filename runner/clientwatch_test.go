package runner

import (
	"math"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/result"
)

// clientStates is a pass of 10 s on two CPUs that uses so much of them, with 100
// goroutines that waited 1 to 2 ms and so many that waited longer.
func clientStates(cpu time.Duration, long uint64) (a, b clientState) {
	bounds := []float64{math.Inf(-1), 0.001, 0.002, 0.004, 0.008, math.Inf(1)}
	before, after := []uint64{5, 7, 9, 0, 3}, []uint64{5, 107, 9, long, 3}
	at := time.Unix(0, 0)
	h := func(counts []uint64) *metrics.Float64Histogram {
		return &metrics.Float64Histogram{Counts: counts, Buckets: bounds}
	}
	return clientState{at: at, cpu: time.Second, procs: 2, sched: h(before), pauses: h(before)},
		clientState{at: at.Add(10 * time.Second), cpu: time.Second + cpu, procs: 2, sched: h(after), pauses: h(after)}
}

func TestClientBetween(t *testing.T) {
	a, b := clientStates(5*time.Second, 2)
	got := clientBetween(a, b)
	want := clientUse{10 * time.Second, ptr(0.25), ptr(8.0), ptr(100*1.5 + 2*6)}
	if diff := cmp.Diff(want, got, near, cmp.AllowUnexported(clientUse{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.sched, b.cpu, b.pauses = nil, -1, &metrics.Float64Histogram{}
	got = clientBetween(a, b)
	if diff := cmp.Diff(clientUse{wall: 10 * time.Second}, got, cmp.AllowUnexported(clientUse{})); diff != "" {
		t.Errorf("not known (-want +got):\n%s", diff)
	}
	if got := clientBetween(a, a); got.schedP99Ms != nil || got.cpuShare != nil {
		t.Errorf("of no time: %+v, want nothing", got)
	}
}

// What the runtime really tells can be read, and grows with work.
func TestReadClient(t *testing.T) {
	a := readClient()
	for b := readClient(); b.cpu <= a.cpu; b = readClient() {
		if b.at.Sub(a.at) > 10*time.Second {
			t.Fatal("10 s of work show no CPU time")
		}
	}
	b := readClient()
	use := clientBetween(a, b)
	if use.cpuShare == nil || *use.cpuShare <= 0 || *use.cpuShare > 1 {
		t.Errorf("CPU share %v", use.cpuShare)
	}
	if since(a.sched, b.sched) == nil || since(a.pauses, b.pauses) == nil {
		t.Error("the runtime has no such histograms")
	}
}

func TestGuardClient(t *testing.T) {
	for _, tc := range []struct {
		name string
		cpu  time.Duration
		long uint64
		wall time.Duration
		want string // empty: silent
	}{
		{"idle", time.Second, 0, 10 * time.Second, ""},
		{"busy enough", 16 * time.Second, 1, 10 * time.Second, ""},
		{"out of CPU", 17 * time.Second, 0, 10 * time.Second, "85 % of the CPU time"},
		{"waiting for CPUs", time.Second, 2, 10 * time.Second, "waited up to 8.0 ms"},
		{"too short to say", 17 * time.Second, 2, 900 * time.Millisecond, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := clientStates(tc.cpu, tc.long)
			use := clientBetween(a, b)
			use.wall = tc.wall
			for _, onBase := range []bool{false, true} {
				g := newGuarded()
				g.s.Plan = &plan.Plan{Stream: true}
				p, column := g.p, "ttft_p50_ms"
				if onBase {
					p, column = g.base, "baseline_ttft_p50_ms"
				}
				p.client = use
				row := g.row()
				i := slices.IndexFunc(row.Warnings, func(w result.Warning) bool { return w.Code == CodeClientBottleneck })
				if i < 0 || tc.want == "" {
					if i >= 0 || tc.want != "" {
						t.Errorf("warnings: %s, want %q", row.Warnings, tc.want)
					}
					continue
				}
				w := row.Warnings[i]
				if !strings.Contains(w.Text, tc.want) || strings.HasPrefix(w.Text, "baseline: ") != onBase ||
					!slices.Contains(w.Columns, column) || !slices.Contains(w.Columns, "speedup") {
					t.Errorf("warning %+v, want %q on speedup and %s", w, tc.want, column)
				}
				if beStrict(&row); !strings.Contains(row.Error, CodeClientBottleneck) {
					t.Errorf("strict: %q", row.Error)
				}
			}
		})
	}
}
