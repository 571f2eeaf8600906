package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/specsweep/specsweep/runner/openai"
)

const (
	benchConcurrency = 32 // in flight in the throughput benchmarks
	benchRound       = 1000
)

// benchAnswer is an answer of the usual size: some 250 tokens of text.
var benchAnswer = []byte(strings.Replace(good, "ok", strings.Repeat("some words of an answer, ", 40), 1))

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

// BenchmarkPass is the ceiling of a pass: a server that answers at once, over a
// real socket.
func BenchmarkPass(b *testing.B) {
	c := clientAt(b, startBenchServer(b), openai.Options{MaxConns: benchConcurrency})
	list := benchBodies(b, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	if err := pass(b.Context(), c, list); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkBareLoop is the yardstick: what net/http and encoding/json alone
// reach for the same requests.
func BenchmarkBareLoop(b *testing.B) {
	url := startBenchServer(b)
	hc := bareClient(b)
	list := benchBodies(b, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	if err := bareLoop(b.Context(), hc, url, list); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkPassOverBareLoop alternates the two in short rounds, so that whatever
// else the machine does falls on both, and reports the ratio of their
// requests/s. Below 0.8, something stands on the hot path.
func BenchmarkPassOverBareLoop(b *testing.B) {
	url := startBenchServer(b)
	c, hc := clientAt(b, url, openai.Options{MaxConns: benchConcurrency}), bareClient(b)
	list := benchBodies(b, benchRound)
	var ours, bare time.Duration
	for b.Loop() {
		start := time.Now()
		if err := pass(b.Context(), c, list); err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		if err := bareLoop(b.Context(), hc, url, list); err != nil {
			b.Fatal(err)
		}
		ours, bare = ours+between.Sub(start), bare+time.Since(between)
	}
	b.ReportMetric(bare.Seconds()/ours.Seconds(), "pass/bare")
}

func pass(ctx context.Context, c Chatter, list [][]byte) error {
	p, err := Run(ctx, c, list, Options{Concurrency: benchConcurrency, Observe: func(*openai.Completion) {}})
	if err != nil {
		return err
	}
	if p.Completed != len(list) || p.OutputTokens != 8*int64(len(list)) {
		return fmt.Errorf("%d of %d completed, %d tokens: %v", p.Completed, len(list), p.OutputTokens, p.Failures)
	}
	return nil
}

func bareClient(b *testing.B) *http.Client {
	hc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchConcurrency, DisableCompression: true}}
	b.Cleanup(hc.CloseIdleConnections)
	return hc
}

func bareLoop(ctx context.Context, hc *http.Client, url string, list [][]byte) error {
	var next, tokens atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, benchConcurrency)
	for i := range errs {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(list) {
					return
				}
				got, err := bareRequest(ctx, hc, url, list[n])
				if err != nil {
					errs[i] = err
					return
				}
				tokens.Add(got)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if tokens.Load() != 8*int64(len(list)) {
		return fmt.Errorf("%d tokens for %d requests", tokens.Load(), len(list))
	}
	return nil
}

func bareRequest(ctx context.Context, hc *http.Client, url string, body []byte) (tokens int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := hc.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	var answer struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
		}
		Usage struct {
			CompletionTokens int64 `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, err
	}
	return answer.Usage.CompletionTokens, nil
}

// BenchmarkMemoryAt1000 is what the client's process holds while 1,000 requests
// are in flight: heap and stacks, garbage that is not collected yet included.
func BenchmarkMemoryAt1000(b *testing.B) { benchMemory(b, 1000, 100_000_000) }

// BenchmarkMemoryAt10000 is the same for 10,000. Client and server each need a file
// for every connection: `ulimit -Hn` must be above 10,100.
func BenchmarkMemoryAt10000(b *testing.B) { benchMemory(b, 10_000, 600_000_000) }

func benchMemory(b *testing.B, concurrency int, limit uint64) {
	url, full, release := startHoldingServer(b, concurrency)
	list := benchBodies(b, concurrency)
	c := clientAt(b, url, openai.Options{MaxConns: concurrency})
	var most uint64
	for b.Loop() {
		runtime.GC() // what earlier rounds left is not this one's
		measured := make(chan error, 1)
		go func() {
			_, err := full.ReadString('\n')
			most = max(most, inUse())
			_, werr := io.WriteString(release, "go\n")
			measured <- errors.Join(err, werr)
		}()
		p, err := Run(b.Context(), c, list, Options{Concurrency: concurrency, AbortAfter: 1})
		if err != nil {
			b.Fatalf("%d of %d completed: %v, %v", p.Completed, concurrency, err, p.Failures)
		}
		if err := <-measured; err != nil || p.Completed != concurrency {
			b.Fatalf("%d of %d completed: %v", p.Completed, concurrency, err)
		}
	}
	b.ReportMetric(float64(most), fmt.Sprintf("B-at-%d", concurrency))
	if most > limit {
		b.Errorf("%d bytes at %d in flight, want below %d", most, concurrency, limit)
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
