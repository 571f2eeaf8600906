package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/specsweep/specsweep/runner/result"
)

// BenchmarkMerge1000 merges 1,000 run-sets of 40 rows into a run-set, without the tables. The
// memory is the heap that is in use while the merged rows are held.
func BenchmarkMerge1000(b *testing.B) {
	const sets, each = 1000, 40
	parent := b.TempDir()
	writeShardSets(b, parent, sets, each)
	for b.Loop() {
		mergeOnce(b, parent)
	}
}

func mergeOnce(b *testing.B, parent string) {
	b.Helper()
	dirs, err := result.ShardDirs(parent)
	if err != nil {
		b.Fatal(err)
	}
	m, err := result.Merge(b.Context(), dirs)
	if err != nil {
		b.Fatal(err)
	}
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	b.ReportMetric(float64(heap.HeapInuse)/1e6, "heap-MB")
	set, err := result.CreateAt(filepath.Join(b.TempDir(), fmt.Sprint(time.Now().UnixNano())))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := m.Write(b.Context(), set); err != nil {
		b.Fatal(err)
	}
	if len(m.Rows) != m.Manifest.Runs || len(m.Manifest.Missing) > 0 {
		b.Fatalf("%d of %d rows", len(m.Rows), m.Manifest.Runs)
	}
}

func writeShardSets(tb testing.TB, parent string, sets, each int) {
	tb.Helper()
	whole := &result.Whole{RunsSHA256: "all", Runs: sets * each}
	for i := range sets {
		whole.Servers = append(whole.Servers, result.WholeServer{Server: fmt.Sprintf("ckpt-%d", i), Shard: i + 1, Runs: each})
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range sets {
		// Plain writes: syncing a thousand folders takes longer than what is measured.
		dir := filepath.Join(parent, fmt.Sprintf("shard-%d", i+1))
		if err := os.Mkdir(dir, 0o750); err != nil {
			tb.Fatal(err)
		}
		m := result.Manifest{
			SchemaVersion: result.SchemaVersion,
			Plan:          "p", Status: result.StatusFinished, StartedAt: start, Runs: each, Cells: map[string]json.RawMessage{},
			Shard: &result.Shard{Index: i + 1, Of: sets}, Whole: whole,
		}
		var lines []byte
		for j := range each {
			r := shardRow(i, j, each, start)
			m.RunIDs = append(m.RunIDs, r.RunID)
			m.Cells[r.CellID] = json.RawMessage(fmt.Sprintf(`{"server":%q,"dataset":{"name":"d","split":"train"},"concurrency":%d}`, r.Server, j+1))
			lines = append(append(lines, marshalled(tb, r)...), '\n')
		}
		if err := os.WriteFile(filepath.Join(dir, result.RowsFile), lines, 0o600); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, result.ManifestFile), marshalled(tb, m), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// shardRow is a row with about as many columns filled as a real one has.
func shardRow(shard, n, each int, start time.Time) result.Row {
	count, tokens, share, tok := 64, int64(16384), 0.75, 1234.5678901234+float64(n)
	id := fmt.Sprintf("%05x%05x", shard, n)
	return result.Row{
		SchemaVersion: result.SchemaVersion, Plan: "p", RunIndex: shard*each + n, CellID: id, RunID: id + "-r0",
		Server: fmt.Sprintf("ckpt-%d", shard), Engine: "sglang", Model: "meta-llama/Llama-3.1-8B-Instruct", Dataset: "d",
		Concurrency: n + 1, MaxNewTokens: 512, Labels: map[string]string{"step": fmt.Sprint(shard * 100), "gpu": "1xH100"},
		PromptsAsked: count, NumPrompts: &count, Completed: &count, OutputTokens: &tokens, OutputThroughputTokS: &tok,
		AcceptLength: &tok, AcceptanceRate: &share, AcceptSource: "counters", NumDrafts: &tokens, NumDraftTokens: &tokens,
		NumAcceptedTokens: &tokens, PerPosition: result.Floats{0.8, 0.6, 0.4}, BaselineThroughputTokS: &tok, Speedup: &tok,
		BaselineEngine: "sglang", BaselineCompleted: &count, BaselineOutputTokens: &tokens, PromptTokens: &tokens, MeanInFlight: &tok,
		E2ELatencyMeanMs: &tok, E2ELatencyP50Ms: &tok, E2ELatencyP90Ms: &tok, E2ELatencyP99Ms: &tok, OutputMatch: &share, PromptSet: "0123456789",
		Warnings:  result.Warnings{{Code: "few_prompts", Columns: []string{"output_throughput_tok_s", "speedup"}, Text: "64 prompts for concurrency 16"}},
		StartedAt: start.Add(time.Duration(n) * time.Minute), ToolVersion: "v1.0.0", ServerVersion: "0.5.13", BaselineVersion: "0.5.13",
	}
}

func marshalled(tb testing.TB, v any) []byte {
	tb.Helper()
	line, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return line
}
