package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

type read struct{ Name, Data string }

func events(t testing.TB, r io.Reader, limit int64) ([]read, error) {
	t.Helper()
	var s eventSource
	s.reset(r, time.Now, limit)
	var got []read
	for {
		e, err := s.next()
		if err != nil {
			return got, err
		}
		got = append(got, read{string(e.name), string(e.data)})
	}
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		want         []read
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []read{{"", "a"}}},
		{"only the first blank goes", "data:  a \n\n", []read{{"", " a "}}},
		{"two in one", "data:a\n\ndata:b\n\n", []read{{"", "a"}, {"", "b"}}},
		{"lines", "data: a\ndata\ndata: b\n\n", []read{{"", "a\n\nb"}}},
		{"an empty one", "data\n\n", []read{{"", ""}}},
		{"a name", "event: error\ndata: a\n\ndata: b\n\n", []read{{"error", "a"}, {"", "b"}}},
		{"a name behind the data", "data: a\nevent: x\n\n", []read{{"x", "a"}}},
		{"a name without data", "event: x\n\ndata: a\n\n", []read{{"", "a"}}},
		{"comments", ":\n: data: x\ndata: a\n:\ndata: b\n: c\n\n", []read{{"", "a\nb"}}},
		{"other fields", "id: 1\nretry: 2\n data: x\nDATA: x\ndata : x\ndata: a\n\n", []read{{"", "a"}}},
		{"CRLF", "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", []read{{"", "a\nb"}, {"", "c"}}},
		{"CR", "data: a\rdata: b\r\rdata: c\r\r", []read{{"", "a\nb"}, {"", "c"}}},
		{"mixed ends", "data: a\r\ndata: b\n\rdata: c\r\n\n", []read{{"", "a\nb"}, {"", "c"}}},
		{"BOM", "\ufeffdata: a\n\n\ufeffdata: b\n\n", []read{{"", "a"}}},
		{"not ended", "data: a\n\ndata: b\n", []read{{"", "a"}}},
		{"not even the line", "data: a\n\ndata: b", []read{{"", "a"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(tt.stream), "one byte": iotest.OneByteReader(strings.NewReader(tt.stream)),
				"halves": iotest.HalfReader(strings.NewReader(tt.stream)),
			} {
				got, err := events(t, r, 100)
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: error = %v, want EOF", name, err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// A limit on one event is none on the stream.
func TestEventsLimit(t *testing.T) {
	many := strings.Repeat("data: abc\n\n: "+strings.Repeat("x", 5000)+"\n", 100)
	if got, err := events(t, strings.NewReader(many), 20_000); !errors.Is(err, io.EOF) || len(got) != 100 {
		t.Errorf("%d events, %v, want 100", len(got), err)
	}
	for name, text := range map[string]string{"a line": "data: " + strings.Repeat("x", 50_000), "lines": strings.Repeat("data: x\n", 9000)} {
		if _, err := events(t, strings.NewReader(text), 20_000); !errors.Is(err, errTooLarge) {
			t.Errorf("%s: error = %v, want the limit", name, err)
		}
	}
}

// An event is told as soon as its last byte is there, also when that is a CR.
func TestEventsAreNotHeldBack(t *testing.T) {
	for _, text := range []string{"data: a\n\n", "data: a\r\r", "data: a\r\n\r"} {
		r, w := io.Pipe()
		go func() { _, _ = io.WriteString(w, text) }()
		var s eventSource
		s.reset(r, time.Now, 100)
		if e, err := s.next(); err != nil || string(e.data) != "a" {
			t.Errorf("%q: %q, %v", text, e.data, err)
		}
		_ = r.Close()
	}
}

// bySpecification reads a stream as the specification words it: whole lines of the
// whole text.
func bySpecification(stream []byte) []read {
	text := strings.TrimPrefix(string(stream), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	var out []read
	var name, data string
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			if data != "" {
				out = append(out, read{name, data[:len(data)-1]})
			}
			name, data = "", ""
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data += value + "\n"
		case "event":
			name = value
		}
	}
	return out
}

// FuzzSSE compares the reader with the specification, and with itself when the
// bytes come one by one. The seeds are long: -fuzzminimizetime 10x keeps the fuzzer
// from spending its time on making them shorter.
func FuzzSSE(f *testing.F) {
	for _, file := range recorded(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")))
	}
	f.Add([]byte("\ufeffevent: x\rdata: a\r\n\rdata\n\n:\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		want := bySpecification(stream)
		for _, r := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream))} {
			got, err := events(t, r, 1<<20)
			if !errors.Is(err, io.EOF) {
				t.Fatalf("error = %v", err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		whole, parts := readAll(t, bytes.NewReader(stream)), readAll(t, iotest.OneByteReader(bytes.NewReader(stream)))
		if errText(whole.Err) != errText(parts.Err) {
			t.Errorf("error = %v, in parts %v", whole.Err, parts.Err)
		}
		whole.Err, parts.Err = nil, nil
		if diff := cmp.Diff(whole, parts); diff != "" {
			t.Errorf("(-whole +in parts):\n%s", diff)
		}
	})
}

// seen is what a chunk's scan finds, in values of encoding/json.
type seen struct {
	Err, Object, Choice bool
	Text                bool
	Fields, First       map[string]any
}

func seenByScan(text []byte) (seen, error) {
	var c chunk
	if err := c.scan(text); err != nil {
		return seen{}, err
	}
	hasText, err := c.hasText()
	got := seen{Err: !blank(c.err), Object: string(c.object) == `"error"`, Choice: c.hasChoice, Text: hasText, Fields: values(c.fields), First: values(c.choice)}
	return got, err
}

func values(list []member) map[string]any {
	out := map[string]any{}
	for _, m := range list {
		var key string
		var value any
		// A number that no float64 holds is JSON all the same: nil here as by the decoder.
		var large *json.UnmarshalTypeError
		if err := json.Unmarshal(m.value, &value); json.Unmarshal(m.key, &key) != nil || err != nil && !errors.As(err, &large) {
			key = "not JSON: " + string(m.key) + string(m.value)
		}
		out[key] = value
	}
	return out
}

// seenByDecoder is the same by encoding/json alone.
func seenByDecoder(text []byte) seen {
	got := seen{Fields: map[string]any{}, First: map[string]any{}}
	var object map[string]json.RawMessage
	_ = json.Unmarshal(text, &object)
	got.Err, got.Object = !blank(object["error"]), string(object["object"]) == `"error"`
	take(object, got.Fields, "id", "created", "system_fingerprint", "service_tier", "choices", "error", "object")
	var choices []map[string]json.RawMessage
	var any []json.RawMessage
	_ = json.Unmarshal(object["choices"], &any)
	got.Choice = len(any) > 0
	if len(any) > 0 {
		choices = make([]map[string]json.RawMessage, 1)
		_ = json.Unmarshal(any[0], &choices[0])
		take(choices[0], got.First, "index", "logprobs", "token_ids", "routed_experts", "delta", "message")
		var delta map[string]json.RawMessage
		said := choices[0]["delta"]
		_ = json.Unmarshal(said, &delta)
		for _, name := range []string{"content", "reasoning", "reasoning_content", "tool_calls"} {
			switch v := decoded(delta[name]).(type) {
			case string:
				got.Text = got.Text || v != ""
			case []interface{}:
				got.Text = got.Text || len(v) > 0
			case map[string]interface{}:
				got.Text = got.Text || len(v) > 0
			case float64:
				got.Text = true
			case bool:
				got.Text = got.Text || v
			}
		}
	}
	return got
}

func decoded(raw json.RawMessage) (v any) {
	_ = json.Unmarshal(raw, &v)
	return v
}

func take(object map[string]json.RawMessage, into map[string]any, but ...string) {
next:
	for key, raw := range object {
		for _, name := range but {
			if key == name {
				continue next
			}
		}
		into[key] = decoded(raw)
	}
}

// The walk over the bytes finds what encoding/json finds.
func FuzzScan(f *testing.F) {
	for _, file := range recorded(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		list, _ := events(f, bytes.NewReader(text), 1<<20)
		for _, e := range list {
			f.Add([]byte(e.Data))
		}
	}
	for _, s := range []string{
		`{"choices":[{"delta":{"content":"\"content\":\"x"}}]}`, `{"choices":[{"delta":{"content":"","x":"\"content\":\"y\""}}]}`,
		`{"a":"\\","choices":[{"delta":{"content":"\\\""}}]}`, `{"choices":[{"delta":{"content":"a","content":""}}]}`,
		`{"\u0063hoices":[{"delta":{"\u0063ontent":"a"}}],"q\"":1}`, ` { "choices" : [ { "delta" : { "content" : [ ] , "tool_calls" : [ { } ] } } , 7 ] , "usage" : null } `,
		`{"error":{},"choices":[]}`, `{"error":"x","object":"error"}`, `{"choices":[7]}`, `{"choices":{}}`, `[]`, `{}`, `{"a":1}}`, `{"choices":[{"delta":"content"}]}`,
		`{"choices":[{"delta":{"content":"a"}}],"choices":[]}`, `{"choices":[{"x\ny":1,"delta":{"a\tb":2,"content":"c"}}]}`, `{"":[],"\ud800":1}`, `{"choices":[{"<":2}],"<":1,"\u2028":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := seenByScan(text) // on broken JSON it may say anything but must return
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) != nil || object == nil {
			return
		}
		if err != nil {
			t.Fatalf("scan(%q): %v", text, err)
		}
		want := seenByDecoder(text)
		if bytes.Contains(text, []byte(`\`)) || bytes.Contains(text, []byte(`"message"`)) {
			// Keys that need escapes are dropped, and a message stands for a delta.
			got.Fields, got.First, want.Fields, want.First = nil, nil, nil, nil
		}
		if bytes.Contains(text, []byte("message")) {
			got.Text, want.Text = false, false
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("scan(%q) (-decoder +scan):\n%s", text, diff)
		}
	})
}
