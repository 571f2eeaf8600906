package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/specdec"
)

// bare is an engine that can nothing but observe; the others add one ability each.
type bare struct{ stats specdec.Stats }

func (bare) Name() string { return "bare" }
func (bare) Describe(context.Context, *openai.Client) (engine.Description, error) {
	return engine.Description{Version: "1"}, nil
}
func (b bare) Begin(context.Context, *openai.Client, engine.Target) engine.Probe {
	return probe(b)
}

type probe struct{ stats specdec.Stats }

func (probe) Request(*openai.Body)                {}
func (probe) Observe(*openai.Completion)          {}
func (p probe) End(context.Context) specdec.Stats { return p.stats }

type salting struct{ bare }

func (salting) Salt(b *openai.Body, salt string) { b.Extra["salt"] = salt }

// resetting empties the log's server's cache, or not.
type resetting struct {
	bare
	err error
	log *requestLog
}

func (r resetting) Reset(context.Context, *openai.Client) error {
	r.log.note("reset")
	return r.err
}

// counting knows of the hits that the log's server has had.
type counting struct {
	bare
	log *requestLog
}

func (c counting) CacheCounts(context.Context, *openai.Client) (engine.CacheCounts, error) {
	return c.log.counts(), nil
}

// requestLog is a server that notes what it is sent, in order, and has a cache of
// whole prompts of 10 tokens each.
type requestLog struct {
	mu     sync.Mutex
	events []string // "reset", or the salt and the prompt of a request
	seen   map[string]bool
	cache  engine.CacheCounts
	fail   int // so many requests get a 400 first
	text   string
}

func (l *requestLog) note(event string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event)
	l.seen = nil
}

func (l *requestLog) counts() engine.CacheCounts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cache
}

