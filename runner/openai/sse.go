package openai

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// eventSource reads server-sent events as the WHATWG's specification has them
// (https://html.spec.whatwg.org/multipage/server-sent-events.html, 9.2.6): lines
// end with LF, CRLF or CR; comments, id, retry and unknown fields are passed over;
// several data lines are one event; an event that no blank line ends is dropped.
//
// Its memory is one buffer, which grows to the largest event and which every event
// is a part of. Many events per Read are the normal case, and cost no copy.
type eventSource struct {
	r     io.Reader
	now   func() time.Time
	limit int64 // bytes of one event

	buf        []byte // len: what was read
	start      int    // of the event that is being read
	line       int    // start of the line that is being read
	seen       int    // no end of a line before it
	data       []byte // of the event; a part of buf, or of joined
	dataAt     int    // where data begins, from start
	dataLines  int
	name       []byte // of the event, a part of own
	own        []byte
	joined     []byte // several data lines, joined by LF
	at         time.Time
	begun      bool // the first line, which a BOM may stand before, is over
	cr, skipLF bool // a CR was ever seen; the last line ended with CR
	err        error
}

// event is valid until the next one is asked for.
type event struct {
	name, data []byte
	at         time.Time // after the Read that brought its last byte
}

var (
	bom       = []byte("\xef\xbb\xbf")
	dataField = []byte("data")
	nameField = []byte("event")
)

// reset makes s read another stream into the buffers that it has.
func (s *eventSource) reset(r io.Reader, now func() time.Time, limit int64) {
	*s = eventSource{r: r, now: now, limit: limit, buf: s.buf[:0], own: s.own[:0], joined: s.joined[:0]}
}

// next is the next event that has data. At the stream's end it is io.EOF, after
// an event beyond the limit errTooLarge.
func (s *eventSource) next() (event, error) {
	s.drop()
	for {
		line, ok := s.nextLine()
		if !ok {
			if err := s.read(); err != nil {
				return event{}, err
			}
			continue
		}
		switch {
		case len(line) > 0:
			s.field(line)
			if s.dataLines == 0 {
				s.start = s.line // nothing of the event is in buf yet
			}
		case s.dataLines > 0:
			if s.dataLines == 1 {
				s.data = s.buf[s.start+s.dataAt : s.start+s.dataAt+len(s.data)]
			}
			return event{name: s.name, data: s.data, at: s.at}, nil
		default:
			s.drop() // a name without data is no event
		}
	}
}

// drop forgets the event.
func (s *eventSource) drop() {
	s.start, s.data, s.dataLines, s.name = s.line, nil, 0, nil
	s.joined, s.own = s.joined[:0], s.own[:0]
}

// nextLine is the next whole line without its end; false: more is to be read. A
// CR ends a line at once; if an LF follows it, even in a later Read, that belongs
// to it.
func (s *eventSource) nextLine() ([]byte, bool) {
	if s.skipLF && s.line < len(s.buf) {
		s.skipLF = false
		if s.buf[s.line] == '\n' {
			s.line++
			s.seen = max(s.seen, s.line)
			if s.dataLines == 0 {
				s.start = s.line
			}
		}
	}
	n := bytes.IndexByte(s.buf[s.seen:], '\n')
	if s.cr {
		rest := s.buf[s.seen:]
		if n >= 0 {
			rest = rest[:n]
		}
		if i := bytes.IndexByte(rest, '\r'); i >= 0 {
			n, s.skipLF = i, true
		}
	}
	if n < 0 {
		s.seen = len(s.buf)
		return nil, false
	}
	line := s.buf[s.line : s.seen+n]
	if !s.begun {
		s.begun, line = true, bytes.TrimPrefix(line, bom)
	}
	s.seen += n + 1
	s.line = s.seen
	return line, true
}

// field takes one line that is not blank. The line stands in buf, before s.line.
func (s *eventSource) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch {
	case bytes.Equal(name, dataField):
		switch s.dataLines++; s.dataLines {
		case 1:
			s.data, s.dataAt = value, s.line-1-len(value)-s.start // a line's end is one byte here
			return
		case 2:
			s.joined = append(s.joined, s.buf[s.start+s.dataAt:][:len(s.data)]...)
		}
		s.joined = append(append(s.joined, '\n'), value...)
		s.data = s.joined
	case bytes.Equal(name, nameField):
		s.own = append(s.own[:0], value...)
		s.name = s.own
	}
}

// read brings more bytes: behind what is there, moved to the front or into a
// larger buffer when there is no room.
func (s *eventSource) read() error {
	if s.err != nil {
		return s.err
	}
	if s.start > 0 && (s.start == len(s.buf) || len(s.buf) == cap(s.buf)) {
		n := copy(s.buf, s.buf[s.start:])
		s.buf, s.line, s.seen, s.start = s.buf[:n], s.line-s.start, s.seen-s.start, 0
	}
	if int64(len(s.buf)-s.start) > s.limit {
		return fmt.Errorf("%w (an event of more than %d bytes)", errTooLarge, s.limit)
	}
	if len(s.buf) == cap(s.buf) {
		s.buf = grown(s.buf, firstBuffer, int64(s.start)+s.limit)
	}
	for range maxEmptyReads {
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.err = err
		if n > 0 {
			s.at = s.now()
			fresh := s.buf[len(s.buf) : len(s.buf)+n]
			s.cr = s.cr || bytes.IndexByte(fresh, '\r') >= 0
			s.buf = s.buf[:len(s.buf)+n]
			return nil
		}
		if err != nil {
			return err
		}
	}
	s.err = io.ErrNoProgress
	return s.err
}

const (
	// firstBuffer holds what net/http has buffered of a connection, twice; at 10,000
	// requests in flight each has one.
	firstBuffer = 8 << 10
	// maxEmptyReads is how many Reads may bring nothing, as in bufio.
	maxEmptyReads = 100
)
