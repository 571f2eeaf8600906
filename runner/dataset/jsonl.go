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
	"unicode/utf8"
)

// jsonlFormat is one JSON object a line (jsonlines.org). Lines end at \n and
// nowhere else: U+2028, U+2029 and U+0085 are ordinary characters of a string.
func jsonlFormat() Format {
	return Format{
		Name:       "JSON lines",
		Extensions: []string{".jsonl", ".ndjson"},
		Packed:     true,
		read:       readJSONL,
		count:      countJSONL,
		index:      indexJSONL,
	}
}

func readJSONL(ctx context.Context, f file, _ []string, from int) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		text, err := f.text(ctx)
		if err != nil {
			yield(row{}, err)
			return
		}
		defer func() { _ = text.Close() }() // only read from
		linesRows(ctx, text, f.path, from)(yield)
	}
}

// linesRows reads rows out of lines. Lines before row number from are not parsed.
func linesRows(ctx context.Context, r io.Reader, path string, from int) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		lines := newLineReader(r)
		for index := 0; ; index++ {
			line, err := lines.next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(row{}, fmt.Errorf("reading %s: %w", path, err))
				return
			}
			if index < from {
				continue
			}
			columns, err := parseRow(line)
			if err != nil {
				yield(row{}, fmt.Errorf("%s:%d: %w", path, lines.number, err))
				return
			}
			if !yield(row{path: path, line: lines.number, index: index, columns: columns}, nil) {
				return
			}
		}
	}
}

func countJSONL(ctx context.Context, f file) (int, error) {
	text, err := f.text(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = text.Close() }() // only read from
	lines := newLineReader(text)
	for n := 0; ; n++ {
		if _, err := lines.next(ctx); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return 0, fmt.Errorf("counting the rows of %s: %w", f.path, err)
		}
	}
}

// lineReader gives the lines of a text that are not blank, however long.
type lineReader struct {
	r      *bufio.Reader
	buf    []byte
	number int // of the line given last, from 1
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// next gives the next line without its end, valid until the call after, or
// io.EOF. The last line needs no \n; one that an error cuts is not given.
func (l *lineReader) next(ctx context.Context) ([]byte, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := l.r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			l.buf = l.buf[:0]
			for errors.Is(err, bufio.ErrBufferFull) {
				l.buf = append(l.buf, line...)
				line, err = l.r.ReadSlice('\n')
			}
			l.buf = append(l.buf, line...)
			line = l.buf
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		l.number++
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err == io.EOF {
			return nil, io.EOF
		}
	}
}

// parseRow reads the JSON object of one row. Its values are copies, so data may
// change afterwards.
func parseRow(data []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(data) {
		return nil, &badData{err: errNotUTF8}
	}
	var columns map[string]json.RawMessage
	err := json.Unmarshal(data, &columns)
	if other, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil, &badData{err: fmt.Errorf("a row is a JSON object, this is a JSON %s", other.Value)}
	}
	if err != nil {
		return nil, &badData{err: fmt.Errorf("bad JSON: %w", err)}
	}
	if columns == nil {
		return nil, &badData{err: errors.New("a row is a JSON object, this is null")}
	}
	return columns, nil
}
