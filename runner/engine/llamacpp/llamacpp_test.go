package llamacpp_test

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/llamacpp"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

func ptr[T any](v T) *T { return &v }

func file(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// server is a scripted llama-server: /metrics gives one scrape after the other.
type server struct {
	status  int // of /metrics; 0: 200
	scrapes []string
	slots   string // empty: 501
	props   string
}

func (s server) start(t *testing.T) *openai.Client {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/metrics" && s.status != 0:
			w.WriteHeader(s.status)
			_, _ = io.WriteString(w, `{"error":{"code":501,"message":"This server does not support metrics endpoint.","type":"not_supported_error"}}`)
		case r.URL.Path == "/metrics" && len(s.scrapes) > 0:
			_, _ = io.WriteString(w, s.scrapes[0])
			s.scrapes = s.scrapes[1:]
		case r.URL.Path == "/slots" && s.slots != "":
			_, _ = io.WriteString(w, s.slots)
		case r.URL.Path == "/props" && s.props != "":
			_, _ = io.WriteString(w, s.props)
		default:
			w.WriteHeader(http.StatusNotImplemented)
		}
	}))
	t.Cleanup(h.Close)
	c, err := openai.New(openai.Options{URL: h.URL, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// pass runs a probe with those answers.
func (s server) pass(t *testing.T, target engine.Target, answers ...string) specdec.Stats {
	t.Helper()
	p := llamacpp.Engine{}.Begin(t.Context(), s.start(t), target)
	p.Observe(&openai.Completion{Err: errors.New("cut"), Body: []byte(`{"timings":{"predicted_n":1000,"draft_n":1000}}`)})
	for i, a := range answers {
		p.Observe(&openai.Completion{Index: i, Body: []byte(a)})
	}
	return p.End(t.Context())
}

// want is what a pass should say; numbers are nil where it cannot.
type want struct {
	source                              specdec.Source
	length, rate, perStep               *float64
	drafts, tokens, accepted, generated *int64
	positions                           []float64
	code, text                          string // of the Note on accept_length
	stepText                            string // of the Note on tokens_per_step
}

func (w want) check(t *testing.T, s specdec.Stats) {
	t.Helper()
	type numbers struct {
		Source                              specdec.Source
		Length, Rate, PerStep               *float64
		Drafts, Tokens, Accepted, Generated *int64
		Positions                           []float64
	}
	close := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(
		numbers{w.source, w.length, w.rate, w.perStep, w.drafts, w.tokens, w.accepted, w.generated, w.positions},
		numbers{s.Source, s.AcceptLength, s.AcceptanceRate, s.TokensPerStep, s.NumDrafts, s.NumDraftTokens, s.NumAcceptedTokens, s.GeneratedTokens, s.PerPosition},
		close); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	if n, ok := s.Reason("accept_length"); n.Code != w.code || !strings.Contains(n.Text, w.text) {
		t.Errorf("note on accept_length: %+v %v, want %q with %q", n, ok, w.code, w.text)
	}
	n, ok := s.Reason("tokens_per_step")
	if ok != (s.TokensPerStep == nil) || !strings.Contains(n.Text, w.stepText) {
		t.Errorf("note on tokens_per_step: %+v %v, want %q", n, ok, w.stepText)
	}
}

// counted is a pass by counters.
func counted(drafts, tokens, accepted, predicted int64, perPos ...int64) want {
	w := want{
		source: "counters", length: ptr(1 + float64(accepted)/float64(drafts)), rate: ptr(float64(accepted) / float64(tokens)),
		perStep: ptr(float64(predicted) / float64(predicted-accepted)),
		drafts:  &drafts, tokens: &tokens, accepted: &accepted, generated: &predicted,
	}
	for _, n := range perPos {
		w.positions = append(w.positions, float64(n)/float64(drafts))
	}
	return w
}

// TestCapturedScrapes takes differences over scrapes of a real llama-server.
func TestCapturedScrapes(t *testing.T) {
	t.Parallel()
	off := want{perStep: ptr(1.0), generated: ptr[int64](467), code: specdec.CodeSpeculationOff, text: "GET /slots"}
	tests := []struct {
		name, before, after, slots string
		want                       want
	}{
		{"acceptance forced to .8 .6 .4 .2", "synth_metrics_before", "synth_metrics_after", "", counted(137, 524, 253, 399, 102, 81, 49, 21)},
		{"from then on", "synth_metrics_after", "synth_metrics_final", "", counted(224, 880, 512, 768, 208, 160, 112, 32)},
		{"the model drafts for itself", "draftqa_metrics_before", "draftqa_metrics_final", "", counted(243, 918, 900, 1169, 240, 225, 218, 217)},
		{"n-gram", "ngram_simple_metrics_after", "ngram_simple_metrics_final", "", counted(78, 536, 366, 768, 64, 60, 54, 51, 40, 36, 31, 30)},
		{"without speculation", "base_metrics_before", "base_metrics_after", "base_slots.json", off},
		{"nothing drafted, slots hidden", "base_metrics_before", "base_metrics_after", "",
			want{source: "counters", perStep: ptr(1.0), drafts: ptr[int64](0), tokens: ptr[int64](0), accepted: ptr[int64](0), generated: ptr[int64](467),
				code: specdec.CodeNothingDrafted}},
		{"nothing drafted by a drafter", "base_metrics_before", "base_metrics_after", "synth_slots.json",
			want{source: "counters", perStep: ptr(1.0), drafts: ptr[int64](0), tokens: ptr[int64](0), accepted: ptr[int64](0), generated: ptr[int64](467),
				code: specdec.CodeNothingDrafted}},
		{"restarted", "synth_metrics_final", "synth_metrics_after", "",
			want{code: specdec.CodeCountersFell, text: "the server restarted", stepText: "the server restarted"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := server{scrapes: []string{file(t, tt.before+".txt"), file(t, tt.after+".txt")}}
			if tt.slots != "" {
				s.slots = file(t, tt.slots)
			}
			tt.want.check(t, s.pass(t, engine.Target{}, file(t, "synth_chat.json")))
		})
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	before, after := file(t, "synth_metrics_before.txt"), file(t, "synth_metrics_after.txt")
	both := []string{before, after}
	answer := file(t, "synth_chat.json") // 64 predicted, 91 drafted, 39 accepted
	byRequest := func(text string) want {
		return want{source: "request", rate: ptr(39.0 / 91), perStep: ptr(64.0 / 25), tokens: ptr[int64](91), accepted: ptr[int64](39),
			code: specdec.CodeNotReported, text: text}
	}
	nothing := func(code, text string) want { return want{code: code, text: text, stepText: text} }
	only := func(s ...specdec.Source) engine.Target { return engine.Target{Sources: s} }
	tests := []struct {
		name    string
		target  engine.Target
		server  server
		answers []string
		want    want
	}{
		{"counters first", only(), server{scrapes: both}, []string{answer}, counted(137, 524, 253, 399, 102, 81, 49, 21)},
		{"no --metrics", only(), server{status: 501}, []string{answer}, byRequest("start llama-server with --metrics")},
		{"no route", only(), server{status: 404}, []string{answer}, byRequest("start llama-server with --metrics")},
		{"busy", only(), server{status: 503}, []string{answer}, byRequest("HTTP 503")},
		{"a build that counts no drafts", only(), server{scrapes: []string{"llamacpp:tokens_predicted_total 1\n", "llamacpp:tokens_predicted_total 5\n"}}, []string{answer},
			byRequest("llamacpp:spec_decode_num_drafts_total is not there")},
		{"request asked for", only("request"), server{scrapes: both}, []string{answer}, byRequest("the answers do not tell the number of drafts")},
		{"counters asked for, which are off", only("counters"), server{status: 501}, []string{answer}, nothing(specdec.CodeUnreachable, "start llama-server with --metrics")},
		{"neither", only("flush"), server{scrapes: both}, []string{answer}, nothing(specdec.CodeNotReported, "accept_sources leaves none")},
		{"answers without timings", only(), server{status: 501}, []string{"{}"}, nothing(specdec.CodeUnreachable, "no timings either")},
		{"request asked for, without timings", only("request"), server{scrapes: both}, []string{`{"timings":{"predicted_n":-1}}`}, nothing(specdec.CodeUnreachable, "the answers carry no timings")},
		{"more accepted than drafted", only(), server{status: 501}, []string{`{"timings":{"predicted_n":9,"draft_n":3,"draft_n_accepted":4}}`},
			nothing(specdec.CodeUnreachable, "no timings either")},
		{"answers without drafts", only(), server{status: 501, slots: file(t, "synth_slots.json")}, []string{file(t, "base_chat.json")},
			want{source: "request", perStep: ptr(1.0), drafts: ptr[int64](0), tokens: ptr[int64](0), accepted: ptr[int64](0), code: specdec.CodeNothingDrafted}},
		{"answers of a server without a drafter", only(), server{status: 501, slots: file(t, "base_slots.json")}, []string{file(t, "base_chat.json")},
			want{perStep: ptr(1.0), code: specdec.CodeSpeculationOff}},
		{"not a count", only("counters"), server{scrapes: []string{before, strings.Replace(after, " 137", " NaN", 1)}}, nil, nothing(specdec.CodeUnreachable, "NaN is not a count")},
		{"two servers put together", only("counters"), server{scrapes: []string{before, after + "llamacpp:spec_decode_num_drafts_total{a=\"b\"} 1\n"}}, nil,
			nothing(specdec.CodeUnreachable, "2 label sets")},
		{"a position is missing", only("counters"), server{scrapes: []string{before, strings.Replace(after, `"2"`, `"7"`, 1)}}, nil, nothing(specdec.CodeUnreachable, `position "7" among 4`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, tt.server.pass(t, tt.target, tt.answers...))
		})
	}
}

func TestAnswersWithoutTimingsAreDoubted(t *testing.T) {
	t.Parallel()
	s := server{status: 501}.pass(t, engine.Target{}, file(t, "synth_chat.json"), "{}")
	if n, ok := s.Reason("acceptance_rate"); !ok || !strings.Contains(n.Text, "1 of 2 answers carry no timings") {
		t.Errorf("notes: %+v", s.Notes)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	s := server{props: file(t, "synth_props.json"), slots: file(t, "synth_slots.json")}
	d, err := llamacpp.Engine{}.Describe(t.Context(), s.start(t))
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Description{Version: "b0-unknown", Spec: map[string]string{
		"model_path": "/models/gemma-3-270m-q4_k_m.gguf", "model_ftype": "Q4_K - Medium", "total_slots": "2",
		"speculative": "true", "speculative.types": "none,draft-simple",
	}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("description (-want +got):\n%s", diff)
	}
	if _, err := (llamacpp.Engine{}).Describe(t.Context(), (server{props: "<html>"}).start(t)); err == nil || !strings.Contains(err.Error(), "/props: not the JSON of a llama-server") {
		t.Errorf("error %v", err)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	shared := map[string]any{"a": 1}
	b := openai.Body{Extra: shared}
	llamacpp.Engine{}.Salt(&b, "x")
	if diff := cmp.Diff(map[string]any{"a": 1, "cache_prompt": false}, b.Extra); diff != "" || len(shared) != 1 {
		t.Errorf("extra fields (-want +got):\n%s\nthose of the plan: %v", diff, shared)
	}
	n, err := llamacpp.Engine{}.CacheCounts(t.Context(), server{scrapes: []string{file(t, "synth_metrics_after.txt")}}.start(t))
	if err != nil || n != (engine.CacheCounts{Queried: 115, Hits: 38}) {
		t.Errorf("cache counts %+v, %v", n, err)
	}
	for _, s := range []server{{status: 501}, {scrapes: []string{"llamacpp:prompt_tokens_total 1\n"}}, {scrapes: []string{"<html>"}}} {
		if n, err := (llamacpp.Engine{}).CacheCounts(t.Context(), s.start(t)); err == nil || !strings.Contains(err.Error(), "/metrics") {
			t.Errorf("%+v, %v; want an error that names /metrics", n, err)
		}
	}
}
