package sglang

import (
	"encoding/json"
	"fmt"

	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// The counts of one answer, under the names that they have had, the newest first
// (SpecTokensDetails of SGLang's protocol, and meta_info of its tokenizer manager).
// The number of verify steps is 0 also where it is not counted, as with n-gram
// drafts.
var (
	namesVerify    = [...]string{"spec_verify_ct"}
	namesCorrect   = [...]string{"spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num"}
	namesProposed  = [...]string{"spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num"}
	namesHistogram = [...]string{"spec_correct_drafts_histogram", "spec_accept_histogram"} // verify steps by how many drafts were correct
)

// answer is where an answer holds them.
type answer struct {
	SGLExt struct {
		Details object `json:"spec_tokens_details"`
	} `json:"sglext"`
	Choices []struct {
		MetaInfo object `json:"meta_info"`
	} `json:"choices"`
}

// readDetails is the counts that an answer carries, false where it has none that
// make sense. Counters.PerPos is nil where the histogram is missing or does not
// fit the counts; DraftTokens is zero where only the correct ones are told.
func readDetails(body []byte) (specdec.Counters, bool) {
	var a answer
	if json.Unmarshal(body, &a) != nil {
		return specdec.Counters{}, false
	}
	from := a.SGLExt.Details
	if from == nil && len(a.Choices) == 1 {
		from = a.Choices[0].MetaInfo
	}
	verify, correct, proposed := count(from, namesVerify[:]), count(from, namesCorrect[:]), count(from, namesProposed[:])
	if verify <= 0 || correct < 0 || proposed > 0 && correct > proposed {
		return specdec.Counters{}, false
	}
	c := specdec.Counters{Drafts: verify, Accepted: correct, DraftTokens: max(0, proposed)}
	var histogram []int64
	if json.Unmarshal(value(from, namesHistogram[:]), &histogram) == nil {
		c.PerPos = positions(histogram, c)
	}
	return c, true
}

// value is the first of the names that is there.
func value(o object, names []string) json.RawMessage {
	for _, name := range names {
		if present(o[name]) {
			return o[name]
		}
	}
	return nil
}

// maxCount keeps sums of counts away from an overflow; no answer is that long.
const maxCount = 1 << 40

// count is a whole number that is no absurdity, else -1.
func count(o object, names []string) int64 {
	n := integer(value(o, names))
	if n == nil || *n < 0 || *n > maxCount {
		return -1
	}
	return int64(*n)
}

// positions turns verify steps by number of correct drafts into accepted drafts by
// position: position i was accepted in the steps with more than i correct ones.
func positions(histogram []int64, c specdec.Counters) []int64 {
	if len(histogram) < 2 {
		return nil
	}
	perPos := make([]int64, len(histogram)-1)
	var steps, correct int64
	for i := len(histogram) - 1; i >= 0; i-- {
		if histogram[i] < 0 {
			return nil
		}
		steps += histogram[i]
		if i > 0 {
			perPos[i-1] = steps
			correct += steps
		}
	}
	if steps != c.Drafts || correct != c.Accepted {
		return nil
	}
	return perPos
}

// tally is what the answers of a pass say together.
type tally struct {
	total       specdec.Counters
	requests    []specdec.Request
	answers     int   // that were read to their end
	tokens      int64 // in them, as usage tells
	silent      int   // answers that carry no counts, of more than one token
	decoded     int64 // tokens of the answers that carry counts, without each one's first
	noUsage     bool  // one of these tells no tokens
	noProposed  bool  // an answer tells no proposed drafts
	noPositions bool  // an answer tells no histogram that fits
}

// add takes one answer; the counts are looked for when asked.
func (t *tally) add(c *openai.Completion, asked bool) {
	t.answers++
	if c.CompletionTokens != nil {
		t.tokens += int64(*c.CompletionTokens)
	}
	if !asked {
		return
	}
	d, ok := readDetails(c.Body)
	if ok && c.CompletionTokens != nil && d.Drafts > int64(*c.CompletionTokens) {
		ok = false // a verify step emits a token at least
	}
	if !ok {
		// The first token comes from the prefill, so an answer of one token has no
		// verify step to tell of.
		if c.CompletionTokens == nil || *c.CompletionTokens != 1 {
			t.silent++
		}
		return
	}
	t.requests = append(t.requests, specdec.Request{Index: c.Index, Drafts: d.Drafts, DraftTokens: d.DraftTokens, Accepted: d.Accepted})
	if c.CompletionTokens != nil {
		t.decoded += int64(*c.CompletionTokens) - 1
	} else {
		t.noUsage = true
	}
	t.noProposed = t.noProposed || d.DraftTokens == 0
	t.noPositions = t.noPositions || d.PerPos == nil
	t.total = t.total.Add(d)
}

// stats is the acceptance of the source request, or why there is none.
func (t *tally) stats() (specdec.Stats, *specdec.Note) {
	if len(t.requests) == 0 {
		return specdec.Stats{}, &specdec.Note{Code: specdec.CodeNotReported,
			Text: fmt.Sprintf("none of %d answers carries counts of its drafts (a router may drop the field that asks for them)", t.answers)}
	}
	c := t.total
	if t.noPositions {
		c.PerPos = nil
	}
	if t.noProposed {
		c.DraftTokens = c.Accepted // not contradicted, and taken back below
	}
	s := specdec.FromCounters(specdec.SourceRequest, c)
	if t.noProposed {
		s.AcceptanceRate, s.NumDraftTokens = nil, nil
		s.Notes = nil // whatever it said of the rate, this is why there is none
		s.Explain(specdec.CodeNotReported, "the answers do not tell how many tokens were proposed")
	}
	s.Requests = t.requests
	if !t.noUsage && t.decoded > 0 {
		perStep := float64(t.decoded) / float64(c.Drafts) // every decode step of SGLang is a verify step
		s.TokensPerStep = &perStep
	}
	if t.silent > 0 {
		s.Doubt(specdec.CodePartial, fmt.Sprintf("%d of %d answers carry no counts of their drafts and are not in it", t.silent, t.answers))
	}
	return s, nil
}
