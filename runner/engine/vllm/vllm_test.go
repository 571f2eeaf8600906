package vllm_test

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/vllm"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// answer is one scripted scrape.
type answer struct {
	status int
	body   string
}

func file(t *testing.T, parts ...string) answer {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return answer{200, string(body)}
}

// pass runs a probe over two scrapes with answers of those models in between.
func pass(t *testing.T, target engine.Target, before, after answer, models ...string) specdec.Stats {
	t.Helper()
	replies := []answer{before, after}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" || len(replies) == 0 {
			t.Errorf("unexpected %s %s", r.Method, r.URL.Path)
			return
		}
		if got, want := r.Header.Get("Accept"), "text/plain;version=0.0.4"; got != want {
			t.Errorf("Accept: %q, want %q", got, want)
		}
		w.WriteHeader(replies[0].status)
		_, _ = io.WriteString(w, replies[0].body)
		replies = replies[1:]
	}))
	defer s.Close()
	c := client(t, s.URL)
	p := vllm.Engine{}.Begin(t.Context(), c, target)
	body := openai.Body{Model: target.Model}
	p.Request(&body)
	if diff := cmp.Diff(openai.Body{Model: target.Model}, body); diff != "" {
		t.Errorf("the request was changed (-want +got):\n%s", diff)
	}
	for _, m := range models {
		p.Observe(&openai.Completion{Model: m})
	}
	return p.End(t.Context())
}

func client(t *testing.T, url string) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Options{URL: url, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// want is what a pass should say.
type want struct {
	source                   specdec.Source
	length, rate             float64 // NaN: nil
	drafts, tokens, accepted int64   // -1: nil
	positions                []float64
	code                     string // of a Note on accept_length; empty: none
	text                     string // part of its text
}

// without is a pass that has no value, and why.
func without(code, text string) want {
	return want{length: math.NaN(), rate: math.NaN(), drafts: -1, tokens: -1, accepted: -1, code: code, text: text}
}

func (w want) check(t *testing.T, s specdec.Stats) {
	t.Helper()
	if s.Source != w.source {
		t.Errorf("source %q, want %q", s.Source, w.source)
	}
	for _, x := range []struct {
		name string
		got  *float64
		want float64
	}{{"accept_length", s.AcceptLength, w.length}, {"acceptance_rate", s.AcceptanceRate, w.rate}} {
		switch {
		case math.IsNaN(x.want) && x.got != nil:
			t.Errorf("%s = %v, want nil", x.name, *x.got)
		case !math.IsNaN(x.want) && (x.got == nil || math.Abs(*x.got-x.want) > 1e-12):
			t.Errorf("%s = %v, want %v", x.name, x.got, x.want)
		}
	}
	for _, x := range []struct {
		name string
		got  *int64
		want int64
	}{{"num_drafts", s.NumDrafts, w.drafts}, {"num_draft_tokens", s.NumDraftTokens, w.tokens}, {"num_accepted_tokens", s.NumAcceptedTokens, w.accepted}} {
		got := int64(-1)
		if x.got != nil {
			got = *x.got
		}
		if got != x.want {
			t.Errorf("%s = %d, want %d (-1: nil)", x.name, got, x.want)
		}
	}
	if diff := cmp.Diff(w.positions, s.PerPosition); diff != "" {
		t.Errorf("positions (-want +got):\n%s", diff)
	}
	var code, text string
	for _, n := range s.Notes {
		for _, c := range n.Columns {
			if c == "accept_length" {
				code, text = n.Code, n.Text
			}
		}
	}
	if code != w.code || !strings.Contains(text, w.text) {
		t.Errorf("note on accept_length: %q %q, want %q with %q", code, text, w.code, w.text)
	}
}

func TestCaseM01CreatedGaugesAreNoCounters(t *testing.T) {
	t.Parallel()
	s := pass(t, engine.Target{}, file(t, "M01", "metrics_before.txt"), file(t, "M01", "metrics_after.txt"), "toy-target")
	want{source: "counters", length: 2.92, rate: 0.64, drafts: 100, tokens: 300, accepted: 192}.check(t, s)
}

func TestCaseM03EnginesAreSummed(t *testing.T) {
	t.Parallel()
	s := pass(t, engine.Target{}, file(t, "M03", "metrics_before.txt"), file(t, "M03", "metrics_after.txt"), "toy-target")
	want{source: "counters", length: 2.6, rate: 160.0 / 300, drafts: 100, tokens: 300, accepted: 160, positions: []float64{0.8, 0.5, 0.3}}.check(t, s)
}

func TestCaseM05NoDrafts(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for folder, w := range map[string]want{
		"a_no_drafts":       {source: "counters", length: nan, rate: nan, code: specdec.CodeNothingDrafted, text: "exist but did not move"},
		"b_no_draft_tokens": {source: "counters", length: 1, rate: nan, drafts: 50},
		"c_absent":          without(specdec.CodeSpeculationOff, "exposes no spec-decode counters"),
	} {
		before, after := file(t, "M05", folder, "metrics_before.txt"), file(t, "M05", folder, "metrics_after.txt")
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			w.check(t, pass(t, engine.Target{}, before, after, "toy-target"))
		})
	}
}

