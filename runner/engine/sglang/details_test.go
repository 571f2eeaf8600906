package sglang

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/specdec"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// inChat puts the meta_info of an answer of /generate where a chat completion has it.
func inChat(t testing.TB, generated []byte) []byte {
	t.Helper()
	var g struct {
		MetaInfo json.RawMessage `json:"meta_info"`
	}
	if err := json.Unmarshal(generated, &g); err != nil {
		t.Fatal(err)
	}
	return []byte(`{"choices":[{"meta_info":` + string(g.MetaInfo) + `}]}`)
}

func TestReadDetails(t *testing.T) {
	t.Parallel()
	whole := specdec.Counters{Drafts: 24, DraftTokens: 72, Accepted: 39, PerPos: []int64{19, 11, 9}}
	flat := whole
	flat.PerPos = nil
	details := func(s string) []byte { return []byte(`{"sglext":{"spec_tokens_details":` + s + `}}`) }
	for _, tt := range []struct {
		name string
		body []byte
		want specdec.Counters
		ok   bool
	}{
		{"chat", read(t, "chat_details.json"), whole, true},
		{"names of 0.5.23", inChat(t, read(t, "generate_0.5.23.json")), whole, true},
		{"names of 0.5.11", inChat(t, read(t, "generate_0.5.11.json")), whole, true},
		{"names of 0.5.6", inChat(t, read(t, "generate_0.5.6.json")), flat, true},
		{"only verify steps", inChat(t, read(t, "generate_0.4.10.json")), specdec.Counters{}, false},
		{"not proposed", details(`{"spec_verify_ct":2,"spec_num_correct_drafts":3}`), specdec.Counters{Drafts: 2, Accepted: 3}, true},
		{"zero verify steps mean unknown", details(`{"spec_verify_ct":0,"spec_num_correct_drafts":0,"spec_num_proposed_drafts":0}`), specdec.Counters{}, false},
		{"more correct than proposed", details(`{"spec_verify_ct":2,"spec_num_correct_drafts":9,"spec_num_proposed_drafts":6}`), specdec.Counters{}, false},
		{"negative", details(`{"spec_verify_ct":2,"spec_num_correct_drafts":-1}`), specdec.Counters{}, false},
		{"an absurdity", details(`{"spec_verify_ct":2,"spec_num_correct_drafts":9223372036854775807}`), specdec.Counters{}, false},
		{"a fraction", details(`{"spec_verify_ct":2.5,"spec_num_correct_drafts":1}`), specdec.Counters{}, false},
		{"a histogram that does not fit", details(`{"spec_verify_ct":2,"spec_num_correct_drafts":1,"spec_correct_drafts_histogram":[1,2]}`), specdec.Counters{Drafts: 2, Accepted: 1}, true},
		{"a histogram below zero", details(`{"spec_verify_ct":2,"spec_num_correct_drafts":3,"spec_correct_drafts_histogram":[-1,3]}`), specdec.Counters{Drafts: 2, Accepted: 3}, true},
		{"null", details(`null`), specdec.Counters{}, false},
		{"two choices", []byte(`{"choices":[{"meta_info":{}},{"meta_info":{}}]}`), specdec.Counters{}, false},
		{"a page", []byte(`<html>`), specdec.Counters{}, false},
		{"another type", []byte(`{"sglext":"x"}`), specdec.Counters{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := readDetails(tt.body)
			if ok != tt.ok {
				t.Errorf("ok %v, want %v", ok, tt.ok)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotProposedIsNoRate(t *testing.T) {
	t.Parallel()
	ta := tally{answers: 1, requests: []specdec.Request{{Drafts: 2, Accepted: 3}}, total: specdec.Counters{Drafts: 2, Accepted: 3}, noProposed: true}
	s, reason := ta.stats()
	if reason != nil || s.AcceptLength == nil || *s.AcceptLength != 2.5 || s.AcceptanceRate != nil || s.NumDraftTokens != nil {
		t.Errorf("stats %+v, reason %+v: want accept_length 2.5 and no rate", s, reason)
	}
}

func TestReadCounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file string
		want counts
	}{
		{"metrics_eagle.txt", counts{verify: 7712, generated: 20992, requests: 320, hasVerify: true}},
		{"metrics_dp2.txt", counts{verify: 7712, generated: 20992, requests: 320, hasVerify: true}},
		{"metrics_nonspec.txt", counts{generated: 20992, requests: 320}},
		{"metrics_0.5.6.txt", counts{generated: 20992}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got, err := readCounts(read(t, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("counts %+v, want %+v", got, tt.want)
			}
		})
	}
	for name, body := range map[string]string{
		"a page": "<html></html>", "nothing": "", "another server": "vllm:x 1\n", "NaN": "sglang:generation_tokens_total NaN\n",
	} {
		if got, err := readCounts([]byte(body)); err == nil {
			t.Errorf("%s: counts %+v, want an error", name, got)
		}
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		steps    float64
		interval int
		want     float64 // negative: not known
	}{
		{"not known", 0, 40, -1},
		{"no interval", 100, 0, -1},
		{"many steps", 19500, 40, 0.999},
		{"few steps", 50, 40, 0.61},
		{"fewer than one fold, of which there was one", 10, 40, 1 - 19.5/40},
		{"each step is folded", 10, 1, 1},
	} {
		got := -1.0
		if c := coverage(tt.steps, tt.interval); c != nil {
			got = *c
		}
		if math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: coverage %v, want %v", tt.name, got, tt.want)
		}
	}
	// 64 answers of 161 tokens at 2.5 tokens a step are 4096 steps, 8 in flight: 512.
	if got := batchSteps(64*161, 64, 2.5, 80*time.Second, 10*time.Second); math.Abs(got-512) > 1e-9 {
		t.Errorf("batch steps %v, want 512", got)
	}
	for name, got := range map[string]float64{
		"no tokens": batchSteps(0, 64, 2.5, time.Second, time.Second), "no clock": batchSteps(640, 64, 2.5, time.Second, 0),
	} {
		if got != 0 {
			t.Errorf("%s: batch steps %v, want 0", name, got)
		}
	}
}

func FuzzReadDetails(f *testing.F) {
	f.Add(read(f, "chat_details.json"))
	f.Add(inChat(f, read(f, "generate_0.5.6.json")))
	f.Add([]byte(`{"sglext":{"spec_tokens_details":{"spec_verify_ct":1,"spec_num_correct_drafts":1,"spec_correct_drafts_histogram":[0,1]}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, ok := readDetails(body)
		if ok != (c.Drafts > 0) || c.Accepted < 0 || c.DraftTokens > 0 && c.Accepted > c.DraftTokens {
			t.Errorf("%v: %+v", ok, c)
		}
		var sum int64
		for _, n := range c.PerPos {
			sum += n
		}
		if c.PerPos != nil && sum != c.Accepted {
			t.Errorf("positions %v of %d accepted", c.PerPos, c.Accepted)
		}
	})
}

func FuzzReadCounts(f *testing.F) {
	f.Add(read(f, "metrics_eagle.txt"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if k, err := readCounts(body); err == nil && (k.verify < 0 || k.generated < 0 || k.requests < 0) {
			t.Errorf("%+v", k)
		}
	})
}
