package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
)

var (
	errNotJSON   = errors.New("the answer is not JSON")
	errNoChoices = errors.New("the answer has no choices")
	errStream    = errors.New("the server streamed its answer (server-sent events) although stream was not asked for")
	errNotStream = errors.New("the server answered in one piece although stream was asked for: a gateway may drop the field; without stream in the plan this server can be measured, but for its times to the first token")
)

// completion is what is read of a chat completion; every other field is left to
// the engines. The wire format is that of OpenAI's chat completions, as vLLM,
// SGLang and llama.cpp serve it.
type completion struct {
	Model   string `json:"model"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     count `json:"prompt_tokens"`
		CompletionTokens count `json:"completion_tokens"`
		Details          struct {
			CachedTokens count `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// count is a JSON integer that is not negative. Everything else, null or 12.0 or
// a text, is no count, but no reason to drop an answer either.
type count struct {
	n     int
	known bool
}

// UnmarshalJSON never fails.
func (c *count) UnmarshalJSON(b []byte) error {
	*c = count{}
	n := 0
	for _, d := range b {
		if d < '0' || d > '9' || n > 1<<40 {
			return nil
		}
		n = n*10 + int(d-'0')
	}
	*c = count{n, true}
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
// errors into a 200. Without an error there is at least one choice. clean is what
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
		return fmt.Errorf("%w: %w: %s", errNotJSON, err, clean(string(text)))
	}
	if s.chunk.scan(text) != nil {
		return errNoChoices // JSON, but no object
	}
	if s.chunk.refuses() {
		return &HTTPError{Status: http.StatusOK, Message: clean(message(text))}
	}
	s.merged.reset()
	s.merged.add(&s.chunk)
	return fill(s.merged.answer(), out)
}

// fill decodes an answer without its message into out.
func fill(answer []byte, out *Completion) error {
	var a completion
	// A field of another type than ours is not broken JSON: the rest has been
	// decoded, and what is missing then decides.
	var mistyped *json.UnmarshalTypeError
	if err := json.Unmarshal(answer, &a); err != nil && !errors.As(err, &mistyped) {
		return fmt.Errorf("%w: %w", errNotJSON, err)
	}
	if len(a.Choices) == 0 {
		return errNoChoices
	}
	out.Model, out.FinishReason = a.Model, a.Choices[0].FinishReason
	out.PromptTokens = a.Usage.PromptTokens.pointer()
	out.CompletionTokens = a.Usage.CompletionTokens.pointer()
	out.CachedTokens = a.Usage.Details.CachedTokens.pointer()
	return nil
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
