package sglang_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/sglang"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

func ptr[T any](v T) *T { return &v }

func file(t *testing.T, parts ...string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// serve answers path with a status and a body, anything else with 404.
func serve(t *testing.T, path string, status int, body string) *openai.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path || r.Method != http.MethodGet {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	c, err := openai.New(openai.Options{URL: s.URL, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// pass reads the average as it stands, for which nothing is sent but one GET.
func pass(t *testing.T, c *openai.Client, target engine.Target) specdec.Stats {
	t.Helper()
	if target.Sources == nil {
		target.Sources = []specdec.Source{specdec.SourceCumulative}
	}
	p := sglang.Engine{}.Begin(t.Context(), c, target)
	body := openai.Body{Model: "m"}
	p.Request(&body)
	if diff := cmp.Diff(openai.Body{Model: "m"}, body); diff != "" {
		t.Errorf("the request was changed (-want +got):\n%s", diff)
	}
	p.Observe(&openai.Completion{Model: "m"})
	return p.End(t.Context())
}

// want is what a pass should say.
type want struct {
	length, rate *float64
	steps        *int
	code         string // of the Note on accept_length, else on acceptance_rate; empty: none
	text         string // part of its text
}

func (w want) check(t *testing.T, s specdec.Stats) {
	t.Helper()
	source := specdec.Source("")
	if w.length != nil {
		source = specdec.SourceCumulative
	}
	got := want{length: s.AcceptLength, rate: s.AcceptanceRate, steps: s.NumSteps}
	for _, column := range []string{"acceptance_rate", "accept_length"} {
		for _, n := range s.Notes {
			for _, c := range n.Columns {
				if c == column && n.Code != specdec.CodeCumulative {
					got.code, got.text = n.Code, n.Text
				}
			}
		}
	}
	if s.Source != source {
		t.Errorf("source %q, want %q", s.Source, source)
	}
	text := w.text
	if strings.Contains(got.text, text) {
		text = got.text
	}
	w.text = text
	if diff := cmp.Diff(w, got, cmp.AllowUnexported(want{}), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("pass (-want +got):\n%s", diff)
	}
}

func TestCaseS01RanksAreNotOne(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]want{
		"dp1.json":   {length: ptr(2.9), rate: ptr(1.9 / 3), steps: ptr(3)},
		"dp4.json":   {steps: ptr(3), code: specdec.CodeRanks, text: "2 of 4 ranks report"},
		"empty.json": {steps: ptr(3), code: specdec.CodeNotReported, text: "internal_states is empty: 0 ranks report"},
		"null.json":  {steps: ptr(3), code: specdec.CodeNotReported, text: "has no internal_states"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.check(t, pass(t, serve(t, "/server_info", 200, file(t, "S01", name)), engine.Target{}))
		})
	}
}

func TestCaseS03OnButAbsentIsNotOff(t *testing.T) {
	t.Parallel()
	on := pass(t, serve(t, "/server_info", 200, file(t, "S03", "on_but_absent.json")), engine.Target{})
	want{steps: ptr(3), code: specdec.CodeRunTooShort, text: "speculation is on (EAGLE3), but the server reports no average yet"}.check(t, on)
	off := pass(t, serve(t, "/server_info", 200, file(t, "S03", "off.json")), engine.Target{})
	want{code: specdec.CodeSpeculationOff, text: "runs without speculation"}.check(t, off)
}

// TestVersions reads the answers of the releases in which their shape changed.
func TestVersions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file, path string
		want       want
	}{
		{"get_server_info_0.4.3.json", "/get_server_info", want{steps: ptr(3), code: specdec.CodeNotReported, text: "no internal_states to tell an average: SGLang 0.4.3.post2"}},
		{"get_server_info_0.4.6.json", "/get_server_info", want{length: ptr(2.6127), rate: ptr(1.6127 / 3), steps: ptr(3)}},
		{"get_server_info_pd_0.4.6.json", "/get_server_info", want{length: ptr(2.6127), rate: ptr(1.6127 / 3), steps: ptr(3)}},
		{"server_info_0.5.6.json", "/server_info", want{length: ptr(2.7309), rate: ptr(1.7309 / 3), steps: ptr(3)}},
		{"server_info_eagle.json", "/server_info", want{length: ptr(2.680628272251309), rate: ptr(1.680628272251309 / 3), steps: ptr(3)}},
		{"server_info_eagle_fresh.json", "/server_info", want{steps: ptr(3), code: specdec.CodeRunTooShort, text: "every 40 decode steps; measure more prompts or longer answers"}},
		{"server_info_nonspec.json", "/server_info", want{code: specdec.CodeSpeculationOff}},
		{"server_info_dp2.json", "/server_info", want{steps: ptr(3), code: specdec.CodeRanks, text: "2 of 2 ranks report"}},
		{"server_info_dp2_one_rank_idle.json", "/server_info", want{steps: ptr(3), code: specdec.CodeRanks, text: "1 of 2 ranks report"}},
		{"server_info_pd_minilb.json", "/get_server_info", want{length: ptr(2.7145), rate: ptr(1.7145 / 3), steps: ptr(3),
			code: specdec.CodeRanks, text: "of the first of 2 decode servers"}},
		{"server_info_pd_minilb_nospec_fallback.json", "/get_server_info", want{code: specdec.CodeNotReported, text: "tells neither speculative_algorithm nor"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, pass(t, serve(t, tt.path, 200, file(t, tt.file)), engine.Target{}))
		})
	}
}

