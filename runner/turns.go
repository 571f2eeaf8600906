package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/specsweep/specsweep/runner/dataset"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/openai"
)

// conversations continues the prompts of a pass that have further turns: each
// request holds all messages before it, answers included.
//
// A prompt's turns are made one after the other, so its history needs no lock.
type conversations struct {
	body    openai.Body // as the probe left it
	prompts []dataset.Prompt
	history []json.RawMessage // by prompt: the messages so far, a JSON list
}

// follow puts the further turns of the prompts into a pass's options and gives how
// many requests the pass makes. It changes nothing for prompts of one turn.
func follow(o *load.Options, body openai.Body, prompts []dataset.Prompt) int {
	c := &conversations{body: body, prompts: prompts}
	total, longest := 0, 1
	turns := make([]int, len(prompts))
	for i, p := range prompts {
		turns[i] = 1 + len(p.Next)
		total, longest = total+turns[i], max(longest, turns[i])
		c.history = append(c.history, p.Messages)
	}
	if longest > 1 {
		o.Turns, o.Follow = turns, c.next
	}
	return total
}

// next is the body of a prompt's turn, now that the one before is answered.
func (c *conversations) next(prompt, turn int, answer *openai.Completion) ([]byte, error) {
	content, err := contentOf(answer)
	if err != nil {
		return nil, fmt.Errorf("going on after turn %d: %w", turn, err)
	}
	c.history[prompt] = appended(c.history[prompt], content, c.prompts[prompt].Next[turn-1])
	return c.body.Encode(c.history[prompt])
}

// contentOf is the content of an answer's first choice, a JSON string as it came.
// A model that has answered nothing, or thought only, gives null: that is an empty
// turn of the conversation, as thoughts are none of it. A streamed answer's body has no
// message.
func contentOf(answer *openai.Completion) (json.RawMessage, error) {
	if answer.Streamed {
		return json.Marshal(answer.Content)
	}
	var a struct {
		Choices []struct {
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(answer.Body, &a); err != nil || len(a.Choices) == 0 {
		return nil, errors.New("the answer has no message that a further turn could follow")
	}
	content := a.Choices[0].Message.Content
	switch {
	case len(content) == 0 || string(content) == "null":
		return json.RawMessage(`""`), nil
	case content[0] != '"':
		return nil, errors.New("the content of the answer is no text")
	}
	return content, nil
}

// appended is the list with the answer and the turn that follows it.
func appended(list, content, turn json.RawMessage) json.RawMessage {
	head := bytes.TrimSuffix(bytes.TrimSpace(list), []byte("]"))
	return bytes.Join([][]byte{head, []byte(`,{"role":"assistant","content":`), content, []byte(`},`), turn, []byte(`]`)}, nil)
}
