package openai

import "bytes"

// The functions of this file walk over JSON without decoding it. They know where
// values begin and end and do not check what stands inside them: on valid JSON
// they find what encoding/json finds, with a key's last value counting, and on
// broken JSON they say false or find something. Positions are offsets into b; -1
// is a failure.

// skipSpace is the first position from i on that is no white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString is the position behind the string that begins at i.
func skipString(b []byte, i int) int {
	i++
	// Most strings are short names and pieces of words: a loop is faster for them.
	for end := min(len(b), i+16); i < end && b[i] != '\\'; i++ {
		if b[i] == '"' {
			return i + 1
		}
	}
	for from := i; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		slashes := 0
		for end-1-slashes >= from && b[end-1-slashes] == '\\' {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i
		}
	}
}

// skipValue is the position behind the value that begins at i.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	start := i
	for i < len(b) && !isDelimiter(b[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func isDelimiter(c byte) bool {
	switch c {
	case ',', ':', '}', ']', '{', '[', '"', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// skipNested is the position behind the object or list that begins at i. It
// counts brackets of both kinds as one: valid JSON pairs them.
func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// members goes through an object's members.
type members struct {
	b      []byte // from the opening brace on
	i      int
	failed bool // it is no object, or broken
	done   bool
}

// membersOf goes through the object at the beginning of b.
func membersOf(b []byte) members {
	m := members{b: b, i: skipSpace(b, 0)}
	if m.i >= len(b) || b[m.i] != '{' {
		m.failed, m.done = true, true
		return m
	}
	m.i = skipSpace(b, m.i+1)
	if m.i < len(b) && b[m.i] == '}' {
		m.i, m.done = m.i+1, true
	}
	return m
}

// next is a member, with its key's quotes; false: there is no further one. A key
// that is written with escapes is a failure: who needs it asks encoding/json.
func (m *members) next() (key, value []byte, ok bool) {
	if m.done {
		return nil, nil, false
	}
	fail := func() ([]byte, []byte, bool) {
		m.failed, m.done = true, true
		return nil, nil, false
	}
	b, i := m.b, m.i
	if i >= len(b) || b[i] != '"' {
		return fail()
	}
	end := skipString(b, i)
	if end < 0 {
		return fail()
	}
	key = b[i:end]
	if bytes.IndexByte(key, '\\') >= 0 {
		return fail()
	}
	if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
		return fail()
	}
	i = skipSpace(b, i+1)
	if end = skipValue(b, i); end < 0 {
		return fail()
	}
	value = b[i:end]
	i = skipSpace(b, end)
	switch {
	case i < len(b) && b[i] == ',':
		m.i = skipSpace(b, i+1)
	case i < len(b) && b[i] == '}':
		m.i, m.done = i+1, true
	default:
		return fail()
	}
	return key, value, true
}

// whole tells that the object ended and nothing but white space follows.
func (m *members) whole() bool {
	return m.done && !m.failed && skipSpace(m.b, m.i) == len(m.b)
}

// firstOf is the first element of a list; nil: it is empty or no list.
func firstOf(b []byte) []byte {
	if len(b) == 0 || b[0] != '[' {
		return nil
	}
	i := skipSpace(b, 1)
	if i >= len(b) || b[i] == ']' {
		return nil
	}
	end := skipValue(b, i)
	if end < 0 {
		return nil
	}
	return b[i:end]
}

// holdsSomething tells a value that is not null, false, or an empty text, list or
// object.
func holdsSomething(v []byte) bool {
	if len(v) == 0 {
		return false
	}
	switch v[0] {
	case '"':
		return len(v) > 2
	case '[', '{':
		i := skipSpace(v, 1)
		return i < len(v)-1
	}
	return v[0] != 'n' && v[0] != 'f'
}
