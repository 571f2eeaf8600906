package sglang_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/sglang"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// server is an SGLang server of which every answer is prescribed.
type server struct {
	version string
	average string   // avg_spec_accept_length as JSON, empty for none
	sticky  bool     // a flush does not take the average away
	ranks   string   // more keys of the info, as `"dp_size":2,`
	off     bool     // no speculation
	flush   []int    // status of each flush in turn, the last one stays; nil: no such route
	metrics []string // body of each scrape in turn; nil: no such route

	mu       sync.Mutex
	flushes  int
	scrapes  int
	zero     bool
	requests []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	switch {
	case r.URL.Path == "/server_info":
		state := `{"speculative_num_steps":3}`
		if s.average != "" && !s.zero {
			state = `{"speculative_num_steps":3,"avg_spec_accept_length":` + s.average + `}`
		}
		algorithm := `"EAGLE"`
		if s.off {
			algorithm = "null"
		}
		_, _ = io.WriteString(w, `{"version":"`+s.version+`",`+s.ranks+`"speculative_algorithm":`+algorithm+`,"internal_states":[`+state+`]}`)
	case r.URL.Path == "/flush_cache" && r.Method == http.MethodPost && s.flush != nil:
		status := s.flush[min(s.flushes, len(s.flush)-1)]
		s.flushes++
		s.zero = status == http.StatusOK && !s.sticky
		w.WriteHeader(status)
	case r.URL.Path == "/metrics" && s.metrics != nil:
		_, _ = io.WriteString(w, s.metrics[min(s.scrapes, len(s.metrics)-1)])
		s.scrapes++
	default:
		http.NotFound(w, r)
	}
}

// decoded makes the average come back, as decode steps do.
func (s *server) decoded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zero = false
}

