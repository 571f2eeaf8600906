package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// chunk is what is looked at in one event of a stream, or in a whole answer, all
// of it as JSON. Its parts are parts of the scanned text.
type chunk struct {
	err       []byte // the error field
	object    []byte
	delta     []byte // choices[0].delta, or .message in an answer that is not streamed
	hasChoice bool
	fields    []member // the top level but for choices and what differs each time
	choice    []member // choices[0] but for delta, message and what is said per token
}

type member struct{ key, value []byte } // the key with its quotes

func (c *chunk) reset() {
	*c = chunk{fields: c.fields[:0], choice: c.choice[:0]}
}

// release lets go of the text that was scanned last.
func (c *chunk) release() {
	c.reset()
	clear(c.fields[:cap(c.fields)])
	clear(c.choice[:cap(c.choice)])
}

var errNoObject = errors.New("it is no JSON object")

// scan finds the parts of text. Where the walk over the bytes is not sure, it is
// encoding/json that decides.
func (c *chunk) scan(text []byte) error {
	if c.walk(text) {
		return nil
	}
	plain, err := plainKeys(text)
	if err != nil {
		return err
	}
	if !c.walk(plain) {
		return errNoObject
	}
	return nil
}

// walk is scan on JSON whose keys, where we look, are written without escapes.
func (c *chunk) walk(text []byte) bool {
	c.reset()
	var choices []byte
	m := membersOf(text)
	for key, value, ok := m.next(); ok; key, value, ok = m.next() {
		switch string(key) {
		case `"id"`, `"created"`, `"system_fingerprint"`, `"service_tier"`:
		case `"choices"`:
			choices = value
		case `"error"`:
			c.err = value
		case `"object"`:
			c.object = value
		default:
			c.fields = put(c.fields, key, value)
		}
	}
	if !m.whole() {
		return false
	}
	first := firstOf(choices)
	if first == nil {
		return true
	}
	c.hasChoice = true
	if first[0] != '{' {
		return true
	}
	m = membersOf(first)
	for key, value, ok := m.next(); ok; key, value, ok = m.next() {
		switch string(key) {
		case `"index"`, `"logprobs"`, `"token_ids"`, `"routed_experts"`:
		case `"delta"`, `"message"`:
			c.delta = value
		default:
			c.choice = put(c.choice, key, value)
		}
	}
	return m.whole()
}

// put sets a member. Of a key that an object names twice the last value counts.
func put(list []member, key, value []byte) []member {
	i := slices.IndexFunc(list, func(m member) bool { return bytes.Equal(m.key, key) })
	if i >= 0 {
		list[i].value = value
		return list
	}
	return append(list, member{key, value})
}

// refuses tells an event that is an error in place of a part of an answer.
func (c *chunk) refuses() bool { return !blank(c.err) || string(c.object) == `"error"` }

// hasText tells a chunk that a user sees something of: content, reasoning or a
// tool's call. The first chunk of most servers only names the role.
func (c *chunk) hasText() (bool, error) {
	if len(c.delta) == 0 || c.delta[0] != '{' {
		return false, nil
	}
	m := membersOf(c.delta)
	var content, reasoning, thoughts, calls bool
	for key, value, ok := m.next(); ok; key, value, ok = m.next() {
		switch string(key) {
		case `"content"`:
			content = holdsSomething(value)
		case `"reasoning"`:
			reasoning = holdsSomething(value)
		case `"reasoning_content"`:
			thoughts = holdsSomething(value)
		case `"tool_calls"`:
			calls = holdsSomething(value)
		}
	}
	if m.failed {
		plain, err := plainKeys(c.delta)
		if err != nil {
			return false, err
		}
		return (&chunk{delta: plain}).hasText()
	}
	return content || reasoning || thoughts || calls, nil
}

// text is what the delta or message says, thoughts first.
func (c *chunk) text() string {
	var d struct {
		Content   json.RawMessage `json:"content"`
		Reasoning json.RawMessage `json:"reasoning"`
		Thoughts  json.RawMessage `json:"reasoning_content"`
	}
	if len(c.delta) == 0 || json.Unmarshal(c.delta, &d) != nil {
		return ""
	}
	var thoughts, content string
	if json.Unmarshal(d.Reasoning, &thoughts) != nil || thoughts == "" {
		_ = json.Unmarshal(d.Thoughts, &thoughts) // some servers say it under both names; what is no text is none
	}
	_ = json.Unmarshal(d.Content, &content)
	return thoughts + content
}

// plainKeys is an object written anew, with its keys, and those of choices[0] and
// of its delta, in their shortest form.
func plainKeys(text []byte) ([]byte, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errNoObject
	}
	var list []json.RawMessage
	if json.Unmarshal(object["choices"], &list) == nil && len(list) > 0 {
		if first, err := plainKeys(list[0]); err == nil {
			list[0] = first
		}
		rewritten, err := json.Marshal(list)
		if err != nil {
			return nil, err
		}
		object["choices"] = rewritten
	}
	// What Marshal escapes in a key, no name that we look for has; the walk must
	// not fail for it a second time.
	for key := range object {
		if quoted, err := json.Marshal(key); err != nil || bytes.IndexByte(quoted, '\\') >= 0 {
			delete(object, key)
		}
	}
	return json.Marshal(object)
}
