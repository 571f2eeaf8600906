package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// indexChunk is how many bytes are looked at together: enough to make the calls
// free, few enough to stay in a core's cache.
const indexChunk = 256 << 10

func indexJSONL(ctx context.Context, f file, _ []string) (table, error) {
	data, start, err := f.unpacked(ctx)
	if err != nil {
		return nil, err
	}
	starts, err := lineStarts(ctx, data, start, data.size)
	if err != nil {
		_ = data.close() // only read from
		return nil, fmt.Errorf("reading %s: %w", f.path, err)
	}
	return &textTable{path: f.path, data: data, starts: starts, lined: true, parse: parseLine}, nil
}

// parseLine reads the row of the first line.
func parseLine(raw []byte) (columns map[string]json.RawMessage, err error) {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	return parseRow(bytes.TrimSpace(line))
}

// lineStarts finds the first byte of every line of src, between from and to, that
// is not blank. It is the one pass that a shuffle makes over a text.
func lineStarts(ctx context.Context, src io.ReaderAt, from, to int64) ([]int64, error) {
	var starts []int64
	buf := make([]byte, indexChunk)
	start, fresh := from, true // of the line at hand; nothing but blanks of it so far
	for pos := from; pos < to; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := src.ReadAt(buf[:min(int64(len(buf)), to-pos)], pos)
		if err == io.EOF && n > 0 {
			err = nil
		}
		if err != nil {
			return nil, err
		}
		for i := 0; i < n; i++ {
			if fresh {
				switch c := buf[i]; {
				case c == '\n':
					start = pos + int64(i) + 1
					continue
				case asciiBlank(c):
					continue
				case c >= utf8.RuneSelf:
					// No row begins so, but blanks of Unicode do: a rare look.
					blank, err := blankLine(src, start, to)
					if err != nil {
						return nil, err
					}
					if !blank {
						starts = append(starts, start)
					}
				default:
					starts = append(starts, start)
				}
				fresh = false
			}
			end := bytes.IndexByte(buf[i:n], '\n')
			if end < 0 {
				break
			}
			i += end
			start, fresh = pos+int64(i)+1, true
		}
		pos += int64(n)
	}
	return starts, nil
}

// asciiBlank is a blank other than \n that lineReader trims.
func asciiBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'
}

// blankLine says whether the line at start holds only blanks, as lineReader does.
func blankLine(src io.ReaderAt, start, to int64) (bool, error) {
	line, err := bufio.NewReader(io.NewSectionReader(src, start, to-start)).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return false, err
	}
	return len(bytes.TrimSpace(line)) == 0, nil
}
