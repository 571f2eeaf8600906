package specdec_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/specdec"
)

func ptr[T any](v T) *T { return &v }

// columns is every column of a Stats and whether it has a value.
func columns(s specdec.Stats) map[string]bool {
	return map[string]bool{
		"accept_length":           s.AcceptLength != nil,
		"acceptance_rate":         s.AcceptanceRate != nil,
		"speculative_num_steps":   s.NumSteps != nil,
		"num_drafts":              s.NumDrafts != nil,
		"num_draft_tokens":        s.NumDraftTokens != nil,
		"num_accepted_tokens":     s.NumAcceptedTokens != nil,
		"acceptance_per_position": s.PerPosition != nil,
	}
}

func TestSub(t *testing.T) {
	t.Parallel()
	before := specdec.Counters{Drafts: 10, DraftTokens: 30, Accepted: 15, PerPos: []int64{9, 6}}
	tests := []struct {
		name          string
		after, before specdec.Counters
		want          specdec.Counters
		fell          bool
	}{
		{name: "grown", after: specdec.Counters{Drafts: 12, DraftTokens: 36, Accepted: 18, PerPos: []int64{11, 7}}, before: before,
			want: specdec.Counters{Drafts: 2, DraftTokens: 6, Accepted: 3, PerPos: []int64{2, 1}}},
		{name: "unmoved", after: before, before: before, want: specdec.Counters{PerPos: []int64{0, 0}}},
		{name: "nothing before", after: before, want: before},
		{name: "a position is new", after: specdec.Counters{Drafts: 10, DraftTokens: 30, Accepted: 17, PerPos: []int64{9, 6, 2}}, before: before,
			want: specdec.Counters{Accepted: 2, PerPos: []int64{0, 0, 2}}},
		{name: "drafts fell", after: specdec.Counters{Drafts: 9, DraftTokens: 36, Accepted: 18, PerPos: []int64{11, 7}}, before: before, fell: true},
		{name: "draft tokens fell", after: specdec.Counters{Drafts: 12, DraftTokens: 29, Accepted: 18, PerPos: []int64{11, 7}}, before: before, fell: true},
		{name: "accepted fell", after: specdec.Counters{Drafts: 12, DraftTokens: 36, Accepted: 14, PerPos: []int64{11, 7}}, before: before, fell: true},
		{name: "a position fell", after: specdec.Counters{Drafts: 12, DraftTokens: 36, Accepted: 18, PerPos: []int64{11, 5}}, before: before, fell: true},
		{name: "a position is gone", after: specdec.Counters{Drafts: 12, DraftTokens: 36, Accepted: 18, PerPos: []int64{11}}, before: before, fell: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.after.Sub(tt.before)
			if errors.Is(err, specdec.ErrCountersFell) != tt.fell {
				t.Fatalf("error %v, want one about fallen counters: %v", err, tt.fell)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("difference (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAddKeepsItsParts(t *testing.T) {
	t.Parallel()
	a := specdec.Counters{Drafts: 1, DraftTokens: 3, Accepted: 2, PerPos: []int64{1, 1}}
	b := specdec.Counters{Drafts: 2, DraftTokens: 6, Accepted: 1, PerPos: []int64{1}}
	want := specdec.Counters{Drafts: 3, DraftTokens: 9, Accepted: 3, PerPos: []int64{2, 1}}
	for name, got := range map[string]specdec.Counters{"a+b": a.Add(b), "b+a": b.Add(a), "0+a+b": specdec.Counters{}.Add(a).Add(b)} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if a.PerPos[0] != 1 || b.PerPos[0] != 1 {
		t.Errorf("Add changed its parts: %v, %v", a, b)
	}
}

func TestFromCounters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		in           specdec.Counters
		length, rate *float64
		perPosition  []float64
		codes        []string
	}{
		{name: "ordinary", in: specdec.Counters{Drafts: 100, DraftTokens: 300, Accepted: 160, PerPos: []int64{80, 50, 30}},
			length: ptr(2.6), rate: ptr(160.0 / 300), perPosition: []float64{0.8, 0.5, 0.3}},
		{name: "no positions", in: specdec.Counters{Drafts: 4, DraftTokens: 8, Accepted: 2}, length: ptr(1.5), rate: ptr(0.25)},
		{name: "nothing accepted", in: specdec.Counters{Drafts: 4, DraftTokens: 8, PerPos: []int64{0, 0}}, length: ptr(1.0), rate: ptr(0.0), perPosition: []float64{0, 0}},
		{name: "all accepted", in: specdec.Counters{Drafts: 4, DraftTokens: 8, Accepted: 8}, length: ptr(3.0), rate: ptr(1.0)},
		{name: "no drafts", in: specdec.Counters{PerPos: []int64{0, 0}}, codes: []string{specdec.CodeNothingDrafted}},
		{name: "no draft tokens", in: specdec.Counters{Drafts: 30}, length: ptr(1.0), codes: []string{specdec.CodeNoDraftTokens}},
		{name: "more accepted than proposed", in: specdec.Counters{Drafts: 4, DraftTokens: 8, Accepted: 9}, codes: []string{specdec.CodeInconsistent}},
		{name: "tokens without a draft", in: specdec.Counters{DraftTokens: 8}, codes: []string{specdec.CodeInconsistent}},
		{name: "positions do not add up", in: specdec.Counters{Drafts: 4, DraftTokens: 8, Accepted: 5, PerPos: []int64{3, 1}},
			length: ptr(2.25), rate: ptr(0.625), codes: []string{specdec.CodeInconsistent}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := specdec.FromCounters(specdec.SourceCounters, tt.in)
			want := specdec.Stats{
				Source: specdec.SourceCounters, AcceptLength: tt.length, AcceptanceRate: tt.rate, PerPosition: tt.perPosition,
				NumDrafts: &tt.in.Drafts, NumDraftTokens: &tt.in.DraftTokens, NumAcceptedTokens: &tt.in.Accepted,
			}
			var codes []string
			for _, n := range got.Notes {
				codes = append(codes, n.Code)
			}
			if diff := cmp.Diff(tt.codes, codes); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
			got.Notes = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPositionsAddUpToTheLength(t *testing.T) {
	t.Parallel()
	s := specdec.FromCounters(specdec.SourceCounters, specdec.Counters{Drafts: 573, DraftTokens: 2231, Accepted: 1420, PerPos: []int64{483, 425, 368, 144}})
	sum := 1.0
	for _, p := range s.PerPosition {
		sum += p
	}
	if math.Abs(sum-*s.AcceptLength) > 1e-12 {
		t.Errorf("1 + positions = %v, accept_length = %v", sum, *s.AcceptLength)
	}
}

func TestFromAverage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		length float64
		steps  *int
		rate   *float64
		code   string
	}{
		{name: "ordinary", length: 2.9, steps: ptr(3), rate: ptr((2.9 - 1) / 3.0)},
		{name: "all accepted", length: 4, steps: ptr(3), rate: ptr(1.0)},
		{name: "below one", length: 0.9, steps: ptr(3), rate: ptr(0.0)},
		{name: "no steps", length: 2.9, code: specdec.CodeNoNumSteps},
		{name: "zero steps", length: 2.9, steps: ptr(0), code: specdec.CodeNoNumSteps},
		{name: "steps that cannot be", length: 3.5, steps: ptr(2), code: specdec.CodeInconsistent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := specdec.FromAverage(specdec.SourceCumulative, tt.length, tt.steps)
			if got.AcceptLength == nil || *got.AcceptLength != tt.length || got.Source != specdec.SourceCumulative {
				t.Errorf("stats = %+v, want accept_length %v", got, tt.length)
			}
			if diff := cmp.Diff(tt.rate, got.AcceptanceRate); diff != "" {
				t.Errorf("rate (-want +got):\n%s", diff)
			}
			code := ""
			for _, n := range got.Notes {
				code += n.Code
			}
			if code != tt.code {
				t.Errorf("codes %q, want %q", code, tt.code)
			}
		})
	}
}

func TestEveryNilHasOneReason(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]specdec.Stats{
		"missing":         specdec.Missing(specdec.CodeUnreachable, "no connection"),
		"counters":        specdec.FromCounters(specdec.SourceCounters, specdec.Counters{Drafts: 3}),
		"nothing drafted": specdec.FromCounters(specdec.SourceCounters, specdec.Counters{}),
		"average":         specdec.FromAverage(specdec.SourceCumulative, 2, nil),
	} {
		s.Explain(specdec.CodeNotReported, "not told")
		s.Explain(specdec.CodeNotReported, "said once already")
		noted := map[string]int{}
		for _, n := range s.Notes {
			for _, c := range n.Columns {
				noted[c]++
			}
		}
		for c, set := range columns(s) {
			if want := map[bool]int{true: 0, false: 1}[set]; noted[c] != want {
				t.Errorf("%s: %s has %d notes, want %d: %+v", name, c, noted[c], want, s.Notes)
			}
		}
	}
}

func TestDoubtMarksWhatWasMeasured(t *testing.T) {
	t.Parallel()
	s := specdec.FromAverage(specdec.SourceCumulative, 2.5, ptr(3))
	s.Doubt(specdec.CodeContaminated, "blended")
	want := []specdec.Note{{Code: "contaminated", Columns: []string{"accept_length", "acceptance_rate"}, Text: "blended"}}
	if diff := cmp.Diff(want, s.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	m := specdec.Missing(specdec.CodeUnreachable, "no connection")
	m.Doubt(specdec.CodeContaminated, "blended")
	if len(m.Notes) != 1 {
		t.Errorf("a pass without values is doubted: %+v", m.Notes)
	}
}

func ExampleFromCounters() {
	before := specdec.Counters{Drafts: 100, DraftTokens: 300, Accepted: 180}
	after := specdec.Counters{Drafts: 200, DraftTokens: 600, Accepted: 372}
	pass, err := after.Sub(before)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := specdec.FromCounters(specdec.SourceCounters, pass)
	fmt.Println(*s.AcceptLength, *s.AcceptanceRate)
	// Output: 2.92 0.64
}

func ExampleCounters_Sub() {
	before := specdec.Counters{Drafts: 100, DraftTokens: 300, Accepted: 180}
	after := specdec.Counters{Drafts: 7, DraftTokens: 21, Accepted: 12}
	_, err := after.Sub(before)
	fmt.Println(err)
	// Output: counters fell during the pass: the server restarted (drafts by 93)
}

func ExampleFromAverage() {
	steps := 3
	s := specdec.FromAverage(specdec.SourceCumulative, 2.5, &steps)
	fmt.Println(*s.AcceptLength, *s.AcceptanceRate)
	// Output: 2.5 0.5
}

func ExampleMissing() {
	s := specdec.Missing(specdec.CodeSpeculationOff, "the server runs without speculation")
	fmt.Println(s.AcceptLength, s.Notes[0].Columns[0], s.Notes[0].Text)
	// Output: <nil> accept_length the server runs without speculation
}
