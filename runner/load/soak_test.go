package load

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"github.com/specsweep/specsweep/runner/faulttest"
	"github.com/specsweep/specsweep/runner/openai"
)

// soak is how many requests TestSoak sends; docs/reliability.md was made with 1,000,000.
var soak = flag.Int("soak", 5000, "requests of TestSoak")

// soakBatch is the requests of one pass of the soak.
const soakBatch = 500

// soakKinds are faults whose counts are exact on kept connections too; a reset before an
// answer is not, since the client cannot tell it from the close of an idle connection.
func soakKinds() []faulttest.Kind {
	return []faulttest.Kind{
		faulttest.HalfBody, faulttest.Garbage, faulttest.TooMany, faulttest.ServerError,
		faulttest.BadRequest, faulttest.StreamCut,
	}
}

// TestSoak sends many requests, 1 % of which break: every count is exact, memory stays
// flat and no goroutine is left.
func TestSoak(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	h := faulttest.New(goodServer(), faulttest.Options{Share: 0.01, Kinds: soakKinds(), Seed: 3})
	s := httptest.NewServer(h)
	c := client(t, s, openai.Options{MaxRetries: 1, MaxConns: 32, Timeout: patience})
	body, err := openai.Body{Model: "m", MaxTokens: 8, TopP: 1, Stream: true}.Encode(json.RawMessage(`[{"role":"user","content":"hi"}]`))
	if err != nil {
		t.Fatal(err)
	}
	list := make([][]byte, soakBatch)
	for i := range list {
		list[i] = body
	}
	var sum Pass
	heap := map[int]uint64{} // bytes in use by percent of the way
	for sent := 0; sent < *soak; {
		n := min(soakBatch, *soak-sent)
		p, err := Run(t.Context(), c, list[:n], Options{Concurrency: 32})
		if err != nil {
			t.Fatal(err)
		}
		sum.Completed += p.Completed
		sum.Failed += p.Failed
		sum.Retries += p.Retries
		sum.OutputTokens += p.OutputTokens
		for _, percent := range []int{10, 50, 100} {
			if mark := *soak * percent / 100; sent < mark && sent+n >= mark {
				heap[percent] = heapInUse()
			}
		}
		sent += n
	}
	faults := 0
	for _, n := range h.Counts() {
		faults += n
	}
	switch final := h.Counts()[faulttest.BadRequest]; {
	case sum.Completed+sum.Failed != *soak, int64(*soak+sum.Retries) != h.Requests(), sum.Retries+sum.Failed != faults, sum.Failed < final, sum.OutputTokens != int64(8*sum.Completed):
		t.Errorf("of %d: %d completed, %d failed, %d retries; the server had %d requests and broke %d", *soak, sum.Completed, sum.Failed, sum.Retries, h.Requests(), faults)
	}
	// What a pass keeps is gone with it: 4 MB is the noise of the collector and of the pools.
	if grown := int64(heap[100]) - int64(heap[10]); grown > 4<<20 {
		t.Errorf("the heap has grown by %d bytes between 10 %% and 100 %% of the way", grown)
	}
	c.Close()
	s.Close()
	if err := goleak.Find(ignore); err != nil {
		t.Error(err)
	}
	if os.Getenv(tableEnv) != "" {
		fmt.Fprintf(t.Output(), "| requests | faults | completed | failed | retries | heap at 10 %% | at 50 %% | at 100 %% | goroutines left |\n"+
			"| %d | %d | %d | %d | %d | %.1f MB | %.1f MB | %.1f MB | 0 |\n", *soak, faults, sum.Completed, sum.Failed, sum.Retries,
			float64(heap[10])/1e6, float64(heap[50])/1e6, float64(heap[100])/1e6)
	}
}

// heapInUse is the bytes of the heap that are in use.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // what the first one only marked in the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
