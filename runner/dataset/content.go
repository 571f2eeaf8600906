package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// file is one file of a dataset and how to read it.
type file struct {
	path   string // as errors name it
	format Format
	origin origin // nil: on this machine at path
}

// origin is a place other than this machine that a file comes from.
type origin interface {
	// open gives the file's bytes, of which only those that are read need be
	// fetched. The caller closes it.
	open(ctx context.Context) (*content, error)
	// fetch gives the path of a whole copy on this machine.
	fetch(ctx context.Context) (path string, err error)
}

// content is a file's bytes, in any order.
type content struct {
	io.ReaderAt
	size  int64 // bytes
	close func() error
}

// text is all of it, in order.
func (c *content) text() io.Reader { return io.NewSectionReader(c, 0, c.size) }

// bytes opens the file for reads in any order, as it is: nothing is unpacked.
func (f file) bytes(ctx context.Context) (*content, error) {
	if f.origin != nil {
		return f.origin.open(ctx)
	}
	disk, size, err := openFile(f.path)
	if err != nil {
		return nil, err
	}
	return &content{ReaderAt: disk, size: size, close: disk.Close}, nil
}

// local is where the file is on this machine, once it is here.
func (f file) local(ctx context.Context) (string, error) {
	if f.origin != nil {
		return f.origin.fetch(ctx)
	}
	return f.path, nil
}

// text opens the file for one read from start to end, unpacked and without a byte
// order mark. The caller closes it.
func (f file) text(ctx context.Context) (io.ReadCloser, error) {
	path, err := f.local(ctx)
	if err != nil {
		return nil, err
	}
	return openText(path)
}

// unpacked opens a text for reads in any order; its first byte, after a byte order
// mark, is at start. What is packed, or is no regular file, is unpacked once into a
// temporary file that goes away with the content.
func (f file) unpacked(ctx context.Context) (c *content, start int64, err error) {
	path, err := f.local(ctx)
	if err != nil {
		return nil, 0, err
	}
	if packing(path) == "" {
		disk, size, err := openFile(path)
		if err != nil {
			return nil, 0, err
		}
		c = &content{ReaderAt: disk, size: size, close: disk.Close}
		if info, err := disk.Stat(); err == nil && info.Mode().IsRegular() {
			start, err = bomLength(c)
			if err != nil {
				_ = c.close() // only read from
				return nil, 0, fmt.Errorf("reading %s: %w", f.path, err)
			}
			return c, start, nil
		}
		_ = c.close() // only read from
	}
	text, err := openText(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = text.Close() }() // only read from
	if c, err = spool(ctx, text); err != nil {
		return nil, 0, fmt.Errorf("unpacking %s: %w", f.path, err)
	}
	return c, 0, nil
}

// bomLength is the length of a byte order mark at the start.
func bomLength(c *content) (int64, error) {
	head := make([]byte, len(utf8BOM))
	n, err := c.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if bytes.Equal(head[:n], utf8BOM) {
		return int64(n), nil
	}
	return 0, nil
}

// spool copies a text into a temporary file, which its close removes.
func spool(ctx context.Context, text io.Reader) (*content, error) {
	tmp, err := os.CreateTemp("", "specsweep-rows-*")
	if err != nil {
		return nil, err
	}
	c := &content{ReaderAt: tmp, close: func() error {
		_ = tmp.Close() // the file goes
		return os.Remove(tmp.Name())
	}}
	if c.size, err = io.Copy(tmp, stoppable{ctx, text}); err != nil {
		_ = c.close() // the error of the copy matters more
		return nil, err
	}
	return c, nil
}

// stoppable is a reader that ends with a context.
type stoppable struct {
	ctx  context.Context
	from io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.from.Read(p)
}
