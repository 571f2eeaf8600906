package sim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// streaming is what an answer of server-sent events is made of, one chunk each.
type streaming struct {
	kind    string // content type
	opening any    // names the role
	delta   func(text string) any
	// ending is what follows once the answer is whole: the finish reason, usage when it
	// is asked for, and what the engine tells of its drafts. last is the text of the last
	// decode step, which vLLM sends together with the reason.
	ending func(c completion, last string) []any
}

// tail is the end of a streamed answer, which is sent when the request has been
// counted.
type tail struct {
	out    *events
	chunks []any
	broken bool // the connection breaks off here
}

// stream takes a request through the engine and sends, as each of its decode steps
// ends, the tokens of that step in one chunk, as real servers do: under speculation a
// chunk holds several. Nothing is sent before the first token, and the last step's
// tokens go with the tail. An answer that is to break off does so after half of its
// tokens; the engine does not notice.
func (s *Server) stream(w http.ResponseWriter, j *job, c completion, drops bool) reply {
	j.steps = make(chan int, j.want) // the engine never waits for a client
	ended := make(chan bool, 1)
	go func() { ended <- s.batch.answer(j); close(j.steps) }()

	form := s.dialect.streaming(s.c, c)
	out := &events{w: w, control: http.NewResponseController(w), kind: form.kind}
	words := strings.Fields(c.content)
	sent, stop := 0, len(words)
	if drops {
		stop = max(1, len(words)/2)
	}
	last := ""
	for n := range j.steps {
		if sent == 0 {
			out.send(form.opening)
		}
		text := piece(words, sent, sent+n)
		if sent+n < stop || drops && sent < stop {
			out.send(form.delta(text))
			out.flush()
		}
		sent, last = sent+n, text
	}
	if !<-ended {
		return reply{outcome: aborted}
	}
	c.drafts = j.drafts
	if drops {
		return reply{outcome: dropped, tail: &tail{out: out, broken: true}}
	}
	return reply{outcome: answered, tail: &tail{out: out, chunks: form.ending(c, last)}}
}

// piece is the words of an answer from a to b, as they stand in its text.
func piece(words []string, a, b int) string {
	text := strings.Join(words[a:b], " ")
	if a > 0 {
		text = " " + text
	}
	return text
}

func (t *tail) send() {
	if t.broken {
		t.out.flush()
		panic(http.ErrAbortHandler) // net/http's way to close the connection
	}
	for _, c := range t.chunks {
		t.out.send(c)
	}
	t.out.write([]byte("[DONE]"))
}

// events writes server-sent events. A client that does not take them is no fault of
// the server: the engine learns of it by the request's context.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	kind    string
	begun   bool
}

func (e *events) send(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(http.ErrAbortHandler)
	}
	e.write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func (e *events) write(data []byte) {
	if !e.begun {
		e.begun = true
		e.w.Header().Set("Content-Type", e.kind)
		e.w.WriteHeader(http.StatusOK)
	}
	_, _ = e.w.Write(append(append([]byte("data: "), data...), "\n\n"...))
}

func (e *events) flush() { _ = e.control.Flush() }

// chunk is what all chunks of an answer share, with these choices.
func (c completion) chunk(choices ...any) map[string]any {
	if choices == nil {
		choices = []any{}
	}
	return map[string]any{
		"id": c.id, "object": "chat.completion.chunk", "created": time.Now().Unix(), "model": c.model, "choices": choices,
	}
}

func (c completion) usage() map[string]any {
	return map[string]any{"prompt_tokens": c.promptTokens, "total_tokens": c.promptTokens + c.tokens, "completion_tokens": c.tokens}
}
