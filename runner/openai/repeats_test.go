package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parts is what a scan found, as texts.
type parts struct {
	Err, Object, Delta string
	HasChoice          bool
	Fields, Choice     map[string]string
}

func partsOf(c *chunk) parts {
	texts := func(list []member) map[string]string {
		m := map[string]string{}
		for _, f := range list {
			m[string(f.key)] = string(f.value)
		}
		return m
	}
	return parts{string(c.err), string(c.object), string(c.delta), c.hasChoice, texts(c.fields), texts(c.choice)}
}

// checkRepeats fails when an event is taken as a repetition of the one before,
// although a scan of it finds something else. It tells whether it was taken.
func checkRepeats(t *testing.T, before, event string) bool {
	t.Helper()
	var c chunk
	if c.scan([]byte(before)) != nil {
		return false
	}
	c.remember()
	if !c.repeats([]byte(event)) {
		return false
	}
	var want chunk
	if err := want.scan([]byte(event)); err != nil {
		t.Fatalf("repeats(%s) after %s, but scan() = %v", event, before, err)
	}
	if diff := cmp.Diff(partsOf(&want), partsOf(&c)); diff != "" {
		t.Errorf("%s after %s: a scan, and what was kept (-, +):\n%s", event, before, diff)
	}
	return true
}

func TestRepeats(t *testing.T) {
	event := func(delta string) string {
		return `{"id":"1","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}],"x":{"y":1}}`
	}
	word := event(`{"content":"word"}`)
	for _, tt := range []struct {
		name, before, event string
		want                bool
	}{
		{"the same", word, word, true},
		{"another word", word, event(`{"content":"other words"}`), true},
		{"a word with quotes and braces", word, event(`{"content":"}\"],{"}`), true},
		{"another field of delta", word, event(`{"reasoning":"so"}`), true},
		{"an empty delta", word, event(`{}`), true},
		{"no delta", word, event(`null`), false},
		{"a delta that does not end", word, event(`{"content":"word}`), false},
		{"another finish_reason", word, strings.Replace(word, "null", `"stop"`, 1), false},
		{"another id", word, strings.Replace(word, `"1"`, `"2"`, 1), false},
		{"more behind it", word, word + " ", false},
		{"broken off", word, word[:60], false},
		{"a second delta", `{"choices":[{"delta":{"content":"a"},"delta":{}}]}`, `{"choices":[{"delta":{"content":"b"},"delta":{}}]}`, false},
		{"second choices", `{"choices":[{"delta":{"content":"a"}}],"choices":[]}`, `{"choices":[{"delta":{"content":"b"}}],"choices":[]}`, false},
		{"keys with escapes", `{"choices":[{"\u0064elta":{}}]}`, `{"choices":[{"\u0064elta":{}}]}`, false},
		{"a delta that was none", event(`null`), word, false},
		{"too long to be kept", word[:len(word)-1] + `,"z":"` + strings.Repeat("z", maxRemembered) + `"}`, word, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := checkRepeats(t, tt.before, tt.event); got != tt.want {
				t.Errorf("repeats() = %v, want %v", got, tt.want)
			}
		})
	}
}

// What repeats says of an event is what a scan would have said.
func FuzzRepeats(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"content":"`, `a"}`, `b"}`, `}],"usage":null}`)
	f.Add(`{"choices":[{"delta":`, `{}`, `{"content":"}"}`, `,"delta":{}}]}`)
	f.Add(`{"choices":[{"message":{"content":"`, `a"}`, `b","delta":{}}`, `}],"choices":[{"delta":{}}]}`)
	f.Fuzz(func(t *testing.T, before, one, other, behind string) {
		checkRepeats(t, before+one+behind, before+other+behind)
	})
}
