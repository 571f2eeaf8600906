package llamacpp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/specsweep/specsweep/runner/engine/internal/promtext"
)

// FuzzTimings: whatever an answer holds, what is taken of it makes sense.
func FuzzTimings(f *testing.F) {
	for _, s := range []string{
		`{"timings":{"predicted_n":64,"draft_n":91,"draft_n_accepted":39}}`, `{"timings":{"predicted_n":64}}`,
		`{"timings":null}`, `{"timings":{"predicted_n":-1}}`, `{"timings":{"predicted_n":1.5}}`, `[]`, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		v, ok := timingsOf(body)
		if !ok && v != (timings{}) {
			t.Fatalf("refused, but %+v", v)
		}
		if ok && (v.predicted < 0 || v.accepted < 0 || v.accepted > v.drafted) {
			t.Fatalf("taken: %+v", v)
		}
	})
}

// FuzzRead: a scrape that is taken is no less than itself, and its positions are
// as many as were told.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"synth_metrics_before.txt", "synth_metrics_after.txt", "base_metrics_after.txt"} {
		body, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(perPos + "{position=\"1\"} 1\n" + drafts + " 1\n" + draftTokens + " 1\n" + accepted + " 1\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := promtext.Parse(body)
		if err != nil {
			return
		}
		s, err := read(m)
		if err != nil {
			return
		}
		if len(s.PerPos) != len(m[perPos]) {
			t.Fatalf("%d positions of %d", len(s.PerPos), len(m[perPos]))
		}
		if d, err := s.Sub(s.Counters); err != nil || d.Drafts != 0 {
			t.Fatalf("less than itself: %+v, %v", d, err)
		}
	})
}
