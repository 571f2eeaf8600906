package openai

import "bytes"

// merged collects what the chunks of a stream say beside their text, the last word
// of each field counting: usage, finish_reason and whatever an engine adds of its
// own (timings, metrics, sglext) come in the last chunks, or grow with each. It
// copies bytes and decodes nothing.
type merged struct {
	fields, choice []kept
	hasChoice      bool
	hasDelta       bool // a choice had one, if only with the role
	body           []byte
}

// kept is a member that is copied out of the event's buffer.
type kept struct{ key, value []byte }

// maxKept bounds the fields that are collected. Beyond it no engine's are: the list
// is gone through for each field.
const maxKept = 64

func (m *merged) reset() {
	m.fields, m.choice, m.hasChoice, m.hasDelta = m.fields[:0], m.choice[:0], false, false
}

func (m *merged) add(c *chunk) {
	m.hasChoice = m.hasChoice || c.hasChoice
	m.hasDelta = m.hasDelta || c.isObject() && !c.isMessage
	m.fields = keep(m.fields, c.fields)
	m.choice = keep(m.choice, c.choice)
}

func keep(list []kept, members []member) []kept {
next:
	for _, f := range members {
		if string(f.value) == "null" {
			continue // chunks name fields that others fill
		}
		for i := range list {
			if bytes.Equal(list[i].key, f.key) {
				list[i].value = append(list[i].value[:0], f.value...)
				continue next
			}
		}
		if n := len(list); n < cap(list) {
			list = list[:n+1] // with the buffers of an earlier stream
		} else if n < maxKept {
			list = append(list, kept{})
		} else {
			continue
		}
		last := &list[len(list)-1]
		last.key = append(last.key[:0], f.key...)
		last.value = append(last.value[:0], f.value...)
	}
	return list
}

// find is a collected field's JSON, nil for none. The key has its quotes.
func find(list []kept, key string) []byte {
	for _, k := range list {
		if string(k.key) == key {
			return k.value
		}
	}
	return nil
}

// answer is the fields as one chat completion that is not streamed, without its
// message; valid until the next call.
func (m *merged) answer() []byte {
	w := append(m.body[:0], `{"choices":[`...)
	if m.hasChoice {
		w = appendMembers(append(w, '{'), m.choice)
		w = append(w, '}')
	}
	w = append(w, ']')
	if len(m.fields) > 0 {
		w = appendMembers(append(w, ','), m.fields)
	}
	m.body = append(w, '}')
	return m.body
}

func appendMembers(w []byte, list []kept) []byte {
	for i, k := range list {
		if i > 0 {
			w = append(w, ',')
		}
		w = append(append(append(w, k.key...), ':'), k.value...)
	}
	return w
}
