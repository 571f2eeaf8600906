package plan

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestGoodPlans(t *testing.T) {
	want := map[string]int{
		"minimal": 1, "full": 36, "merge": 2, "freeform": 1, "config": 3, "variables": 1, "overlap": 5, "hub": 4, "suite": 4,
		"for": 8, "thresholds": 4, "latency": 6, "guarded": 1,
	}
	files, err := filepath.Glob(filepath.Join("testdata", "good", "*.yaml"))
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files for %d rows: %v", len(files), len(want), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			p, err := Load(file, options())
			if err != nil {
				t.Fatal(err)
			}
			if got := len(p.Expand()); got != want[name] {
				t.Errorf("Expand() has %d runs, want %d", got, want[name])
			}
		})
	}
}

func TestLoadFillsEverything(t *testing.T) {
	path := filepath.Join("testdata", "good", "full.yaml")
	got, err := Load(path, options())
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	const proxy = "socks5://me:pw@proxy:1080"
	key := filepath.Join(dir, "key.txt")
	base := &Endpoint{
		URL: "https://base.example:8443", Engine: "sglang", Model: "org/other", Labels: map[string]string{"role": "base"},
		Headers: map[string]string{"X-Base": "1"}, APIKeyEnv: "BASE_KEY", AcceptSources: []string{"cumulative"},
		TLS:       &TLS{CAFile: key, CertFile: key, KeyFile: key, InsecureSkipVerify: true},
		Proxy:     proxy,
		ExtraBody: map[string]any{"seed": int64(2), "nested": map[string]any{"a": int64(1), "b": int64(2)}},
		Launch: &Launch{
			Command: []string{"serve", "--port", "{port}"}, RawCommand: []string{"serve", "--port", "{port}"},
			ReadyTimeout: 900 * time.Second, Restart: RestartNever,
		},
	}
	labels := func(tp string) map[string]string {
		return map[string]string{"gpu": "1xH100", "tp": tp, "spec": "true", "day": "2026-01-02", "ratio": "1.50"}
	}
	want := &Plan{
		Path: path, Dir: dir, Source: src, Name: "full.plan-1_a", Description: "every key\nthere is\n", Labels: labels("1"),
		Servers: []Server{
			{Name: "launched", Endpoint: Endpoint{
				URL: "http://127.0.0.1:{port}", Engine: "sglang", Model: "org/own", Labels: labels("2"),
				Headers:   map[string]string{"x-team": "b", "Authorization": "Bearer t0ken"},
				APIKeyEnv: "OWN_KEY", AcceptSources: []string{"flush", "request"}, ExtraBody: map[string]any{"seed": int64(1), "nested": map[string]any{"c": int64(3)}}, NumSteps: new(5),
				Launch: &Launch{
					Command:      []string{"serve", "--port", "{port}", "--model", "org/drafter"},
					RawCommand:   []string{"serve", "--port", "{port}", "--model", "${DRAFTER}"},
					Env:          map[string]string{"CUDA_VISIBLE_DEVICES": "0", "a.B": "org/drafter"},
					ReadyTimeout: 500 * time.Millisecond, Restart: RestartPerRun,
				},
			}},
			{Name: "läuft, schon", Baseline: base, Endpoint: Endpoint{
				URL: "http://user@[::1]:8000/sub", Engine: "vllm", Model: "org/model", Labels: labels("1"),
				Headers: map[string]string{"X-Team": "a", "Authorization": "Bearer t0ken"},
				Proxy:   proxy, APIKeyFile: key, AcceptSources: []string{"counters", "flush"}, NumSteps: new(3),
				ExtraBody: map[string]any{"seed": int64(1), "nested": map[string]any{"a": int64(1), "b": int64(2)}},
			}},
		},
		Datasets: []Dataset{
			{
				Name: "chat", InputData: filepath.Join(dir, "prompts.jsonl"), Split: "train[:10]", MessagesColumn: "turns", Turns: TurnsFirst,
				MaxNewTokens: new(64), NumPrompts: &NumPrompts{N: 2, PerSlot: true}, ExtraBody: map[string]any{"seed": int64(3)},
			},
			{Name: "q", InputData: dir, Split: "train", PromptColumn: "q", PromptContextColumn: "c", Turns: TurnsFirst},
		},
		Axes: Axes{
			Concurrency: []int{1, 8}, MaxNewTokens: []int{128, 256}, Temperature: []float64{0, 0.7},
			NumPrompts: []NumPrompts{{N: 32}, {N: 10, PerSlot: true}}, RequestRate: []float64{2.5},
		},
		Zip:     []string{"temperature", "concurrency"},
		Exclude: []Match{{Line: 60, Servers: []string{"launched"}, Concurrency: []int{8}}},
		Include: []Match{{
			Line: 62, Servers: []string{"launched"}, Datasets: []string{"chat", "q"}, Concurrency: []int{16},
			Temperature: []float64{1}, NumPrompts: []NumPrompts{{N: 4}},
		}},
		TopP: 0.95, TopK: new(-1), Repeats: 2, Order: OrderByServer,
		Timeout: 1500 * time.Millisecond, MaxRetries: 0, ServerWait: 0,
		WarmupPrompts: new(8), PrefixCache: PrefixCacheAsIs, Strict: true,
		Stream: true, SLO: SLO{TTFTMs: new(200.0), TPOTMs: new(12.5), E2EMs: new(3000.0)}, Arrivals: ArrivalsConstant, Seed: 7,
		SaveRequests: true, SaveOutputs: true, AbortAfterFailures: 10, MaxRunDuration: time.Minute, MaxSweepDuration: 3600500 * time.Millisecond,
		Thresholds: []Threshold{
			{Line: 86, Metric: "speedup", Min: new(1.0), Max: new(3.5)},
			{Line: 87, Metric: "accept_length", Min: new(-1.0), Where: Where{
				Match: Match{
					Line: 87, Servers: []string{"launched"}, Datasets: []string{"chat", "q"}, Concurrency: []int{16}, RequestRate: []float64{2.5},
				},
				Labels: map[string][]string{"tp": {"2", "4"}, "gpu": {"1xH100"}},
			}},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Plan{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	p := parse(t, head+oneServer+oneDataset)
	got := Plan{Axes: p.Axes, TopP: p.TopP, TopK: p.TopK, Repeats: p.Repeats, Order: p.Order, Timeout: p.Timeout, MaxRetries: p.MaxRetries, ServerWait: p.ServerWait}
	want := Plan{
		Axes: Axes{Concurrency: []int{16}, MaxNewTokens: []int{256}, Temperature: []float64{0}, NumPrompts: []NumPrompts{{N: 64}}, RequestRate: []float64{math.Inf(1)}},
		TopP: 1, Repeats: 1, Order: OrderByBlock, Timeout: 600 * time.Second, MaxRetries: 3, ServerWait: 600 * time.Second,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Plan{})); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if p.WarmupPrompts != nil || p.Warmup(16) != 32 || p.PrefixCache != PrefixCacheCold || p.Strict || p.Servers[0].AcceptSources != nil {
		t.Errorf("warm-up %d, prefix_cache %s, strict %v, accept_sources %v", p.Warmup(16), p.PrefixCache, p.Strict, p.Servers[0].AcceptSources)
	}
	if p.Stream || p.SLO.Any() || p.Arrivals != ArrivalsPoisson || p.Seed != 0 || p.SaveRequests || p.SaveOutputs {
		t.Errorf("stream %v, slo %v, arrivals %s, seed %d, save_requests %v", p.Stream, p.SLO, p.Arrivals, p.Seed, p.SaveRequests)
	}
	if p.Thresholds != nil || p.MinEffect != 0.01 || p.AbortAfterFailures != 0 || p.MaxRunDuration != 0 || p.MaxSweepDuration != 0 {
		t.Errorf("thresholds %v, min_effect %v, abort_after_failures %d", p.Thresholds, p.MinEffect, p.AbortAfterFailures)
	}
	if d := p.Datasets[0]; d.Split != "train" || d.MessagesColumn != "messages" || d.PromptColumn != "" {
		t.Errorf("dataset %+v", d)
	}
	if s := p.Servers[0]; s.Baseline != nil || s.Launch != nil || s.NumSteps != nil || s.Model != "" {
		t.Errorf("server %+v", s)
	}
}

func TestLoadNamesAFileThatIsNotThere(t *testing.T) {
	_, err := Load(filepath.Join("testdata", "nosuch.yaml"), options())
	if err == nil || !strings.Contains(err.Error(), "nosuch.yaml") || !strings.Contains(err.Error(), "reading the plan") {
		t.Errorf("Load() = %v", err)
	}
}

func TestProblem(t *testing.T) {
	for _, tt := range []struct {
		problem Problem
		want    string
	}{
		{Problem{"p.yaml", 3, "servers[0].server", "required"}, "p.yaml:3: servers[0].server: required"},
		{Problem{"p.yaml", 0, "", "empty"}, "p.yaml: empty"},
		{Problem{"", 0, "repeats", "too few"}, "repeats: too few"},
	} {
		if got := tt.problem.Error(); got != tt.want {
			t.Errorf("Error() = %q, want %q", got, tt.want)
		}
	}
	var one Problem
	if err := fmt.Errorf("loading: %w", Problems{{Line: 1}, {Line: 2}}); !asProblem(err, &one) || one.Line != 1 {
		t.Errorf("errors.As finds %+v", one)
	}
}
