package sim

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestAcceptedHasMarginalRates(t *testing.T) {
	t.Parallel()
	rates := []float64{1, 0.8, 0.5, 0.5, 0.1, 0}
	const n = 200_000
	counts := make([]int, len(rates))
	d := draws(1, hashPrompt([]byte(`[]`)), 0)
	for range n {
		for i := range accepted(d, rates) {
			counts[i]++
		}
	}
	for i, rate := range rates {
		if got := float64(counts[i]) / n; math.Abs(got-rate) > 0.005 {
			t.Errorf("position %d is accepted in %v of the steps, want %v", i, got, rate)
		}
	}
}

func TestDrawsAreKeyed(t *testing.T) {
	t.Parallel()
	one, two := hashPrompt([]byte(`["one"]`)), hashPrompt([]byte(`["two"]`))
	first := draws(1, one, 0).Uint64()
	for _, tc := range []struct {
		name string
		got  uint64
		same bool
	}{
		{"same key", draws(1, one, 0).Uint64(), true},
		{"other seed", draws(2, one, 0).Uint64(), false},
		{"other prompt", draws(1, two, 0).Uint64(), false},
		{"next occurrence", draws(1, one, 1).Uint64(), false},
		{"seed and occurrence exchanged", draws(0, one, 1).Uint64(), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if (tc.got == first) != tc.same {
				t.Errorf("first draw %x beside %x, want same: %v", tc.got, first, tc.same)
			}
		})
	}
}

func TestNaturalLength(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for i := range 2000 {
		n := hashPrompt(fmt.Appendf(nil, `[%d]`, i)).naturalLength()
		if n < shortest || n > longest {
			t.Fatalf("length %d, want %d to %d", n, shortest, longest)
		}
		seen[n] = true
	}
	if len(seen) < 200 {
		t.Errorf("2000 prompts have %d lengths, want most of %d", len(seen), longest-shortest+1)
	}
}

func TestPromptHashIgnoresBlanks(t *testing.T) {
	t.Parallel()
	a := hashPrompt([]byte(`[{"role":"user","content":"a b"}]`))
	if b := hashPrompt([]byte("[ {\"role\": \"user\",\n\"content\": \"a b\"} ]")); a != b {
		t.Error("the same messages with other blanks between them are another prompt")
	}
	if b := hashPrompt([]byte(`[{"role":"user","content":"ab"}]`)); a == b {
		t.Error("another text is the same prompt")
	}
}

func TestAnswerHasAWordAToken(t *testing.T) {
	t.Parallel()
	p := hashPrompt([]byte(`["x"]`))
	for _, n := range []int{1, 2, 40} {
		if got := len(strings.Fields(p.answer(n))); got != n {
			t.Errorf("answer(%d) has %d words", n, got)
		}
	}
}

func TestPromptsHaveDifferentAnswers(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range 50 {
		seen[hashPrompt(fmt.Appendf(nil, `[%d]`, i)).answer(20)] = true
	}
	if len(seen) < 5 {
		t.Errorf("50 prompts have %d answers", len(seen))
	}
}

func TestPromptTokens(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		messages []string
		want     int
	}{
		{"text", []string{`{"content":"12345678"}`}, 10},
		{"characters, not bytes", []string{`{"content":"éééééééé"}`}, 10},
		{"two messages", []string{`{"content":"1234"}`, `{"content":"1234"}`}, 10},
		{"parts", []string{`{"content":[{"text":"1"}]}`}, 11},
		{"no object", []string{`12345678`}, 10},
		{"no content", []string{`{"role":"user"}`}, 8},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var raw []json.RawMessage
			for _, m := range tc.messages {
				raw = append(raw, json.RawMessage(m))
			}
			if got := promptTokens(raw); got != tc.want {
				t.Errorf("promptTokens(%s) = %d, want %d", tc.messages, got, tc.want)
			}
		})
	}
}

// With Same a prompt's second answer has the first one's drafts.
func TestSameDraws(t *testing.T) {
	t.Parallel()
	for _, same := range []bool{true, false} {
		r := start(t, Config{Accept: []float64{0.5, 0.4, 0.3, 0.2}, Seed: 9, Same: same})
		load(t, r.URL(), 4, 1, 64)
		once := r.Stats()
		load(t, r.URL(), 4, 1, 64)
		twice := r.Stats()
		if equal := twice.AcceptedTokens == 2*once.AcceptedTokens && twice.Drafts == 2*once.Drafts; equal != same {
			t.Errorf("Same %t: %+v after one answer, %+v after two", same, once, twice)
		}
	}
}
