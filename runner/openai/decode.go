package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"unicode/utf8"
)

var (
	errNotJSON   = errors.New("the answer is not JSON")
	errNoChoices = errors.New("the answer has no choices")
	errNoMessage = errors.New("the answer has no message: its first choice holds none")
	errStream    = errors.New("the server streamed its answer (server-sent events) although stream was not asked for")
	errNotStream = errors.New("the server answered in one piece although stream was asked for: a gateway may drop the field; without stream in the plan this server can be measured, but for its times to the first token")
)

// usage is what is read of a chat completion's usage. The wire format is that of
// OpenAI's chat completions, as vLLM, SGLang and llama.cpp serve it.
type usage struct {
	PromptTokens     count `json:"prompt_tokens"`
	CompletionTokens count `json:"completion_tokens"`
	Details          struct {
		CachedTokens count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// count is a JSON integer from 0 to maxCount. Everything else, null or 12.0 or
// a text, is no count, but no reason to drop an answer either.
type count struct {
	n       int
	known   bool
	invalid bool // there is a value, and it is not null
}

// maxCount is more tokens than any answer has; sums of such counts stay exact.
const maxCount = 1 << 40

// UnmarshalJSON never fails.
func (c *count) UnmarshalJSON(b []byte) error {
	*c = count{invalid: string(b) != "null"}
	n := 0
	for _, d := range b {
		if d < '0' || d > '9' {
			return nil
		}
		if n = n*10 + int(d-'0'); n > maxCount {
			return nil
		}
	}
	*c = count{n: n, known: true}
	return nil
}

func (c *count) pointer() *int {
	if !c.known {
		return nil
	}
	n := c.n
	return &n
}

// decode reads the body of a 2xx into out. It is the body that tells a
// completion from a failure, not the status or the content type: gateways put
// errors into a 200. Without an error there is at least one choice with a message. clean is what
// server text goes through before it stands in an error.
//
// Of the text only what is read is decoded: s takes out the rest, which is most of
// it, and keeps the answer's message.
func decode(body []byte, contentType string, clean func(string) string, s *scratch, out *Completion) error {
	text := bytes.TrimSpace(body)
	if isStream(text) {
		return errStream
	}
	if !json.Valid(text) {
		switch kind, _, _ := mime.ParseMediaType(contentType); {
		case kind == "text/event-stream":
			return errStream
		case len(text) == 0:
			return fmt.Errorf("%w: it is empty", errNotJSON)
		}
		err := json.Unmarshal(text, new(json.RawMessage))
		return fmt.Errorf("%w: %w: %s", errNotJSON, err, clean(head(text)))
	}
	if s.chunk.scan(text) != nil {
		return errNoChoices // JSON, but no object
	}
	if s.chunk.refuses() {
		return &HTTPError{Status: http.StatusOK, Message: clean(message(text))}
	}
	if !s.chunk.hasChoice {
		return errNoChoices
	}
	if !s.chunk.isObject() || !s.chunk.isMessage {
		return errNoMessage
	}
	fill(valueOf(s.chunk.fields, `"model"`), valueOf(s.chunk.choice, `"finish_reason"`), valueOf(s.chunk.fields, `"usage"`), out)
	return nil
}

// fill sets what an answer's fields, valid JSON or nil, say. One of another type than
// ours is no reason to drop the answer.
func fill(model, finish, used []byte, out *Completion) {
	u := readUsage(used)
	out.Model, out.FinishReason = plainText(model), plainText(finish)
	out.PromptTokens = u.PromptTokens.pointer()
	out.CompletionTokens = u.CompletionTokens.pointer()
	out.CachedTokens = u.Details.CachedTokens.pointer()
	out.Invalid = InvalidCounts{Prompt: u.PromptTokens.invalid, Completion: u.CompletionTokens.invalid, Cached: u.Details.CachedTokens.invalid}
}

// plainText is the text of a JSON string, empty for any other value. encoding/json
// takes those with escapes, and what may be broken UTF-8.
func plainText(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	inner := value[1 : len(value)-1]
	if !slices.ContainsFunc(inner, func(c byte) bool { return c == '\\' || c >= utf8.RuneSelf }) {
		return string(inner)
	}
	var text string
	_ = json.Unmarshal(value, &text) // what is no text is none
	return text
}

// readUsage walks over the counts, which stand in every answer; with keys that are
// written with escapes encoding/json does it.
func readUsage(value []byte) (u usage) {
	m := membersOf(value)
	for key, value, ok := m.next(); ok; key, value, ok = m.next() {
		switch string(key) {
		case `"prompt_tokens"`:
			_ = u.PromptTokens.UnmarshalJSON(value) // never fails
		case `"completion_tokens"`:
			_ = u.CompletionTokens.UnmarshalJSON(value) // never fails
		case `"prompt_tokens_details"`:
			u.Details.CachedTokens = readCached(value, u.Details.CachedTokens)
		}
	}
	if m.failed {
		u = usage{}
		_ = json.Unmarshal(value, &u) // a mistyped field leaves the rest decoded
	}
	return u
}

// readCached is the details' cached_tokens; before, when they say nothing of it.
func readCached(details []byte, before count) count {
	m := membersOf(details)
	for key, value, ok := m.next(); ok; key, value, ok = m.next() {
		if string(key) == `"cached_tokens"` {
			_ = before.UnmarshalJSON(value) // never fails
		}
	}
	if m.failed {
		var d struct {
			CachedTokens *count `json:"cached_tokens"`
		}
		if json.Unmarshal(details, &d) == nil && d.CachedTokens != nil {
			return *d.CachedTokens
		}
	}
	return before
}

// blank tells an error field that reports none.
func blank(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "false", "{}", "[]":
		return true
	}
	return false
}

// isStream tells the beginning of server-sent events; no JSON begins like that.
func isStream(text []byte) bool {
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(text, []byte(field)) {
			return true
		}
	}
	return false
}
