package sim

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asked is a chat request that asks for more than an answer.
func asked(prompt, field string) string {
	return fmt.Sprintf(`{"model":"sim","messages":[{"role":"user","content":%q}],"max_tokens":200,"ignore_eos":true,%q:true}`, prompt, field)
}

func TestAnswersTellWhatTheVersionCan(t *testing.T) {
	t.Parallel()
	spec := []float64{0.8, 0.6, 0.4}
	for _, tc := range []struct {
		name          string
		c             Config
		field         string
		details, meta bool // is there anything, and of drafts
	}{
		{"details", Config{Accept: spec, Version: "0.5.19"}, "return_spec_tokens_details", true, false},
		{"details came with 0.5.19", Config{Accept: spec, Version: "0.5.18"}, "return_spec_tokens_details", false, false},
		{"details only of drafts", Config{NoSpec: true}, "return_spec_tokens_details", false, false},
		{"meta info", Config{Accept: spec, Version: "0.5.14"}, "return_meta_info", false, true},
		{"meta info came with 0.5.14", Config{Accept: spec, Version: "0.5.13"}, "return_meta_info", false, false},
		{"nobody asked", Config{Accept: spec}, "x", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.c.Engine = "sglang"
			r := start(t, tc.c)
			a := post(t, r.URL()+"/v1/chat/completions", asked("hello", tc.field))
			body := decode(t, a.body)
			ext, details := body["sglext"]
			meta, has := body["choices"].([]any)[0].(map[string]any)["meta_info"]
			if details != tc.details || has != tc.meta {
				t.Fatalf("sglext: %v, meta_info: %v, want %v and %v", details, has, tc.details, tc.meta)
			}
			var told map[string]any
			switch {
			case details:
				told = ext.(map[string]any)["spec_tokens_details"].(map[string]any)
			case has:
				told = meta.(map[string]any)
			default:
				return
			}
			truth := r.Stats()
			got := []any{told["spec_verify_ct"], told["spec_num_proposed_drafts"], told["spec_num_correct_drafts"]}
			want := []any{float64(truth.Drafts), float64(truth.DraftTokens), float64(truth.AcceptedTokens)}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("verify steps, proposed, correct (-true +told):\n%s", d)
			}
		})
	}
}

func TestDetailsAsInSource(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: "sglang", Accept: []float64{0.8, 0.6, 0.4}})
	got := decode(t, post(t, r.URL()+"/v1/chat/completions", asked("hello", "return_spec_tokens_details")).body)
	if d := cmp.Diff(shape(decode(t, fixture(t, "sglang-0.5.23_chat_details.json"))), shape(got)); d != "" {
		t.Errorf("shape (-real +simulated):\n%s", d)
	}
}

func TestAcceptanceByWord(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: "sglang", Accept: []float64{0.8, 0.6, 0.4}, AcceptFor: map[string][]float64{"low": {0.2}, "none": {0, 0}}})
	for _, tc := range []struct {
		word string
		want float64
	}{{"low", 1.2}, {"none", 1}, {"other", 2.8}} {
		before := r.Stats()
		for i := range 60 {
			post(t, r.URL()+"/v1/chat/completions", asked(fmt.Sprintf("%s %d", tc.word, i), "x"))
		}
		after := r.Stats()
		drafts := after.Drafts - before.Drafts
		if got := 1 + float64(after.AcceptedTokens-before.AcceptedTokens)/float64(drafts); math.Abs(got-tc.want) > 0.05 {
			t.Errorf("%s: accept_length %v, want %v", tc.word, got, tc.want)
		}
		if proposed := after.DraftTokens - before.DraftTokens; proposed != 3*drafts {
			t.Errorf("%s: %d tokens proposed in %d drafts, want 3 each", tc.word, proposed, drafts)
		}
	}
}

func TestSGLangMetrics(t *testing.T) {
	t.Parallel()
	const verify = "sglang:spec_verify_calls_total{"
	for _, tc := range []struct {
		name   string
		c      Config
		status int
		verify bool
	}{
		{"on", Config{Metrics: true, Accept: []float64{0.5}}, http.StatusOK, true},
		{"off", Config{Accept: []float64{0.5}}, http.StatusNotFound, false},
		{"verify steps came with 0.5.15", Config{Metrics: true, Accept: []float64{0.5}, Version: "0.5.14"}, http.StatusOK, false},
		{"no speculation", Config{Metrics: true, NoSpec: true}, http.StatusOK, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.c.Engine = "sglang"
			r := start(t, tc.c)
			load(t, r.URL(), 4, 2, 50)
			a := get(t, r.URL()+"/metrics")
			if a.status != tc.status {
				t.Fatalf("status %d, want %d", a.status, tc.status)
			}
			text := string(a.body)
			if strings.Contains(text, "\n"+verify) != tc.verify {
				t.Errorf("has verify steps: %v, want %v", !tc.verify, tc.verify)
			}
			truth := r.Stats()
			for name, n := range map[string]int64{"generation_tokens": truth.GeneratedTokens, "num_requests": truth.Answered, "spec_verify_calls": truth.Drafts} {
				line := fmt.Sprintf("sglang:%s_total{engine_type=\"unified\",model_name=\"sim\"} %d.0\n", name, n)
				if want := tc.status == http.StatusOK && (name != "spec_verify_calls" || tc.verify); strings.Contains(text, line) != want {
					t.Errorf("has the line %q: %v, want %v", line, !want, want)
				}
			}
		})
	}
}

func TestAcceptForIsChecked(t *testing.T) {
	t.Parallel()
	for text, rates := range map[string]map[string][]float64{
		"accept for gsm8k: position 1: 0.9 is above": {"gsm8k": {0.5, 0.9}},
		"the word is empty":                          {"": {0.5}},
	} {
		if _, err := New(Config{AcceptFor: rates}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
}

func TestFlushEmptiesThePrefixCache(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Engine: "sglang"})
	if err != nil {
		t.Fatal(err)
	}
	s.cached[cacheKey{1}] = true
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/flush_cache", nil))
	if w.Code != http.StatusOK || len(s.cached) != 0 {
		t.Errorf("status %d, %d prompts cached, want 200 and none", w.Code, len(s.cached))
	}
}
