package specdec

import (
	"errors"
	"fmt"
)

// ErrCountersFell says that a counter is lower than it was: the server (or one
// of its engines) restarted, and what it counted before that is lost.
var ErrCountersFell = errors.New("counters fell during the pass: the server restarted")

// Counters is what a server has counted about its drafts, either since it
// started or, as a difference, within a pass. The bonus token of a verify step is
// in none of them.
type Counters struct {
	Drafts      int64   // verify steps that had a draft
	DraftTokens int64   // proposed
	Accepted    int64   // accepted of the proposed
	PerPos      []int64 // accepted by position in the draft; nil: not counted
}

// Sub is what was counted since before, or ErrCountersFell. Positions that
// before lacks count from zero.
func (c Counters) Sub(before Counters) (Counters, error) {
	d := Counters{
		Drafts:      c.Drafts - before.Drafts,
		DraftTokens: c.DraftTokens - before.DraftTokens,
		Accepted:    c.Accepted - before.Accepted,
	}
	for _, x := range []struct {
		name string
		diff int64
	}{{"drafts", d.Drafts}, {"draft tokens", d.DraftTokens}, {"accepted tokens", d.Accepted}} {
		if x.diff < 0 {
			return Counters{}, fmt.Errorf("%w (%s by %d)", ErrCountersFell, x.name, -x.diff)
		}
	}
	if len(c.PerPos) < len(before.PerPos) {
		return Counters{}, fmt.Errorf("%w (%d of %d positions are left)", ErrCountersFell, len(c.PerPos), len(before.PerPos))
	}
	if c.PerPos != nil {
		d.PerPos = make([]int64, len(c.PerPos))
	}
	copy(d.PerPos, c.PerPos)
	for i, n := range before.PerPos {
		if d.PerPos[i] -= n; d.PerPos[i] < 0 {
			return Counters{}, fmt.Errorf("%w (position %d by %d)", ErrCountersFell, i, -d.PerPos[i])
		}
	}
	return d, nil
}

// Add is both together, as for the engines of one data-parallel server. The
// receiver and o stay as they are.
func (c Counters) Add(o Counters) Counters {
	sum := Counters{
		Drafts:      c.Drafts + o.Drafts,
		DraftTokens: c.DraftTokens + o.DraftTokens,
		Accepted:    c.Accepted + o.Accepted,
	}
	if n := max(len(c.PerPos), len(o.PerPos)); n > 0 {
		sum.PerPos = make([]int64, n)
	}
	for _, part := range [][]int64{c.PerPos, o.PerPos} {
		for i, n := range part {
			sum.PerPos[i] += n
		}
	}
	return sum
}

// FromCounters is the acceptance that counted drafts amount to:
//
//	accept_length           = 1 + accepted / drafts   (1: the bonus token)
//	acceptance_rate         = accepted / draft tokens
//	acceptance_per_position = accepted at the position / drafts
//
// so 1 + the sum over positions is accept_length. Without drafts there is none of
// them; drafts without a token are verify steps of the bonus token alone, of
// accept_length 1 and no rate.
func FromCounters(source Source, c Counters) Stats {
	s := Stats{
		Source:            source,
		NumDrafts:         &c.Drafts,
		NumDraftTokens:    &c.DraftTokens,
		NumAcceptedTokens: &c.Accepted,
	}
	if reason := c.contradiction(); reason != "" {
		s.explainMeasured(CodeInconsistent, "the counters contradict each other: "+reason)
		return s
	}
	if c.Drafts == 0 {
		s.explainMeasured(CodeNothingDrafted, "the draft counters exist but did not move: nothing was drafted")
		return s
	}
	drafts := float64(c.Drafts)
	s.AcceptLength = ptr(1 + float64(c.Accepted)/drafts)
	if c.DraftTokens > 0 {
		s.AcceptanceRate = ptr(float64(c.Accepted) / float64(c.DraftTokens))
	} else {
		s.note(CodeNoDraftTokens, []string{ColumnAcceptanceRate},
			fmt.Sprintf("%d drafts without a single draft token: there is nothing to accept", c.Drafts))
	}
	s.perPosition(c)
	return s
}

// perPosition fills in PerPosition from counters that may lack it.
func (s *Stats) perPosition(c Counters) {
	if c.PerPos == nil {
		return
	}
	var sum int64
	rates := make([]float64, len(c.PerPos))
	for i, n := range c.PerPos {
		sum += n
		rates[i] = float64(n) / float64(c.Drafts)
	}
	if sum != c.Accepted {
		s.note(CodeInconsistent, []string{ColumnPerPosition},
			fmt.Sprintf("the positions add up to %d accepted tokens, the server counted %d", sum, c.Accepted))
		return
	}
	s.PerPosition = rates
}

// contradiction is what cannot be true of one server's counters, empty when
// nothing is wrong.
func (c Counters) contradiction() string {
	switch {
	case c.Accepted > c.DraftTokens:
		return fmt.Sprintf("%d tokens accepted of %d proposed", c.Accepted, c.DraftTokens)
	case c.Drafts == 0 && c.DraftTokens > 0:
		return fmt.Sprintf("%d draft tokens in no draft", c.DraftTokens)
	}
	return ""
}

func ptr[T any](v T) *T { return &v }
