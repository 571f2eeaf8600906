package bench

import (
	"encoding/json"
	"testing"
	"time"
)

// Every client gets the whole of every answer, or says that it did not.
func TestClients(t *testing.T) {
	root := startServer(t)
	for _, tt := range []struct {
		client, manner string
		stream, fails  bool
	}{
		{"specsweep", plain, false, false},
		{"bare", plain, false, false},
		{"specsweep", known, false, false},
		{"specsweep", coalesced, true, false},
		{"lines", coalesced, true, false},
		{"raw", coalesced, true, false},
		{"specsweep", flushed, true, false},
		{"raw", flushed, true, false},
		{"specsweep", plain, true, true},
		{"lines", plain, true, true},
		{"raw", plain, true, true},
		{"bare", "nowhere", false, true},
	} {
		t.Run(tt.client+" "+tt.manner, func(t *testing.T) {
			const n = 10
			j := job{Client: tt.client, URL: root + "/" + tt.manner, Stream: tt.stream, Concurrency: 4}
			do, stop, err := j.doer()
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			bodies, err := j.bodies(n)
			if err != nil {
				t.Fatal(err)
			}
			before := count(t, root)
			if err := do(t.Context(), bodies); (err != nil) != tt.fails {
				t.Fatalf("error %v, want one: %v", err, tt.fails)
			}
			if got := count(t, root) - before; !tt.fails && got != n {
				t.Errorf("the server answered %d, want %d", got, n)
			}
		})
	}
}

// The record is of the requests since it began, and its times are possible ones.
func TestRecord(t *testing.T) {
	root := startServer(t)
	j := job{Client: "specsweep", URL: root + "/" + known, Concurrency: 3}
	do, stop, err := j.doer()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	bodies, err := j.bodies(6)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		get(t, root+"/known?seed=7")
		start := time.Now()
		if err := do(t.Context(), bodies); err != nil {
			t.Fatal(err)
		}
		wall := time.Since(start)
		var got stats
		if err := json.Unmarshal(get(t, root+"/stats"), &got); err != nil {
			t.Fatal(err)
		}
		if got.Requests != 6 || got.Times[0] < shortest || got.Wall < got.Times[5] || got.Wall > wall {
			t.Errorf("stats = %+v over %v", got, wall)
		}
	}
}

func TestWorstQuantile(t *testing.T) {
	ms := time.Millisecond
	for _, tt := range []struct {
		name         string
		ours, theirs []time.Duration
		want         float64
	}{
		{"the same", []time.Duration{10 * ms, 20 * ms}, []time.Duration{10 * ms, 20 * ms}, 0},
		{"half a millisecond", []time.Duration{10*ms + ms/2}, []time.Duration{10 * ms}, 0.5},
		{"one percent", []time.Duration{202 * ms}, []time.Duration{200 * ms}, 1},
		{"too short by two", []time.Duration{196 * ms}, []time.Duration{200 * ms}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := worstQuantile(tt.ours, tt.theirs); got != tt.want {
				t.Errorf("worstQuantile() = %v, want %v", got, tt.want)
			}
		})
	}
}