func TestCaseM07FirstScrapeFailed(t *testing.T) {
	t.Parallel()
	s := pass(t, engine.Target{}, answer{503, "warming up"}, file(t, "M07", "metrics_after.txt"), "toy-target")
	want{
		source: "cumulative", length: 3.4, rate: 0.8, drafts: 9000, tokens: 27000, accepted: 21600,
		code: specdec.CodeCumulative, text: "/metrics: HTTP 503: warming up",
	}.check(t, s)
	marked := map[string]bool{}
	for _, n := range s.Notes {
		if n.Code == specdec.CodeCumulative {
			for _, c := range n.Columns {
				marked[c] = true
			}
		}
	}
	all := map[string]bool{"accept_length": true, "acceptance_rate": true, "num_drafts": true, "num_draft_tokens": true, "num_accepted_tokens": true}
	if diff := cmp.Diff(all, marked); diff != "" {
		t.Errorf("marked columns (-want +got):\n%s", diff)
	}
}

func TestCaseM08OddExpositions(t *testing.T) {
	t.Parallel()
	shared := filepath.Join("..", "..", "internal", "promtext", "testdata")
	good := want{source: "counters", length: 2.5, rate: 0.5, drafts: 30, tokens: 90, accepted: 45}
	twice := want{source: "counters", length: 2.5, rate: 0.5, drafts: 60, tokens: 180, accepted: 90}
	for name, w := range map[string]want{
		"crlf.txt":                 good,
		"no_last_newline.txt":      good,
		"repeated_type.txt":        twice,
		"bad_foreign_line.txt":     without(specdec.CodeUnreachable, "metrics unreadable: text format parsing error in line 2"),
		"openmetrics_exemplar.txt": without(specdec.CodeUnreachable, "metrics unreadable: text format parsing error in line 2"),
	} {
		before, after := file(t, "M08", "before.txt"), file(t, shared, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.check(t, pass(t, engine.Target{}, before, after, "toy-target"))
		})
	}
}

