package dataset

import (
	"encoding/json"
	"fmt"

	"github.com/specsweep/specsweep/plan"
)

// furtherTurns are the user messages after the first of a prompt column that holds
// a list, as MT-Bench keeps a conversation, or why the row is to be skipped: a turn
// that is no text would leave a hole in the conversation. It gives none unless the
// dataset's turns are all.
func (c *converter) furtherTurns(r row) (next []json.RawMessage, skip string) {
	if c.turns != plan.TurnsAll || c.prompt == nil {
		return nil, ""
	}
	var turns []json.RawMessage
	if json.Unmarshal(r.columns[c.prompt.name], &turns) != nil {
		return nil, "" // a text: one turn
	}
	for i := 1; i < len(turns); i++ {
		text, skip := textOf(turns[i])
		if skip != "" {
			return nil, fmt.Sprintf("turn %d: %s", i+1, skip)
		}
		next = append(next, userTurn(text))
	}
	return next, ""
}

// userTurn is a user message that asks the text, a JSON string.
func userTurn(text json.RawMessage) json.RawMessage {
	list := userMessage(text)
	return list[1 : len(list)-1]
}