func connect(t *testing.T, h http.Handler) *openai.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := openai.New(openai.Options{URL: s.URL, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// exposition is the three counters that are read.
func exposition(verify, generated, requests string) string {
	return "sglang:spec_verify_calls_total{model_name=\"m\"} " + verify + "\n" +
		"sglang:generation_tokens_total{is_streaming=\"true\"} " + generated + "\n" +
		"sglang:num_requests_total{is_streaming=\"true\"} " + requests + "\n"
}

const bare = `{"choices":[{"message":{"content":"x"}}]}`

func TestSources(t *testing.T) {
	t.Parallel()
	details := file(t, "chat_details.json")
	meta := `{"choices":[{"meta_info":{"spec_num_correct_drafts":6,"spec_num_proposed_drafts":12,"spec_verify_ct":4}}]}`
	counted := []string{exposition("100", "300", "10"), exposition("200", "520", "20")}
	tests := []struct {
		name    string
		server  server
		target  engine.Target
		answers []string
		extra   map[string]any // that the request gets
		source  specdec.Source
		length  float64
		rate    float64
		flushes int
		code    string // of a note on accept_length
		text    string // all that the notes on it say, in part
	}{
		{name: "answers tell", server: server{version: "0.5.23", average: "9.9"}, answers: []string{details, details},
			extra: map[string]any{"return_spec_tokens_details": true}, source: specdec.SourceRequest, length: 1 + 39.0/24, rate: 39.0 / 72},
		{name: "the version is no release", server: server{version: "0.0.0.dev1+g1234"}, answers: []string{details},
			extra: map[string]any{"return_spec_tokens_details": true}, source: specdec.SourceRequest, length: 1 + 39.0/24, rate: 39.0 / 72},
		{name: "answers tell in meta_info", server: server{version: "0.5.14"}, answers: []string{meta},
			extra: map[string]any{"return_meta_info": true}, source: specdec.SourceRequest, length: 2.5, rate: 0.5},
		{name: "some answers tell", server: server{version: "0.5.19"}, answers: []string{details, bare, bare},
			extra: map[string]any{"return_spec_tokens_details": true}, source: specdec.SourceRequest, length: 1 + 39.0/24, rate: 39.0 / 72,
			code: specdec.CodePartial, text: "2 of 3 answers carry no counts"},
		{name: "flushed by the sweep, and answers do not tell", server: server{version: "0.5.23", average: "2.5"}, target: engine.Target{Flushed: true, Shared: true},
			answers: []string{bare}, extra: map[string]any{"return_spec_tokens_details": true}, source: specdec.SourceCumulative, length: 2.5, rate: 0.5,
			code: specdec.CodeWeakerSource, text: "but avg_spec_accept_length is still there"},
		{name: "flushed by the sweep, which worked", server: server{version: "0.5.23", average: "2.5", zero: true}, target: engine.Target{Flushed: true, Shared: true},
			answers: []string{bare}, extra: map[string]any{"return_spec_tokens_details": true}, source: specdec.SourceFlush, length: 2.5, rate: 0.5,
			code: specdec.CodeWeakerSource, text: "none of 1 answers carries counts"},
		{name: "too old to be asked", server: server{version: "0.5.13", average: "2.5", flush: []int{200}},
			source: specdec.SourceFlush, length: 2.5, rate: 0.5, flushes: 1, code: specdec.CodeWeakerSource, text: "came with 0.5.14"},
		{name: "a baseline is flushed too", server: server{version: "0.5.13", off: true, flush: []int{200}},
			flushes: 1, code: specdec.CodeSpeculationOff, text: "runs without speculation"},
		{name: "a baseline that is asked", server: server{version: "0.5.23", off: true, flush: []int{200}, metrics: []string{"sglang:generation_tokens_total 5\n"}}, answers: []string{bare},
			extra: map[string]any{"return_spec_tokens_details": true}, code: specdec.CodeSpeculationOff, text: "runs without speculation"},
		{name: "busy for a while", server: server{version: "0.4.6.post5", average: "2.5", flush: []int{400, 400, 200}},
			source: specdec.SourceFlush, length: 2.5, rate: 0.5, flushes: 3, code: specdec.CodeWeakerSource, text: "0.4.6.post5"},
		{name: "busy for ever", server: server{version: "0.5.13", average: "2.5", flush: []int{400}, metrics: counted},
			source: specdec.SourceCounters, length: 2.1, rate: 1.1 / 3, flushes: 7, code: specdec.CodeWeakerSource, text: "the server stays busy"},
		{name: "a flush that does nothing", server: server{version: "0.5.13", average: "2.5", flush: []int{200}, sticky: true, metrics: counted},
			source: specdec.SourceCounters, length: 2.1, rate: 1.1 / 3, flushes: 1, code: specdec.CodeWeakerSource, text: "answered with success, but avg_spec_accept_length is still there"},
		{name: "several ranks are counted together", server: server{version: "0.5.13", average: "2.5", flush: []int{200}, ranks: `"dp_size":2,`, metrics: counted},
			source: specdec.SourceCounters, length: 2.1, rate: 1.1 / 3, flushes: 1, code: specdec.CodeWeakerSource, text: "1 of 2 ranks report"},
		{name: "answers do not tell, but counters do", server: server{version: "0.5.23", average: "9.9", flush: []int{200}, metrics: counted}, answers: []string{bare},
			extra: map[string]any{"return_spec_tokens_details": true}, source: specdec.SourceCounters, length: 2.1, rate: 1.1 / 3,
			code: specdec.CodeWeakerSource, text: "none of 1 answers carries counts"},
		{name: "started for the pass", server: server{version: "0.5.13", average: "2.5"}, target: engine.Target{Fresh: true},
			source: specdec.SourceRestart, length: 2.5, rate: 0.5, code: specdec.CodeWeakerSource, text: "start the server with --enable-metrics"},
		{name: "nothing else", server: server{version: "0.5.13", average: "2.5"}, target: engine.Target{Shared: true},
			source: specdec.SourceCumulative, length: 2.5, rate: 0.5, code: specdec.CodeContaminated, text: "POST"},
		{name: "cumulative says that warm-up is inside", server: server{version: "0.5.13", average: "2.5"},
			source: specdec.SourceCumulative, length: 2.5, rate: 0.5, code: specdec.CodeCumulative, text: "warm-up included"},
		{name: "flush alone is allowed", server: server{version: "0.5.23", average: "2.5", flush: []int{200}}, target: engine.Target{Sources: []specdec.Source{specdec.SourceFlush}},
			answers: []string{details}, source: specdec.SourceFlush, length: 2.5, rate: 0.5, flushes: 1},
		{name: "request alone is allowed, and fails", server: server{version: "0.5.23", average: "2.5", flush: []int{200}, metrics: counted},
			target: engine.Target{Sources: []specdec.Source{specdec.SourceRequest}}, answers: []string{bare},
			extra: map[string]any{"return_spec_tokens_details": true}, code: specdec.CodeNotReported, text: "none of 1 answers"},
		{name: "counters alone are allowed, and fell", server: server{version: "0.5.23", metrics: []string{counted[1], counted[0]}},
			target: engine.Target{Sources: []specdec.Source{specdec.SourceCounters}}, code: specdec.CodeCountersFell, text: "the server restarted"},
		{name: "counters alone are allowed, and did not move", server: server{version: "0.5.23", metrics: counted[:1]},
			target: engine.Target{Sources: []specdec.Source{specdec.SourceCounters}}, code: specdec.CodeNothingDrafted, text: "did not move"},
		{name: "counters contradict", server: server{version: "0.5.23", metrics: []string{exposition("0", "0", "0"), exposition("100", "50", "1")}},
			target: engine.Target{Sources: []specdec.Source{specdec.SourceCounters}}, code: specdec.CodeInconsistent, text: "every step yields a token"},
		{name: "counters of too old a version", server: server{version: "0.5.6", metrics: []string{"sglang:generation_tokens_total 5\n"}},
			target: engine.Target{Sources: []specdec.Source{specdec.SourceCounters}}, code: specdec.CodeNotReported, text: "came with SGLang 0.5.15"},
		{name: "a source of another engine", server: server{version: "0.5.23"}, target: engine.Target{Sources: []specdec.Source{"guess"}},
			code: specdec.CodeNotReported, text: "names no source"},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, &tt.server)
			e := sglang.Engine{Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
			p := e.Begin(t.Context(), c, tt.target)
			body := openai.Body{Model: "m"}
			p.Request(&body)
			if diff := cmp.Diff(tt.extra, body.Extra); diff != "" {
				t.Errorf("fields of the request (-want +got):\n%s", diff)
			}
			tt.server.decoded()
			for i, a := range tt.answers {
				p.Observe(&openai.Completion{Index: i, Body: []byte(a), CompletionTokens: ptr(64)})
			}
			s := p.End(t.Context())
			if s.Source != tt.source {
				t.Errorf("source %q, want %q", s.Source, tt.source)
			}
			var length, rate *float64
			if tt.length > 0 {
				length, rate = &tt.length, &tt.rate
			}
			if diff := cmp.Diff([]*float64{length, rate}, []*float64{s.AcceptLength, s.AcceptanceRate}, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("accept_length and acceptance_rate (-want +got):\n%s", diff)
			}
			if tt.server.flushes != tt.flushes {
				t.Errorf("flushed %d times, want %d", tt.server.flushes, tt.flushes)
			}
			checkNotes(t, s, tt.code, tt.text)
		})
	}
}