// TestCapturedScrapes takes differences over scrapes of vLLM 0.32.0.
func TestCapturedScrapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, before, after string
		want                want
	}{
		{"n-gram, one request", "spec_metrics_0_before", "spec_metrics_1_after1",
			want{source: "counters", length: 1 + 25.0/12, rate: 25.0 / 44, drafts: 12, tokens: 44, accepted: 25,
				positions: []float64{8.0 / 12, 8.0 / 12, 5.0 / 12, 4.0 / 12}}},
		{"n-gram, from then on", "spec_metrics_1_after1", "spec_metrics_3_after16",
			want{source: "counters", length: 1 + 1395.0/561, rate: 1395.0 / 2187, drafts: 561, tokens: 2187, accepted: 1395,
				positions: []float64{475.0 / 561, 417.0 / 561, 363.0 / 561, 140.0 / 561}}},
		{"asked for OpenMetrics", "spec_metrics_0_before", "spec_metrics_openmetrics_accept",
			want{source: "counters", length: 1 + 1420.0/573, rate: 1420.0 / 2231, drafts: 573, tokens: 2231, accepted: 1420,
				positions: []float64{483.0 / 573, 425.0 / 573, 368.0 / 573, 144.0 / 573}}},
		{"draft model", "draft_metrics_0_before", "draft_metrics_1_after64",
			want{source: "counters", length: 1 + 4080.0/4102, rate: 4080.0 / 12306, drafts: 4102, tokens: 12306, accepted: 4080,
				positions: []float64{2176.0 / 4102, 1126.0 / 4102, 778.0 / 4102}}},
		{"untrained EAGLE head", "eagle_metrics_0_before", "eagle_metrics_1_after32",
			want{source: "counters", length: 1 + 203.0/3862, rate: 203.0 / 19310, drafts: 3862, tokens: 19310, accepted: 203,
				positions: []float64{174.0 / 3862, 21.0 / 3862, 5.0 / 3862, 2.0 / 3862, 1.0 / 3862}}},
		{"two engines", "dp2_metrics_0_before", "dp2_metrics_1_after16_1",
			want{source: "counters", length: 1 + 586.0/241, rate: 586.0 / 934, drafts: 241, tokens: 934, accepted: 586,
				positions: []float64{193.0 / 241, 160.0 / 241, 128.0 / 241, 105.0 / 241}}},
		{"two API processes", "apisrv2_metrics_0_before", "apisrv2_metrics_1_after16_1",
			want{source: "counters", length: 1 + 586.0/241, rate: 586.0 / 934, drafts: 241, tokens: 934, accepted: 586,
				positions: []float64{193.0 / 241, 160.0 / 241, 128.0 / 241, 105.0 / 241}}},
		{"without speculation", "base_metrics_0_before", "base_metrics_1_after1", without(specdec.CodeSpeculationOff, "speculation off?")},
		{"without speculation, again", "base_metrics_1_after1", "base_metrics_3_after16", without(specdec.CodeSpeculationOff, "speculation off?")},
		{"without speculation, asked for OpenMetrics", "base_metrics_0_before", "base_metrics_openmetrics_accept", without(specdec.CodeSpeculationOff, "speculation off?")},
		{"without statistics", "nostats_metrics_after1", "nostats_metrics_after1", without(specdec.CodeStatisticsOff, "--disable-log-stats")},
		{"idle", "spec_metrics_3_after16", "spec_metrics_3_after16",
			want{source: "counters", length: math.NaN(), rate: math.NaN(), code: specdec.CodeNothingDrafted}},
		{"another server start", "spec_metrics_0_before", "auth_dev_metrics_after", without(specdec.CodeCountersFell, "began anew")},
		{"restarted", "spec_metrics_3_after16", "spec_metrics_1_after1", without(specdec.CodeCountersFell, "the server restarted (drafts by 561)")},
		{"restarted without speculation", "spec_metrics_0_before", "base_metrics_1_after1", without(specdec.CodeCountersFell, "is gone")},
		{"one engine is gone", "dp2_metrics_0_before", "apisrv2_metrics_1_after16_1", without(specdec.CodeCountersFell, `{engine="1",model_name="tiny"} is gone`)},
	}
	for _, tt := range tests {
		before, after := file(t, "vllm-0.32.0", tt.before+".txt"), file(t, "vllm-0.32.0", tt.after+".txt")
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, pass(t, engine.Target{Model: "tiny"}, before, after, "tiny"))
		})
	}
}

