package llamacpp

import (
	"encoding/json"
	"fmt"

	"github.com/specsweep/specsweep/runner/specdec"
)

// timings is what answers say about themselves, added up: the object `timings`
// beside `usage`. draft_n and draft_n_accepted are left out of it when nothing was
// drafted, so their absence is 0.
type timings struct {
	answers   int // with timings
	silent    int // without
	predicted int64
	drafted   int64 // proposed tokens
	accepted  int64
}

// timingsOf reads one answer; false when it has no timings that make sense.
func timingsOf(body []byte) (timings, bool) {
	var a struct {
		Timings *struct {
			Predicted *int64 `json:"predicted_n"`
			Drafted   int64  `json:"draft_n"`
			Accepted  int64  `json:"draft_n_accepted"`
		} `json:"timings"`
	}
	if err := json.Unmarshal(body, &a); err != nil || a.Timings == nil || a.Timings.Predicted == nil {
		return timings{}, false
	}
	t := timings{answers: 1, predicted: *a.Timings.Predicted, drafted: a.Timings.Drafted, accepted: a.Timings.Accepted}
	if t.predicted < 0 || t.accepted < 0 || t.accepted > t.drafted {
		return timings{}, false
	}
	return t, true
}

func (t *timings) add(o timings, ok bool) {
	if !ok {
		t.silent++
		return
	}
	t.answers += o.answers
	t.predicted += o.predicted
	t.drafted += o.drafted
	t.accepted += o.accepted
}

// stats is what the answers add up to. They tell tokens and not drafts, so there
// is an acceptance_rate but no accept_length; noDrafts says so.
func (t timings) stats(noDrafts string) specdec.Stats {
	s := specdec.Stats{Source: specdec.SourceRequest, NumDraftTokens: &t.drafted, NumAcceptedTokens: &t.accepted}
	if t.drafted == 0 {
		s = specdec.FromCounters(specdec.SourceRequest, specdec.Counters{})
	} else {
		rate := float64(t.accepted) / float64(t.drafted)
		s.AcceptanceRate = &rate
		s.Notes = append(s.Notes, specdec.Note{
			Code:    specdec.CodeNotReported,
			Columns: []string{specdec.ColumnAcceptLength, specdec.ColumnNumDrafts, specdec.ColumnPerPosition},
			Text:    noDrafts,
		})
	}
	perStep(&s, t.predicted, t.accepted)
	if t.silent > 0 {
		s.Doubt(specdec.CodeNotReported, fmt.Sprintf("%d of %d answers carry no timings", t.silent, t.silent+t.answers))
	}
	return s
}
