package load

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/specsweep/specsweep/runner/openai"
)

// benchConcurrency is the in-flight limit of the throughput benchmarks.
const benchConcurrency = 32

// benchAnswer is an answer of the usual size: some 250 tokens of text.
var benchAnswer = []byte(strings.Replace(good, "ok", strings.Repeat("some words of an answer, ", 40), 1))

func benchServer(b *testing.B) *httptest.Server {
	return server(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(benchAnswer)
	})
}

func benchBodies(b *testing.B, n int) [][]byte {
	messages := json.RawMessage(`[{"role":"user","content":"` + strings.Repeat("a question of some length ", 20) + `"}]`)
	body, err := openai.Body{Model: "toy-target", MaxTokens: 256, TopP: 1}.Encode(messages)
	if err != nil {
		b.Fatal(err)
	}
	list := make([][]byte, n)
	for i := range list {
		list[i] = body
	}
	return list
}

// BenchmarkPass is the ceiling of a pass: a server that answers at once. Compare
// its requests/s with BenchmarkBareLoop's of the same run; below 0.8 of it,
// something stands on the hot path.
func BenchmarkPass(b *testing.B) {
	c := client(b, benchServer(b), openai.Options{MaxConns: benchConcurrency})
	list := benchBodies(b, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	p, err := Run(b.Context(), c, list, Options{Concurrency: benchConcurrency, Observe: func(*openai.Completion) {}})
	if err != nil || p.Completed != b.N || p.OutputTokens != 8*int64(b.N) {
		b.Fatalf("Run() = %+v, %v", p, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkBareLoop is the yardstick: what net/http and encoding/json alone
// reach for the same requests.
func BenchmarkBareLoop(b *testing.B) {
	s := benchServer(b)
	hc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchConcurrency, DisableCompression: true}}
	b.Cleanup(hc.CloseIdleConnections)
	list := benchBodies(b, b.N)
	var next, tokens atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range benchConcurrency {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(list) {
					return
				}
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.URL+"/v1/chat/completions", bytes.NewReader(list[n]))
				if err != nil {
					b.Error(err)
					return
				}
				req.Header.Set("Content-Type", "application/json")
				resp, err := hc.Do(req)
				if err != nil {
					b.Error(err)
					return
				}
				text, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil {
					b.Error(err)
					return
				}
				var answer struct {
					Choices []struct {
						FinishReason string `json:"finish_reason"`
					}
					Usage struct {
						CompletionTokens int64 `json:"completion_tokens"`
					}
				}
				if err := json.Unmarshal(text, &answer); err != nil || len(answer.Choices) == 0 {
					b.Errorf("%+v, %v", answer, err)
					return
				}
				tokens.Add(answer.Usage.CompletionTokens)
			}
		})
	}
	wg.Wait()
	if tokens.Load() != 8*int64(b.N) {
		b.Fatalf("%d tokens", tokens.Load())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkMemoryAt1000 is what a pass holds while 1,000 requests are in flight,
// the server's side of the connections included, as it runs in the same process.
func BenchmarkMemoryAt1000(b *testing.B) {
	const concurrency, limit = 1000, 100 << 20
	list := benchBodies(b, concurrency)
	var most uint64
	for b.Loop() {
		var arrived atomic.Int64
		open := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if arrived.Add(1) == concurrency {
				most = max(most, inUse())
				close(open)
			}
			<-open
			_, _ = w.Write(benchAnswer)
		}))
		c := client(b, s, openai.Options{MaxConns: concurrency})
		p, err := Run(b.Context(), c, list, Options{Concurrency: concurrency})
		if err != nil || p.Completed != concurrency {
			b.Fatalf("Run() = %+v, %v", p, err)
		}
		most = max(most, inUse())
		c.Close()
		s.Close()
	}
	b.ReportMetric(float64(most), "B-at-1000-in-flight")
	if most > limit {
		b.Errorf("%d MB at 1,000 in flight, want below %d", most>>20, limit>>20)
	}
}

// inUse is the memory of heap objects, dead ones not yet collected included, and
// of goroutines' stacks.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