// checkNotes looks for a code and a text among the notes on accept_length; no code:
// there are none.
func checkNotes(t *testing.T, s specdec.Stats, code, text string) {
	t.Helper()
	var codes, texts []string
	for _, n := range s.Notes {
		for _, column := range n.Columns {
			if column == specdec.ColumnAcceptLength {
				codes, texts = append(codes, n.Code), append(texts, n.Text)
			}
		}
	}
	if code == "" && len(codes) > 0 || !strings.Contains(" "+strings.Join(codes, " ")+" ", " "+code+" ") && code != "" {
		t.Errorf("notes on accept_length have the codes %q, want %q", codes, code)
	}
	if !strings.Contains(strings.Join(texts, "\n"), text) {
		t.Errorf("notes on accept_length say %q, want %q", texts, text)
	}
}

func TestRequestTellsPositionsAndRequests(t *testing.T) {
	t.Parallel()
	p := sglang.Engine{}.Begin(t.Context(), connect(t, &server{version: "0.5.23"}), engine.Target{})
	p.Request(&openai.Body{})
	p.Observe(&openai.Completion{Index: 4, Body: []byte(file(t, "chat_details.json")), CompletionTokens: ptr(64)})
	p.Observe(&openai.Completion{Index: 5, Body: []byte(bare), CompletionTokens: ptr(1)}) // nothing to verify
	p.Observe(&openai.Completion{Index: 6, Err: io.ErrUnexpectedEOF})
	s := p.End(t.Context())
	if diff := cmp.Diff([]float64{19.0 / 24, 11.0 / 24, 9.0 / 24}, s.PerPosition, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("acceptance_per_position (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]specdec.Request{{Index: 4, Drafts: 24, DraftTokens: 72, Accepted: 39}}, s.Requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if s.TokensPerStep == nil || *s.TokensPerStep != 63.0/24 {
		t.Errorf("tokens_per_step %v, want 63 / 24", s.TokensPerStep)
	}
	if len(s.Notes) > 0 {
		t.Errorf("notes %+v, want none", s.Notes)
	}
}

// The plan's own field stays, even if it says no.
func TestThePlanHasItsOwnMind(t *testing.T) {
	t.Parallel()
	p := sglang.Engine{}.Begin(t.Context(), connect(t, &server{version: "0.5.23"}), engine.Target{})
	own := map[string]any{"return_spec_tokens_details": false}
	body := openai.Body{Extra: own}
	p.Request(&body)
	if diff := cmp.Diff(map[string]any{"return_spec_tokens_details": false}, body.Extra); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	shared := map[string]any{"x": 1}
	p.Request(&openai.Body{Extra: shared})
	if len(shared) != 1 {
		t.Errorf("the plan's map was written to: %v", shared)
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		flush []int
		err   string
		waits int
	}{
		{"idle", []int{200}, "", 0},
		{"busy for a while", []int{400, 200}, "", 1},
		{"busy for ever", []int{400}, "stays busy", 6},
		{"refused", []int{500}, "/flush_cache: HTTP 500", 0},
		{"no such route", nil, "HTTP 404", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			waits := 0
			e := sglang.Engine{Wait: func(context.Context, time.Duration) error { waits++; return nil }}
			err := e.Reset(t.Context(), connect(t, &server{flush: tt.flush}))
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if waits != tt.waits {
				t.Errorf("waited %d times, want %d", waits, tt.waits)
			}
		})
	}
}

func TestResetEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		cancel()
	}))
	if err := (sglang.Engine{}).Reset(ctx, c); err == nil {
		t.Error("no error after the context had ended")
	}
}

// The server's own count of tokens, and the share that its average covers, come
// beside the acceptance.
func TestGeneratedTokensAndCoverage(t *testing.T) {
	t.Parallel()
	h := &server{version: "0.5.13", average: "2.5", flush: []int{200}, metrics: []string{exposition("0", "100", "0"), exposition("5", "700", "1")}}
	p := sglang.Engine{}.Begin(t.Context(), connect(t, h), engine.Target{})
	p.Request(&openai.Body{})
	h.decoded()
	for range 1000 {
		p.Observe(&openai.Completion{CompletionTokens: ptr(51), Elapsed: time.Nanosecond, Body: []byte(bare)}) // one at a time, as far as that can be told
	}
	s := p.End(t.Context())
	if s.GeneratedTokens == nil || *s.GeneratedTokens != 600 {
		t.Errorf("generated tokens %v, want 600", s.GeneratedTokens)
	}
	want := 1 - 19.5/(1000*50/2.5)
	if diff := cmp.Diff(&want, s.Coverage, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

// Forced to the average as it stands, a pass is what the Python tools make of it:
// one GET after it.
func TestCumulativeAloneAsksOnce(t *testing.T) {
	t.Parallel()
	h := &server{version: "0.5.23", average: "2.5", flush: []int{200}, metrics: []string{exposition("0", "0", "0")}}
	p := sglang.Engine{}.Begin(t.Context(), connect(t, h), engine.Target{Sources: []specdec.Source{specdec.SourceCumulative}})
	p.Request(&openai.Body{})
	p.End(t.Context())
	if diff := cmp.Diff([]string{"GET /server_info"}, h.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
