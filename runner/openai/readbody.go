package openai

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

const (
	// maxAhead bounds what a Content-Length alone makes us allocate.
	maxAhead = 1 << 20
	// firstRead is where a buffer for an answer of unknown length begins.
	firstRead = 4 << 10
)

// readBody reads an answer to its end. A body that breaks off is
// io.ErrUnexpectedEOF, even where the part that came is valid JSON. Where the
// length is not told, through is what it grows in; an answer that is larger than what
// is kept of a buffer takes it along.
func (c *Client) readBody(resp *http.Response, through *[]byte) ([]byte, error) {
	switch n := resp.ContentLength; {
	case n > c.maxReply:
		return nil, fmt.Errorf("%w (%d bytes)", errTooLarge, c.maxReply)
	case n > 0 && n <= maxAhead:
		text := make([]byte, n)
		if _, err := io.ReadFull(resp.Body, text); err != nil {
			return nil, fmt.Errorf("reading the answer: %w", err)
		}
		return text, nil
	}
	buf := (*through)[:0]
	for {
		if len(buf) == cap(buf) {
			buf = grown(buf, firstRead, c.maxReply)
		}
		n, err := resp.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > c.maxReply:
			return nil, fmt.Errorf("%w (%d bytes)", errTooLarge, c.maxReply)
		case err == io.EOF: // as io.Reader has it; one that is wrapped is a failure
			if cap(buf) > maxPooled {
				*through = nil
				return buf, nil
			}
			*through = buf
			return bytes.Clone(buf), nil
		case err != nil:
			return nil, fmt.Errorf("reading the answer: %w", err)
		}
	}
}

// grown is the buffer with room for more: twice as large, but only one byte larger
// than the limit, which is enough to see that it does not hold. So an endless answer
// costs one and a half times the limit at its worst, not four times.
func grown(buf []byte, least int, limit int64) []byte {
	limit = max(limit, int64(least))
	size := int64(max(2*cap(buf), least))
	if size >= limit {
		size = limit + 1
	}
	larger := make([]byte, len(buf), max(size, int64(len(buf))+1))
	copy(larger, buf)
	return larger
}
