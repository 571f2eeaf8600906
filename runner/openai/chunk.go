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

	scanned []byte // all of it
	// What the last event had before and behind its delta: see repeats.
	before, behind []byte
	deltas         int  // how many values delta was given
	isMessage      bool // delta is .message
}

type member struct{ key, value []byte } // the key with its quotes

func (c *chunk) reset() {
	*c = chunk{fields: c.fields[:0], choice: c.choice[:0], before: c.before[:0], behind: c.behind[:0]}
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
	c.deltas = 0 // the delta is no part of what the server sent
	return nil
}

// walk is scan on JSON whose keys, where we look, are written without escapes.
func (c *chunk) walk(text []byte) bool {
	c.reset()
	c.scanned = text
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
			c.deltas++
			isMessage := key[1] == 'm'
			if c.delta != nil && isMessage != c.isMessage && string(value) == "null" {
				break // some servers name both, and fill one
			}
			c.delta, c.isMessage = value, isMessage
		default:
			c.choice = put(c.choice, key, value)
		}
	}
	return m.whole()
}

// remember keeps what stands around the delta of the text that was scanned last.
func (c *chunk) remember() {
	text := c.scanned
	if c.deltas != 1 || c.delta[0] != '{' || len(text) > maxRemembered {
		return
	}
	// A slice of text shares its end, so the capacities tell where it begins.
	at := cap(text) - cap(c.delta)
	c.before = append(c.before, text[:at]...)
	c.behind = append(c.behind, text[at+len(c.delta):]...)
}

// maxRemembered is the size from which an event is not remembered: of those that are
// so much more than a piece of a word, no two are the same.
const maxRemembered = 4 << 10

// repeats tells an event that differs from the last one that was scanned in nothing
// but its delta, and sets that: a stream's events are mostly such, and comparing is
// a quarter of the work of scanning. It is no guess. What stands before the delta
// leads a walk to the same place, the delta ends where it ends, and from there the
// walk goes on as before: all other parts have the values that they had. Those are
// not set again; they are parts of a text that has gone.
func (c *chunk) repeats(text []byte) bool {
	n := len(c.before)
	if n == 0 || !bytes.HasPrefix(text, c.before) || n >= len(text) || text[n] != '{' {
		return false
	}
	end := skipNested(text, n)
	if end < 0 || !bytes.Equal(text[end:], c.behind) {
		return false
	}
	c.delta = text[n:end]
	return true
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

// valueOf is a member's value, nil for none. The key has its quotes.
func valueOf(list []member, key string) []byte {
	for _, m := range list {
		if string(m.key) == key {
			return m.value
		}
	}
	return nil
}

// refuses tells an event that is an error in place of a part of an answer.
func (c *chunk) refuses() bool { return !blank(c.err) || string(c.object) == `"error"` }

// hasText tells a chunk that a user sees something of: content, reasoning or a
// tool's call. The first chunk of most servers only names the role.
func (c *chunk) hasText() (bool, error) {
	if !c.isObject() {
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

// isObject tells a delta or message that is one, whatever it holds.
func (c *chunk) isObject() bool { return len(c.delta) > 0 && c.delta[0] == '{' }

// said is what the delta or message says.
func (c *chunk) said() (thoughts, content string) {
	var d struct {
		Content   json.RawMessage `json:"content"`
		Reasoning json.RawMessage `json:"reasoning"`
		Thoughts  json.RawMessage `json:"reasoning_content"`
	}
	if len(c.delta) == 0 || json.Unmarshal(c.delta, &d) != nil {
		return "", ""
	}
	if json.Unmarshal(d.Reasoning, &thoughts) != nil || thoughts == "" {
		_ = json.Unmarshal(d.Thoughts, &thoughts) // some servers say it under both names; what is no text is none
	}
	_ = json.Unmarshal(d.Content, &content)
	return thoughts, content
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
