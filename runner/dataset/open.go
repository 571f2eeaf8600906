package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// lfsPrefix begins every Git LFS pointer file: a few lines of text that stand
// where the data should be (git-lfs/docs/spec.md).
const lfsPrefix = "version https://git-lfs.github.com/spec/"

var utf8BOM = []byte("\xef\xbb\xbf")

// openFile opens a data file and gives its size in bytes. It refuses what is
// certainly no data: an empty file and a Git LFS pointer. The caller closes it.
func openFile(path string) (*os.File, int64, error) {
	// Opening a pipe waits for its writer, and no context ends that.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("reading prompts: %s is no regular file (%s): copy the data into one", path, info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("reading prompts: %w", err)
	}
	size, err := checkFile(f)
	if err != nil {
		_ = f.Close() // only read from
		return nil, 0, fmt.Errorf("reading prompts: %s: %w", path, err)
	}
	return f, size, nil
}

func checkFile(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() == 0 {
		return 0, fmt.Errorf("the file is empty (0 bytes): fetch or write it again")
	}
	head := make([]byte, len(lfsPrefix))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if string(head[:n]) == lfsPrefix {
		return 0, fmt.Errorf("the file is a Git LFS pointer, not the data: run `git lfs pull` in its repository")
	}
	return info.Size(), nil
}

// openText opens a file of text: unpacked when its ending says it is packed, and
// without a byte order mark. The caller closes it.
func openText(path string) (io.ReadCloser, error) {
	f, _, err := openFile(path)
	if err != nil {
		return nil, err
	}
	t := &textFile{closers: []func() error{f.Close}}
	var src io.Reader = f
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		z, err := gzip.NewReader(f)
		if err != nil {
			_ = t.Close() // only read from
			return nil, fmt.Errorf("unpacking %s: %w", path, err)
		}
		src = z
	case ".zst":
		// Concurrency 1 decodes in the caller: nothing runs on after Close.
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		if err != nil {
			_ = t.Close()
			return nil, fmt.Errorf("unpacking %s: %w", path, err)
		}
		t.closers = append(t.closers, func() error { z.Close(); return nil })
		src = z
	}
	t.Reader = withoutBOM(src)
	return t, nil
}

// withoutBOM drops a UTF-8 byte order mark. An error of the peek comes again from
// the first read.
func withoutBOM(r io.Reader) *bufio.Reader {
	b := bufio.NewReaderSize(r, 64<<10)
	if head, _ := b.Peek(len(utf8BOM)); bytes.Equal(head, utf8BOM) {
		_, _ = b.Discard(len(utf8BOM)) // buffered by the peek: cannot fail
	}
	return b
}

// textFile is an open file with what unpacks it.
type textFile struct {
	*bufio.Reader
	closers []func() error
}

// Close closes the unpacker, then the file, and gives the file's error.
func (t *textFile) Close() error {
	var err error
	for i := len(t.closers) - 1; i >= 0; i-- {
		err = t.closers[i]()
	}
	return err
}