func TestAnswersThatSayLittle(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		body   string
		plan   *int
		want   want
	}{
		{"refused", 500, "boom", nil, want{code: specdec.CodeUnreachable, text: "/server_info: HTTP 500: boom"}},
		{"no such route", 404, "", nil, want{code: specdec.CodeUnreachable, text: "/get_server_info: HTTP 404"}},
		{"a page", 200, "<html></html>", ptr(2), want{steps: ptr(2), code: specdec.CodeUnreachable, text: "/server_info: not a JSON object"}},
		{"null", 200, "null", nil, want{code: specdec.CodeUnreachable, text: "not a JSON object"}},
		{"NaN", 200, `{"internal_states":[{"avg_spec_accept_length":NaN}]}`, nil, want{code: specdec.CodeUnreachable}},
		{"no decode servers", 200, `{"decode":[]}`, nil, want{code: specdec.CodeUnreachable, text: "decode is not a list of servers"}},
		{"decode is no list", 200, `{"decode":{"internal_states":[{"avg_spec_accept_length":2.0}]}}`, nil, want{code: specdec.CodeUnreachable, text: "decode is not"}},
		{"decode holds null", 200, `{"decode":[null]}`, nil, want{code: specdec.CodeUnreachable, text: "decode is not"}},
		{"states of another type", 200, `{"speculative_algorithm":"EAGLE","internal_states":"x"}`, nil,
			want{code: specdec.CodeNotReported, text: "no internal_states"}},
		{"a state of another type", 200, `{"speculative_algorithm":"EAGLE","internal_states":["x"]}`, nil, want{code: specdec.CodeRunTooShort}},
		{"a text for an average", 200, `{"speculative_algorithm":"EAGLE","internal_states":[{"avg_spec_accept_length":"2.5"}]}`, nil,
			want{code: specdec.CodeRunTooShort}},
		{"an average that cannot be", 200, `{"internal_states":[{"avg_spec_accept_length":0.0}]}`, nil,
			want{code: specdec.CodeInconsistent, text: "avg_spec_accept_length is 0"}},
		{"one state of several ranks", 200, `{"dp_size":4,"internal_states":[{"avg_spec_accept_length":2.5}]}`, nil,
			want{code: specdec.CodeRanks, text: "1 of 4 ranks report"}},
		{"steps of the rank before the server's", 200, `{"speculative_num_steps":5,"internal_states":[{"avg_spec_accept_length":2.5,"speculative_num_steps":3}]}`, ptr(7),
			want{length: ptr(2.5), rate: ptr(0.5), steps: ptr(3)}},
		{"steps of the plan last", 200, `{"speculative_num_steps":0,"internal_states":[{"avg_spec_accept_length":2.5,"speculative_num_steps":null}]}`, ptr(3),
			want{length: ptr(2.5), rate: ptr(0.5), steps: ptr(3)}},
		{"steps from nowhere", 200, `{"internal_states":[{"avg_spec_accept_length":2.5,"speculative_num_steps":"3"}]}`, nil,
			want{length: ptr(2.5), code: specdec.CodeNoNumSteps, text: "set num_steps in the plan"}},
		{"drafts are trees", 200, `{"speculative_eagle_topk":4,"internal_states":[{"avg_spec_accept_length":2.5,"speculative_num_steps":3}]}`, nil,
			want{length: ptr(2.5), rate: ptr(0.5), steps: ptr(3), code: specdec.CodeDepthFraction, text: "topk 4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, pass(t, serve(t, "/server_info", tt.status, tt.body), engine.Target{NumSteps: tt.plan}))
		})
	}
}

func TestALaterPassIsContaminated(t *testing.T) {
	t.Parallel()
	c := serve(t, "/server_info", 200, file(t, "server_info_eagle.json"))
	for _, shared := range []bool{false, true} {
		s := pass(t, c, engine.Target{Shared: shared})
		var columns []string
		for _, n := range s.Notes {
			if n.Code == specdec.CodeContaminated {
				columns = n.Columns
			}
		}
		var marked []string
		if shared {
			marked = []string{"accept_length", "acceptance_rate"}
		}
		if diff := cmp.Diff(marked, columns); diff != "" {
			t.Errorf("shared %v: marked columns (-want +got):\n%s", shared, diff)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	eagle := map[string]string{
		"speculative_algorithm": "EAGLE3", "speculative_draft_model_path": "lmsys/sglang-EAGLE3-LLaMA3.1-Instruct-8B",
		"speculative_num_steps": "3", "speculative_eagle_topk": "1", "speculative_num_draft_tokens": "4",
	}
	tests := []struct {
		name, path, body string
		want             engine.Description
		err              string
	}{
		{"0.5.23", "/server_info", file(t, "server_info_eagle.json"), engine.Description{Version: "0.5.23", Spec: eagle}, ""},
		{"0.4.3", "/get_server_info", file(t, "get_server_info_0.4.3.json"), engine.Description{Version: "0.4.3.post2", Spec: eagle}, ""},
		{"not speculative", "/server_info", file(t, "server_info_nonspec.json"), engine.Description{Version: "0.5.23", Spec: map[string]string{}}, ""},
		{"router", "/get_server_info", file(t, "server_info_pd_minilb.json"), engine.Description{Version: "0.5.23", Spec: eagle}, ""},
		{"odd settings", "/server_info", `{"version":5,"speculative_num_steps":[1],"speculative_eagle_topk":true,"api_key":"secret"}`,
			engine.Description{Spec: map[string]string{"speculative_eagle_topk": "true"}}, ""},
		{"another server", "/x", "", engine.Description{}, "/get_server_info: HTTP 404"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := sglang.Engine{}.Describe(t.Context(), serve(t, tt.path, 200, tt.body))
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, d); diff != "" {
				t.Errorf("description (-want +got):\n%s", diff)
			}
		})
	}
}
