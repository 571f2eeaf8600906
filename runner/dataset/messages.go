package dataset

import (
	"bytes"
	"encoding/json"
)

// Why a row's list of messages is of no use.
const (
	skipNoMessages    = "no messages"
	skipNoList        = "messages are not a list"
	skipUneven        = "the lists of messages differ in length"
	skipNoObject      = "a message is not an object"
	skipNoRole        = "a message has no role"
	skipNoContent     = "a message has no content"
	skipOnlyAssistant = "only assistant messages"
	skipNoUser        = "no user message"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
	roleTool      = "tool"
)

// message is one turn: its role, and the JSON object that is sent for it.
type message struct {
	role  string
	raw   json.RawMessage
	empty bool // it lacks the content that it must have to be sent
}

// messagesOf is the conversation up to the last turn that is not the
// assistant's, which is what the model is asked to answer. Every field of the
// turns that are left is as it was read; turns in ShareGPT's spelling are
// converted.
func messagesOf(cell json.RawMessage) (messages json.RawMessage, skip string) {
	raws, skip := turnsOf(cell)
	if skip != "" {
		return nil, skip
	}
	if len(raws) == 0 {
		return nil, skipNoMessages
	}
	turns := make([]message, len(raws))
	for i, raw := range raws {
		if turns[i], skip = messageOf(raw); skip != "" {
			return nil, skip
		}
	}
	for len(turns) > 0 && turns[len(turns)-1].role == roleAssistant {
		turns = turns[:len(turns)-1]
	}
	if len(turns) == 0 {
		return nil, skipOnlyAssistant
	}
	for _, m := range turns {
		if m.empty {
			return nil, skipNoContent
		}
	}
	return joinMessages(turns)
}

// messageOf reads one turn.
func messageOf(raw json.RawMessage) (m message, skip string) {
	// A map, since a struct's fields would also match keys in another case.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return message{}, skipNoObject
	}
	role, ok := stringOf(fields["role"])
	if !ok {
		return shareGPT(fields)
	}
	return message{role: role, raw: raw, empty: role == roleUser && isNull(fields["content"])}, ""
}

// joinMessages makes the array of a request.
func joinMessages(turns []message) (messages json.RawMessage, skip string) {
	var buf bytes.Buffer
	asked := false
	for i, m := range turns {
		asked = asked || m.role == roleUser
		if i == 0 {
			buf.WriteByte('[')
		} else {
			buf.WriteByte(',')
		}
		// The raw message is part of a text that was parsed.
		if err := json.Compact(&buf, m.raw); err != nil {
			return nil, skipNoObject
		}
	}
	if !asked {
		return nil, skipNoUser
	}
	buf.WriteByte(']')
	return buf.Bytes(), ""
}

// stringOf is the value of a JSON string.
func stringOf(raw json.RawMessage) (string, bool) {
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return "", false
	}
	return *s, true
}

// isNull says whether a field is null or not there.
func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}