// exposition is the three counters of one label set.
func exposition(labels, drafts, tokens, accepted string) string {
	return "vllm:spec_decode_num_drafts_total{" + labels + "} " + drafts + "\n" +
		"vllm:spec_decode_num_draft_tokens_total{" + labels + "} " + tokens + "\n" +
		"vllm:spec_decode_num_accepted_tokens_total{" + labels + "} " + accepted + "\n"
}

func TestScrapesThatSayLittle(t *testing.T) {
	t.Parallel()
	a := `engine="0",model_name="a"`
	zero, some := exposition(a, "0", "0", "0"), exposition(a, "10", "30", "12")
	counted := want{source: "counters", length: 2.2, rate: 0.4, drafts: 10, tokens: 30, accepted: 12}
	position := func(p, n string) string {
		return `vllm:spec_decode_num_accepted_tokens_per_pos_total{` + a + `,position="` + p + `"} ` + n + "\n"
	}
	tests := []struct {
		name          string
		before, after answer
		models        []string
		want          want
	}{
		{"series that come with the first draft", answer{200, "vllm:x 1\n"}, answer{200, some}, []string{"a"}, counted},
		{"an empty scrape before", answer{200, ""}, answer{200, some}, []string{"a"}, counted},
		{"underscores", answer{200, strings.ReplaceAll(zero, "vllm:", "vllm_")}, answer{200, strings.ReplaceAll(some, "vllm:", "vllm_")}, []string{"a"}, counted},
		{"no scrape after", answer{200, zero}, answer{500, "boom"}, []string{"a"}, without(specdec.CodeUnreachable, "after the pass failed: GET http://")},
		{"a page after", answer{200, zero}, answer{200, "<html></html>"}, []string{"a"}, without(specdec.CodeUnreachable, "metrics unreadable")},
		{"no scrape at all", answer{404, ""}, answer{404, ""}, []string{"a"}, without(specdec.CodeUnreachable, "HTTP 404")},
		{"a page before", answer{200, "<html></html>"}, answer{200, some}, []string{"a"},
			want{source: "cumulative", length: 2.2, rate: 0.4, drafts: 10, tokens: 30, accepted: 12, code: specdec.CodeCumulative, text: "metrics unreadable"}},
		{"no scrape before, no counters after", answer{503, ""}, answer{200, "vllm:x 1\n"}, nil, without(specdec.CodeSpeculationOff, "")},
		{"cut between two lines", answer{200, zero}, answer{200, some[:strings.Index(some, "vllm:spec_decode_num_accepted")]}, []string{"a"},
			without(specdec.CodeUnreachable, "only 2 of the 3 spec-decode counters")},
		{"one engine fell behind another's rise", answer{200, exposition(`engine="0"`, "90", "90", "90") + exposition(`engine="1"`, "10", "10", "10")},
			answer{200, exposition(`engine="0"`, "5", "5", "5") + exposition(`engine="1"`, "500", "500", "500")}, nil,
			without(specdec.CodeCountersFell, `(drafts by 85) of {engine="0"}`)},
		{"more accepted than proposed", answer{200, zero}, answer{200, exposition(a, "10", "30", "31")}, []string{"a"},
			want{source: "counters", length: math.NaN(), rate: math.NaN(), drafts: 10, tokens: 30, accepted: 31, code: specdec.CodeInconsistent}},
		{"no counts", answer{200, zero}, answer{200, exposition(a, "NaN", "30", "12")}, []string{"a"}, without(specdec.CodeUnreachable, "NaN is not a count")},
		{"a position is missing", answer{200, zero}, answer{200, some + position("0", "10") + position("2", "2")}, []string{"a"},
			without(specdec.CodeUnreachable, "position 1 of")},
		{"a position without a number", answer{200, zero}, answer{200, some + position("x", "12")}, []string{"a"},
			without(specdec.CodeUnreachable, `position "x"`)},
		{"positions without drafts", answer{200, zero}, answer{200, some + strings.ReplaceAll(position("0", "12"), `"a"`, `"b"`)}, []string{"a"},
			without(specdec.CodeUnreachable, "has positions but no drafts")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, pass(t, engine.Target{Model: "a"}, tt.before, tt.after, tt.models...))
		})
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	a, b := `model_name="a"`, `model_name="b"`
	one := answer{200, exposition(a, "10", "30", "12")}
	both := answer{200, exposition(a, "10", "30", "12") + exposition(b, "10", "30", "24")}
	ofA := want{source: "counters", length: 2.2, rate: 0.4, drafts: 10, tokens: 30, accepted: 12}
	ofB := want{source: "counters", length: 3.4, rate: 0.8, drafts: 10, tokens: 30, accepted: 24}
	tests := []struct {
		name   string
		asked  string
		after  answer
		models []string
		want   want
	}{
		{"the only label, whatever answers say", "alias", one, []string{"lora"}, ofA},
		{"the name that answers carry", "alias", both, []string{"b", "b"}, ofB},
		{"the name asked for, when no answer has one", "a", both, nil, ofA},
		{"several answer", "a", both, []string{"a", "b"}, want{source: "counters", length: 2.8, rate: 0.6, drafts: 20, tokens: 60, accepted: 36}},
		{"none of them", "alias", both, []string{"c"}, without(specdec.CodeModelNotFound, "of the models a, b; the answers came from c")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, pass(t, engine.Target{Model: tt.asked}, answer{200, "vllm:x 1\n"}, tt.after, tt.models...))
		})
	}
}

