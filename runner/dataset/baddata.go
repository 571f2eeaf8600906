package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
)

// badData is a fault of the data's form, not of reading it.
type badData struct {
	err    error
	offset int64 // bytes of the text up to the one at fault, where that is known
}

// atEnd is the offset of a fault at the end of the text.
const atEnd = math.MaxInt64

func (e *badData) Error() string { return e.err.Error() }
func (e *badData) Unwrap() error { return e.err }

func isBadData(err error) bool {
	_, ok := errors.AsType[*badData](err)
	return ok
}

// errNotUTF8 is a text that JSON cannot hold.
var errNotUTF8 = errors.New("the text is not UTF-8: convert the file")

// placed puts the file's name before the error and, where the form is at fault,
// the line. The line costs a second look at the file, which only errors pay.
func placed(ctx context.Context, f file, err error) error {
	bad, ok := errors.AsType[*badData](err)
	if !ok {
		return fmt.Errorf("reading %s: %w", f.path, err)
	}
	line, lineErr := lineAt(ctx, f, bad.offset)
	if lineErr != nil { // it was readable a moment ago; the fault itself matters more
		return fmt.Errorf("%s: %w", f.path, bad)
	}
	return fmt.Errorf("%s:%d: %w", f.path, line, bad)
}

// lineAt is the line, from 1, of a text's offset-th byte.
func lineAt(ctx context.Context, f file, offset int64) (int, error) {
	text, err := f.text(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = text.Close() }() // only read from
	return countLines(text, max(offset-1, 0))
}

// countLines is the line, from 1, of the byte after the first n bytes.
func countLines(r io.Reader, n int64) (int, error) {
	line, buf := 1, make([]byte, 64<<10)
	for text := io.LimitReader(r, n); ; {
		n, err := text.Read(buf)
		line += bytes.Count(buf[:n], []byte("\n"))
		if err == io.EOF {
			return line, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
