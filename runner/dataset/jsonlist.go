package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// jsonFormat is a JSON list of rows, or a single row. A list is read row by row,
// so the first rows of a huge one cost no more than those of a small one.
func jsonFormat() Format {
	return Format{
		Name:       "JSON",
		Extensions: []string{".json"},
		Packed:     true,
		read:       readJSON,
		count:      countJSON,
		index:      indexJSON,
	}
}

func readJSON(ctx context.Context, f file, _ []string, from int) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		index := 0
		for raw, err := range jsonValues(ctx, f) {
			if err != nil {
				yield(row{}, err)
				return
			}
			if index >= from {
				columns, err := parseRow(raw)
				if err != nil {
					yield(row{}, fmt.Errorf("%s: row %d: %w", f.path, index, err))
					return
				}
				if !yield(row{path: f.path, index: index, columns: columns}, nil) {
					return
				}
			}
			index++
		}
	}
}

func countJSON(ctx context.Context, f file) (int, error) {
	n := 0
	for _, err := range jsonValues(ctx, f) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// indexJSON reads the list once for the places of its rows.
func indexJSON(ctx context.Context, f file, _ []string) (table, error) {
	data, start, err := f.unpacked(ctx)
	if err != nil {
		return nil, err
	}
	t := &textTable{path: f.path, data: data, parse: parseElement}
	for e, err := range streamValues(ctx, io.NewSectionReader(data, start, data.size-start)) {
		if err != nil {
			t.close()
			return nil, placed(ctx, f, err)
		}
		t.starts = append(t.starts, start+e.end-int64(len(e.raw)))
	}
	return t, nil
}

// parseElement reads the row of the first JSON value.
func parseElement(raw []byte) (map[string]json.RawMessage, error) {
	var first json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&first); err != nil {
		return nil, &badData{err: fmt.Errorf("bad JSON: %w", err)}
	}
	return parseRow(first)
}

// jsonValues gives the rows of a JSON file, unparsed.
func jsonValues(ctx context.Context, f file) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		text, err := f.text(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = text.Close() }() // only read from
		for e, err := range streamValues(ctx, text) {
			if err != nil {
				yield(nil, placed(ctx, f, err))
				return
			}
			if !yield(e.raw, nil) {
				return
			}
		}
	}
}

// streamValues gives the elements of the one JSON list in r, or the one object.
// A fault of the form is a *badData.
func streamValues(ctx context.Context, r io.Reader) iter.Seq2[element, error] {
	return func(yield func(element, error) bool) {
		text := bufio.NewReader(r)
		blanks, err := skipBlanks(text)
		if err != nil {
			yield(element{}, err)
			return
		}
		s := stream{dec: json.NewDecoder(text), before: int64(blanks)}
		head, err := text.Peek(1)
		switch {
		case errors.Is(err, io.EOF):
			err = s.badHead(errors.New("the file holds no JSON, only blanks"))
		case err != nil:
		case head[0] == '[':
			err = s.list(ctx, yield)
		case head[0] == '{':
			err = s.object(yield)
		default:
			err = s.badHead(errors.New("bad JSON: it must be a list of rows, or one row (an object)"))
		}
		if err != nil {
			yield(element{}, err)
		}
	}
}

// element is one row of a JSON file and the bytes of the text up to its end.
type element struct {
	raw json.RawMessage
	end int64
}

// stream is a JSON text that is read piece by piece.
type stream struct {
	dec    *json.Decoder
	before int64 // bytes before the decoder's first
}

func (s stream) list(ctx context.Context, yield func(element, error) bool) error {
	if _, err := s.dec.Token(); err != nil { // the [
		return s.fault(err)
	}
	for s.dec.More() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var raw json.RawMessage
		if err := s.dec.Decode(&raw); err != nil {
			return s.fault(err)
		}
		if !yield(s.element(raw), nil) {
			return nil
		}
	}
	if _, err := s.dec.Token(); err != nil { // the ]
		return s.fault(err)
	}
	return s.end()
}

func (s stream) object(yield func(element, error) bool) error {
	var raw json.RawMessage
	if err := s.dec.Decode(&raw); err != nil {
		return s.fault(err)
	}
	e := s.element(raw)
	// A second value shows before the first is used: half a file is not read.
	if err := s.end(); err != nil {
		return err
	}
	yield(e, nil)
	return nil
}

// element is the value that the decoder gave last.
func (s stream) element(raw json.RawMessage) element {
	return element{raw, s.before + s.dec.InputOffset()}
}

// end checks that nothing follows.
func (s stream) end() error {
	_, err := s.dec.Token()
	if err == io.EOF {
		return nil
	}
	if _, malformed := errors.AsType[*json.SyntaxError](err); err == nil || malformed {
		return s.bad(errors.New("more follows after the end of the JSON (one object a line is a .jsonl file)"))
	}
	return s.fault(err)
}

// bad is a fault of what was read last.
func (s stream) bad(err error) error {
	return &badData{err, s.before + s.dec.InputOffset()}
}

// badHead is a fault of the first byte that is not blank.
func (s stream) badHead(err error) error {
	return &badData{err, s.before + 1}
}

// fault tells the decoder's errors that are faults of the form from those of
// reading the file.
func (s stream) fault(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		// The decoder counts the byte at fault in, save for a missing comma.
		offset := max(syntax.Offset, s.dec.InputOffset()+1)
		return &badData{fmt.Errorf("bad JSON: %w", err), s.before + offset}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &badData{fmt.Errorf("the JSON ends too early, the file may be cut: %w", io.ErrUnexpectedEOF), atEnd}
	}
	return err
}

// skipBlanks reads over JSON's blanks and counts them.
func skipBlanks(r *bufio.Reader) (int, error) {
	for n := 0; ; n++ {
		b, err := r.ReadByte()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if !bytes.ContainsRune([]byte(" \t\r\n"), rune(b)) {
			return n, r.UnreadByte()
		}
	}
}
