package runner

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/specsweep/specsweep/runner/openai"
)

// answers keeps what a pass's prompts were answered with, to compare it with the
// baseline's. Bodies are only kept while the clock runs and read after it: a slot
// must send its next request at once.
type answers struct {
	bodies [][]byte
	texts  []string // of streamed answers, whose bodies are not whole
}

// newAnswers keeps the answers of n prompts.
func newAnswers(n int) *answers { return &answers{make([][]byte, n), make([]string, n)} }

// keep takes an answer; of a conversation's turns the last one counts, and a turn
// that failed leaves none. Calls for one prompt come one after the other. A nil
// *answers keeps nothing.
func (a *answers) keep(c *openai.Completion) {
	if a == nil {
		return
	}
	a.bodies[c.Index], a.texts[c.Index] = nil, ""
	switch {
	case c.Err != nil:
	case c.Streamed:
		a.texts[c.Index] = c.Text
	default:
		a.bodies[c.Index] = c.Body
	}
}

// sums are the hashes of the texts by prompt; nil where there is no text.
func (a *answers) sums() []*[sha256.Size]byte {
	if a == nil {
		return nil
	}
	out := make([]*[sha256.Size]byte, len(a.bodies))
	for i, body := range a.bodies {
		text := answerText(body)
		if a.texts[i] != "" {
			text = []byte(a.texts[i])
		}
		if text != nil {
			sum := sha256.Sum256(text)
			out[i] = &sum
		}
	}
	return out
}

// answerText is what the model said in the first choice, thoughts included.
// Everything else in an answer (ids, times, usage) differs each time.
func answerText(body []byte) []byte {
	var a struct {
		Choices []struct {
			Message struct {
				Content   any `json:"content"`
				Reasoning any `json:"reasoning"`
				Thoughts  any `json:"reasoning_content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if json.Unmarshal(body, &a) != nil || len(a.Choices) == 0 {
		return nil
	}
	text, err := json.Marshal(a.Choices[0].Message)
	if err != nil {
		return nil
	}
	return text
}

// matching is the share of the prompts answered on both sides whose answers are
// equal; nil when there is none.
func matching(a, b []*[sha256.Size]byte) *float64 {
	both, equal := 0, 0
	for i := range min(len(a), len(b)) {
		if a[i] == nil || b[i] == nil {
			continue
		}
		both++
		if *a[i] == *b[i] {
			equal++
		}
	}
	if both == 0 {
		return nil
	}
	return ptr(float64(equal) / float64(both))
}
