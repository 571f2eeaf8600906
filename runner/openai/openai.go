// Package openai is the client of an OpenAI-compatible server: one chat
// completion with its retries and timings, and the plain GETs and POSTs that the
// engines' statistics need. It counts tokens from usage, never from text.
//
// It knows no engine, keeps no pass and makes no statistics.
package openai

import (
	"encoding/json"
	"time"
)

// Body is the JSON object of a chat completion request without its messages:
// what all prompts of a pass share.
type Body struct {
	Model       string
	MaxTokens   int
	Temperature float64
	TopP        float64
	TopK        *int           // sent only when set
	Stream      bool           // ask for server-sent events, with usage in the last one
	Extra       map[string]any // further fields; sent after the ones above, sorted by name
}

// Completion is what became of one request, its retries included.
type Completion struct {
	Index int   // of the prompt in the pass
	Err   error // nil: an answer with choices and without an error was read to its end

	Model        string // as the answer names it
	FinishReason string
	// Body is the answer as it came, for an engine's own fields. Of a stream it is one
	// object in the shape of a whole answer, without the message: each field of the
	// chunks, and of their first choices, as it was said last.
	Body []byte

	PromptTokens     *int // usage; nil: the answer does not say
	CompletionTokens *int
	CachedTokens     *int // usage.prompt_tokens_details.cached_tokens
	// Invalid tells which of them are nil although the answer names them: what it says
	// is no whole number from 0 to 2^40.
	Invalid InvalidCounts

	Retries   int
	RetryWait time.Duration // time spent waiting between attempts
	Elapsed   time.Duration // first send to last byte, retries included

	// Of a streamed answer, which Body.Stream asks for.
	Streamed   bool
	FirstToken time.Duration // first send to the first chunk with content, reasoning or tool text; 0: none came
	// Gaps is the times between the chunks that hold such text, one fewer than there
	// are chunks. It belongs to the caller.
	Gaps []time.Duration

	// When Options.KeepText asks for them: the thoughts and the content, and the content
	// alone, which is what goes into a conversation.
	Text, Content string
}

// InvalidCounts is which counts of an answer's usage cannot be counts.
type InvalidCounts struct{ Prompt, Completion, Cached bool }

// Message is one turn of a conversation with every field as it was read.
type Message = json.RawMessage