func TestFailedAnswersNameNoModel(t *testing.T) {
	t.Parallel()
	both := exposition(`model_name="a"`, "10", "30", "12") + exposition(`model_name="b"`, "10", "30", "24")
	scrapes := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if scrapes++; scrapes > 1 {
			_, _ = io.WriteString(w, both)
		}
	}))
	defer s.Close()
	p := vllm.Engine{}.Begin(t.Context(), client(t, s.URL), engine.Target{Model: "a"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			p.Observe(&openai.Completion{Model: "a"})
			p.Observe(&openai.Completion{Model: "b", Err: errors.New("cut")})
		})
	}
	wg.Wait()
	want{source: "counters", length: 2.2, rate: 0.4, drafts: 10, tokens: 30, accepted: 12}.check(t, p.End(t.Context()))
}

func TestNumStepsOfThePlan(t *testing.T) {
	t.Parallel()
	steps := 4
	off := answer{200, "vllm:x 1\n"}
	if s := pass(t, engine.Target{NumSteps: &steps}, off, off); s.NumSteps == nil || *s.NumSteps != 4 {
		t.Errorf("num_steps = %v, want the plan's 4", s.NumSteps)
	}
	s := pass(t, engine.Target{}, off, off)
	last := s.Notes[len(s.Notes)-1]
	if diff := cmp.Diff([]string{"speculative_num_steps"}, last.Columns); s.NumSteps != nil || diff != "" || last.Code != specdec.CodeNotReported {
		t.Errorf("num_steps = %v, last note %+v; want nil and a reason", s.NumSteps, last)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		status     int
		version    string
		err        string
	}{
		{"0.32.0", `{"version":"0.32.0"}`, 200, "0.32.0", ""},
		{"a page", "<html></html>", 200, "", "/version: not the JSON of a vLLM server"},
		{"another server", `{"detail":"Not Found"}`, 404, "", "/version: HTTP 404: Not Found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/version":
				case "/server_info": // of developer mode
					http.NotFound(w, r)
					return
				default:
					t.Errorf("unexpected %s", r.URL.Path)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer s.Close()
			d, err := vllm.Engine{}.Describe(t.Context(), client(t, s.URL))
			if diff := cmp.Diff(engine.Description{Version: tt.version}, d); diff != "" {
				t.Errorf("description (-want +got):\n%s", diff)
			}
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}