func (l *requestLog) chat(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Salt     string
		Messages []struct{ Content string }
	}
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || l.fail > 0 {
		l.fail--
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	prompt := body.Salt + " " + body.Messages[0].Content
	l.events = append(l.events, prompt)
	l.cache.Queried += 10
	if l.seen[prompt] {
		l.cache.Hits += 10
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[prompt] = true
	_, _ = fmt.Fprintf(w, `{"model":"m","choices":[{"message":{"content":"ok%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":40}}`, l.text)
}

func (l *requestLog) start(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", l.chat)
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`)) })
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// bareSweep carries out a plan whose only engine is e.
func bareSweep(t *testing.T, e engine.Engine, s *sink, text string) {
	t.Helper()
	if err := sweepWith(t.Context(), t, engine.NewRegistry(e), "engine: bare\n"+text, s); err != nil {
		t.Fatal(err)
	}
}

// pairOf is a plan of 3 prompts, one in flight, with a server and a baseline.
func pairOf(t *testing.T, server, baseline, more string) string {
	return fmt.Sprintf("baseline_server: %s\nservers: [{name: a, server: %s}]\nnum_prompts: 3\n"+
		"datasets: [{name: d, input_data: %s, prompt_column: prompt}]\n%s\n", baseline, server, promptsFile(t, 3), more)
}

// Each server is warmed up once a concurrency, with the first prompts going round,
// and nothing of it is counted.
func TestWarmup(t *testing.T) {
	for _, tc := range []struct {
		name, plan string
		want       int // requests on each side
	}{
		{"auto", "concurrency: [1, 2]\nrepeats: 2", 2 + 4 + 4*3},
		{"a number", "concurrency: [1, 2]\nwarmup_prompts: 5", 2*5 + 2*3},
		{"none", "concurrency: [1, 2]\nwarmup_prompts: 0", 2 * 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, baseline, s := &requestLog{}, &requestLog{}, &sink{}
			bareSweep(t, salting{}, s, pairOf(t, server.start(t), baseline.start(t), tc.plan))
			if len(server.events) != tc.want || len(baseline.events) != tc.want {
				t.Errorf("%d and %d requests, want %d each", len(server.events), len(baseline.events), tc.want)
			}
			for _, r := range s.rows {
				if *r.Completed != 3 || *r.OutputTokens != 120 || *r.BaselineCompleted != 3 {
					t.Errorf("row counts %d answers, %d tokens; want those of the pass alone", *r.Completed, *r.OutputTokens)
				}
			}
		})
	}
}

// What the warm-up sends, and that its failures are no failures of the run.
func TestWarmupGoesRound(t *testing.T) {
	log, s := &requestLog{fail: 1}, &sink{}
	bareSweep(t, bare{}, s, fmt.Sprintf("servers: [{name: a, server: %s}]\nnum_prompts: 2\nconcurrency: 1\nwarmup_prompts: 4\n"+
		"datasets: [{name: d, input_data: %s, prompt_column: prompt}]\n", log.start(t), promptsFile(t, 2)))
	want := []string{" question 1", " question 0", " question 1", " question 0", " question 1"}
	if diff := cmp.Diff(want, log.events); diff != "" {
		t.Errorf("after the first one, which failed (-want +got):\n%s", diff)
	}
	if r := s.rows[0]; !r.OK() || *r.Failed != 0 || *r.Completed != 2 {
		t.Errorf("failed %d, completed %d, error %q", *r.Failed, *r.Completed, r.Error)
	}
}

// Every pass and every warm-up has a salt of its own, the baseline's too.
func TestColdBySalt(t *testing.T) {
	server, baseline, s := &requestLog{}, &requestLog{}, &sink{}
	bareSweep(t, salting{}, s, pairOf(t, server.start(t), baseline.start(t), "concurrency: 1\nrepeats: 2\nwarmup_prompts: 3"))
	salts := map[string]int{}
	for _, event := range append(server.events, baseline.events...) {
		salt, _, _ := strings.Cut(event, " ")
		salts[salt]++
	}
	if len(salts) != 6 || salts[""] > 0 {
		t.Errorf("salts %v, want six of three requests each", salts)
	}
	for _, r := range s.rows {
		if text := r.Warnings.String(); strings.Contains(text, runner.CodePrefixCacheUnknown) {
			t.Errorf("warnings %s, want the passes cold", text)
		}
	}
}

// Without salts the cache is emptied before each pass, after the warm-up, on both
// sides alike; where that fails too, the row says so.
func TestColdByReset(t *testing.T) {
	for _, tc := range []struct {
		name    string
		engine  func(*requestLog) engine.Engine
		plan    string
		resets  int
		unknown string
	}{
		{"emptied", func(l *requestLog) engine.Engine { return resetting{log: l} }, "", 2, ""},
		{"refused", func(l *requestLog) engine.Engine { return resetting{log: l, err: errors.New("HTTP 400")} }, "", 2, "could not be emptied: HTTP 400"},
		{"nothing there", func(*requestLog) engine.Engine { return bare{} }, "", 0, "nothing is known"},
		{"as it is", func(l *requestLog) engine.Engine { return resetting{log: l} }, "prefix_cache: as_is", 0, ""},
		{"the plan's own salt", func(*requestLog) engine.Engine { return salting{} }, "extra_body: {salt: mine}", 0, "extra_body sets salt itself"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log, s := &requestLog{}, &sink{}
			url := log.start(t)
			bareSweep(t, tc.engine(log), s, pairOf(t, url, url, "concurrency: 1\nwarmup_prompts: 1\n"+tc.plan))
			resets := 0
			for i, event := range log.events {
				if event != "reset" {
					continue
				}
				resets++
				if i == 0 || !strings.HasSuffix(log.events[i-1], "question 0") {
					t.Errorf("%v: want the cache emptied right after the warm-up", log.events)
				}
			}
			if resets != tc.resets {
				t.Errorf("%d resets, want %d: %v", resets, tc.resets, log.events)
			}
			text := s.rows[0].Warnings.String()
			if tc.unknown == "" && strings.Contains(text, runner.CodePrefixCacheUnknown) || !strings.Contains(text, tc.unknown) {
				t.Errorf("warnings %s, want %q", text, tc.unknown)
			}
			if tc.unknown != "" && (strings.Count(text, runner.CodePrefixCacheUnknown) != 2 || !s.rows[0].Warnings.On("speedup")) {
				t.Errorf("warnings %s, want both passes marked", text)
			}
		})
	}
}

// T01: three concurrencies over one dataset on one server whose cache is left as it
// is. The second and third pass are the ones at risk.
func TestCaseT01SecondPassIsWarm(t *testing.T) {
	for _, tc := range []struct {
		name, plan string
		want       []bool
	}{
		{"as it is", "prefix_cache: as_is\nwarmup_prompts: 0", []bool{false, true, true}},
		{"kept apart", "warmup_prompts: 0", []bool{false, false, false}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log, s := &requestLog{}, &sink{}
			e := struct {
				counting
				engine.Salter
			}{counting{log: log}, salting{}}
			bareSweep(t, e, s, fmt.Sprintf("servers: [{name: a, server: %s}]\nnum_prompts: 8\nconcurrency: [1, 2, 4]\n"+
				"datasets: [{name: d, input_data: %s, prompt_column: prompt}]\n%s\n", log.start(t), promptsFile(t, 8), tc.plan))
			for i, r := range s.rows {
				text := r.Warnings.String()
				if got := strings.Contains(text, runner.CodePrefixCacheHits+": 100 %"); got != tc.want[i] {
					t.Errorf("row %d: warnings %s, want the mark: %v", i, text, tc.want[i])
				}
			}
		})
	}
}

// Counts of single answers come before the row, by prompt, and their spread is in it.
func TestRequests(t *testing.T) {
	e := bare{specdec.Stats{Source: specdec.SourceRequest, Requests: []specdec.Request{
		{Index: 2, Drafts: 10, Accepted: 30}, {Index: 0, Drafts: 10, DraftTokens: 30, Accepted: 10}, {Index: 1}, {Index: 7, Drafts: 1},
	}}}
	data := filepath.Join(t.TempDir(), "rows.jsonl")
	text := "{\"prompt\": \"a\", \"kind\": \"math\"}\n{\"prompt\": \"b\"}\n{\"prompt\": \"c\", \"kind\": \"chat\"}\n"
	if err := os.WriteFile(data, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	log, s := &requestLog{}, &sink{}
	bareSweep(t, e, s, fmt.Sprintf("servers: [{name: a, server: %s}]\nnum_prompts: 3\nconcurrency: 1\n"+
		"datasets: [{name: d, input_data: %s, prompt_column: prompt, category_column: kind}]\n", log.start(t), data))
	r := s.rows[0]
	if diff := cmp.Diff([]string{"requests " + r.RunID, "row " + r.RunID}, s.order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	hashes := map[string]bool{}
	for i := range s.requests {
		hashes[s.requests[i].PromptHash] = true
		s.requests[i].PromptHash = ""
	}
	if len(hashes) != 3 || hashes[""] {
		t.Errorf("hashes %v, want three", hashes)
	}
	want := []result.Request{
		{RunID: r.RunID, StartedAt: r.StartedAt, Prompt: 0, Category: "math", Drafts: 10, DraftTokens: new(int64(30)), Accepted: 10},
		{RunID: r.RunID, StartedAt: r.StartedAt, Prompt: 1},
		{RunID: r.RunID, StartedAt: r.StartedAt, Prompt: 2, Category: "chat", Drafts: 10, Accepted: 30},
	}
	if diff := cmp.Diff(want, s.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	categories := []result.Category{{Name: "chat", Requests: 1, Drafts: 10, Accepted: 30}, {Name: "math", Requests: 1, Drafts: 10, Accepted: 10}}
	if diff := cmp.Diff(categories, r.Categories); diff != "" {
		t.Errorf("categories (-want +got):\n%s", diff)
	}
	got := []float64{*r.AcceptLengthReqMean, *r.AcceptLengthReqP10, *r.AcceptLengthReqP50, *r.AcceptLengthReqP90}
	if diff := cmp.Diff("[2.33 1.20 2.00 3.60]", fmt.Sprintf("%.2f", got)); diff != "" {
		t.Errorf("mean and quantiles (-want +got):\n%s", diff)
	}
}

// strict makes an error of a run whose guards fire, and keeps its numbers.
func TestStrictSweep(t *testing.T) {
	for name, foreign := range map[string]bool{"alone": false, "with others": true} {
		t.Run(name, func(t *testing.T) {
			tokens := int64(120)
			if foreign {
				tokens = 200
			}
			server, baseline, s := &requestLog{text: "!"}, &requestLog{}, &sink{}
			// One request at a time leaves slots empty on a machine that is busy, so more
			// slots than prompts: that is no time to judge.
			bareSweep(t, struct {
				bare
				engine.Salter
			}{bare{specdec.Stats{GeneratedTokens: &tokens}}, salting{}}, s,
				pairOf(t, server.start(t), baseline.start(t), "concurrency: 3\nstrict: true"))
			r := s.rows[0]
			if r.OK() == foreign || foreign && !strings.Contains(r.Error, runner.CodeForeignTraffic) {
				t.Errorf("error %q, warnings %s", r.Error, r.Warnings)
			}
			if r.Speedup == nil || *r.OutputTokens != 120 || r.OutputMatch == nil || *r.OutputMatch != 0 {
				t.Errorf("speedup %v, tokens %d, output_match %v: want the numbers kept", r.Speedup, *r.OutputTokens, r.OutputMatch)
			}
		})
	}
}

// The plan's words for sources are specdec's.
func TestAcceptSourcesAreSpecdecs(t *testing.T) {
	want := []specdec.Source{specdec.SourceRequest, specdec.SourceFlush, specdec.SourceCounters, specdec.SourceRestart, specdec.SourceCumulative}
	var got []specdec.Source
	for _, name := range plan.AcceptSources() {
		got = append(got, specdec.Source(name))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
