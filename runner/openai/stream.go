package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"
)

// scratch is what reading an answer needs and leaves behind for the next one.
type scratch struct {
	events eventSource
	chunk  chunk
	merged merged
	whole  []byte // an answer of unknown length

	first time.Duration // of the stream: start to the first chunk with text
	last  time.Time     // the last such chunk so far
	gaps  []time.Duration
	// When they are kept: all that was said, and of that what is no thought.
	text, content []byte
}

// maxPooled is the size from which a buffer is not kept: one answer that is out of
// all proportion must not be paid for until the end.
const maxPooled = 256 << 10

// maxGaps bounds the chunks of one stream; no model's answer is that long.
const maxGaps = 4 << 20

func (c *Client) scratch() *scratch {
	if s, ok := c.pool.Get().(*scratch); ok {
		return s
	}
	return new(scratch)
}

func (c *Client) putBack(s *scratch) {
	s.events.r = nil
	s.chunk.release()
	if max(cap(s.events.buf), cap(s.events.joined), cap(s.whole), 8*cap(s.gaps), cap(s.text), cap(s.content), cap(s.merged.body)) <= maxPooled {
		c.pool.Put(s)
	}
}

// readStream reads the events of a 2xx to the stream's end. An answer that is no
// stream is returned as plain instead.
func (c *Client) readStream(resp *http.Response, s *scratch, start time.Time) (plain []byte, err error) {
	s.events.reset(resp.Body, c.opts.Now, c.maxReply)
	s.chunk.reset() // no event repeats one of another stream
	s.merged.reset()
	s.first, s.last, s.gaps, s.text = 0, time.Time{}, s.gaps[:0], s.text[:0]
	s.content = s.content[:0]
	begin, err := s.events.peek()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: it is empty", errNotJSON)
	case err != nil:
		return nil, fmt.Errorf("reading the answer: %w", err)
	case !beginsStream(begin, resp.Header.Get("Content-Type")):
		rest := io.MultiReader(bytes.NewReader(bytes.Clone(s.events.buf)), resp.Body)
		plain, err = c.readBody(&http.Response{Body: io.NopCloser(rest), ContentLength: -1}, &s.whole)
		return plain, err
	}
	for done := false; ; {
		e, err := s.events.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, s.ended(done)
		case err != nil:
			return nil, fmt.Errorf("reading the stream: %w", err)
		case done: // read on, or the connection cannot be used again
		case string(e.data) == "[DONE]":
			done = true
		case len(bytes.TrimSpace(e.data)) > 0:
			if err := c.take(e, s, start); err != nil {
				return nil, err
			}
		}
	}
}

// take looks at one event.
func (c *Client) take(e event, s *scratch, start time.Time) error {
	if string(e.name) == "error" {
		return &HTTPError{Status: http.StatusOK, Message: c.clean(message(e.data))}
	}
	if !s.chunk.repeats(e.data) {
		if err := s.chunk.scan(e.data); err != nil {
			return fmt.Errorf("%w: an event of the stream: %w: %s", errNotJSON, err, c.clean(head(e.data)))
		}
		if s.chunk.refuses() {
			return &HTTPError{Status: http.StatusOK, Message: c.clean(message(e.data))}
		}
		s.merged.add(&s.chunk)
		s.chunk.remember()
	}
	hasText, err := s.chunk.hasText()
	switch {
	case err != nil:
		return fmt.Errorf("%w: an event of the stream: %w: %s", errNotJSON, err, c.clean(head(e.data)))
	case !hasText:
		return nil
	case s.last.IsZero():
		s.first = e.at.Sub(start)
	case len(s.gaps) >= maxGaps:
		return fmt.Errorf("%w (more than %d chunks)", errTooLarge, maxGaps)
	default:
		s.gaps = append(s.gaps, e.at.Sub(s.last))
	}
	s.last = e.at
	if c.opts.KeepText {
		thoughts, content := s.chunk.said()
		s.text = append(append(s.text, thoughts...), content...)
		s.content = append(s.content, content...)
		if int64(len(s.text)) > c.maxReply {
			return fmt.Errorf("%w (%d bytes of text)", errTooLarge, c.maxReply)
		}
	}
	return nil
}

// ended judges a stream that came to a clean end. [DONE] says that it is whole.
// Some servers leave it out; with finish_reason and with the usage that was asked
// for, which comes last, nothing can be missing. Without either it broke off.
func (s *scratch) ended(done bool) error {
	if done || find(s.merged.choice, `"finish_reason"`) != nil && find(s.merged.fields, `"usage"`) != nil {
		return nil
	}
	return fmt.Errorf("the stream ended before [DONE]: %w", io.ErrUnexpectedEOF)
}

// judgeStream makes out of what was read, a stream or, not nil, an answer in one
// piece.
func (c *Client) judgeStream(plain []byte, s *scratch, out *Completion) error {
	if plain != nil {
		if err := decode(plain, "", c.clean, s, new(Completion)); err != nil {
			return err
		}
		return errNotStream
	}
	// The walk over the events has not checked what the fields hold.
	body := bytes.Clone(s.merged.answer())
	if err := json.Unmarshal(body, new(json.RawMessage)); err != nil {
		return fmt.Errorf("%w: %w", errNotJSON, err)
	}
	if !s.merged.hasChoice {
		return errNoChoices
	}
	if !s.merged.hasDelta {
		return errNoMessage
	}
	fill(find(s.merged.fields, `"model"`), find(s.merged.choice, `"finish_reason"`), find(s.merged.fields, `"usage"`), out)
	out.Body = body
	out.Streamed, out.FirstToken = true, s.first
	out.Text, out.Content = string(s.text), string(s.content)
	if len(s.gaps) > 0 {
		out.Gaps = slices.Clone(s.gaps)
	}
	return nil
}

// peek is what the stream begins with but for white space and a BOM, at least one
// byte. It stays to be read.
func (s *eventSource) peek() ([]byte, error) {
	for {
		// A part of a BOM is not told from a text; three bytes or another first one are.
		text := bytes.TrimLeft(bytes.TrimPrefix(s.buf, bom), " \t\r\n")
		if len(text) > 0 && !bytes.HasPrefix(bom, text) {
			return text, nil
		}
		if err := s.read(); err != nil {
			return nil, err
		}
	}
}

// beginsStream tells server-sent events by their first byte. A field's name may be
// any word: where the content type says events, only what JSON and HTML begin with
// is none.
func beginsStream(begin []byte, contentType string) bool {
	if kind, _, _ := mime.ParseMediaType(contentType); kind == "text/event-stream" {
		return bytes.IndexByte([]byte(`{["<`), begin[0]) < 0
	}
	return bytes.IndexByte([]byte("deir:"), begin[0]) >= 0
}
