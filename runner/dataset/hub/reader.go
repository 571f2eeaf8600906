package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

// Open reads parts of a file: from the cache's copy where there is one, else by
// range requests that bring little more than what is asked for. A file of at most
// Options.WholeBelow bytes, and one whose server knows no ranges, is put into the
// cache first. Close the reader; ctx must live as long as it does.
//
// Errors are those of Fetch; offline a file that is not in the cache is one at
// once.
func (c *Client) Open(ctx context.Context, l Listing, f File) (Reader, error) {
	if name, ok := c.inCache(l.ID, f); ok {
		return openCached(name)
	}
	whole := f.Size >= 0 && f.Size <= c.o.WholeBelow && c.o.CacheDir != ""
	if c.o.Offline || whole || f.ETag == "" {
		return c.openWhole(ctx, l, f)
	}
	r := &rangeReader{c: c, ctx: ctx, listing: l, file: f, blocks: newBlockCache()}
	if f.Size < 0 {
		if err := r.findSize(); err != nil {
			return nil, fmt.Errorf("opening %s: %w", f.Path, c.explain(l.ID, err))
		}
	}
	return r, nil
}

func (c *Client) openWhole(ctx context.Context, l Listing, f File) (Reader, error) {
	name, err := c.Fetch(ctx, l, f)
	if err != nil {
		return nil, err
	}
	return openCached(name)
}

// cachedFile is a whole file on the disk.
type cachedFile struct {
	*os.File
	size int64
}

func openCached(name string) (Reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening a file in the cache: %w", err)
	}
	at, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("opening a file in the cache: %w", err)
	}
	return &cachedFile{f, at.Size()}, nil
}

func (f *cachedFile) Size() int64 { return f.size }

// errNoRanges: the server sends the whole file, whatever is asked for.
var errNoRanges = errors.New("the server knows no ranges")

// rangeReader reads a remote file in blocks.
type rangeReader struct {
	c       *Client
	ctx     context.Context // io.ReaderAt has no place for one
	listing Listing
	file    File

	mu     sync.Mutex // one request at a time, so that no two bring the same block
	blocks *blockCache
	next   int64  // the block after the last one that was fetched
	ahead  int64  // blocks that the next fetch of a reader that goes straight on brings
	direct string // where the last redirect led; it is good for a while
	whole  Reader // set once the server has proved to know no ranges
}

var _ Reader = (*rangeReader)(nil)

func (r *rangeReader) Size() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Size
}

func (r *rangeReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocks = newBlockCache()
	if r.whole != nil {
		return r.whole.Close()
	}
	return nil
}

// ReadAt reads through the block cache. An error names the file.
func (r *rangeReader) ReadAt(p []byte, off int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if off < 0 {
		return 0, fmt.Errorf("reading %s: negative offset %d", r.file.Path, off)
	}
	if r.whole == nil {
		n, err := r.read(p, off)
		if !errors.Is(err, errNoRanges) {
			if err != nil && !errors.Is(err, io.EOF) {
				err = fmt.Errorf("reading %s: %w", r.file.Path, r.c.explain(r.listing.ID, err))
			}
			return n, err
		}
		if r.whole, err = r.c.openWhole(r.ctx, r.listing, r.file); err != nil {
			return 0, err
		}
	}
	return r.whole.ReadAt(p, off)
}

func (r *rangeReader) read(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off+int64(n) < r.file.Size {
		at := off + int64(n)
		b, ok := r.blocks.get(at / blockSize)
		if !ok {
			var err error
			if b, err = r.fill(at/blockSize, (off+int64(len(p))-1)/blockSize); err != nil {
				return n, err
			}
		}
		n += copy(p[n:], b[at%blockSize:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// fill fetches block first and those up to last that follow it and are missing,
// in one request of at most maxFetch, and gives the first. A reader that goes
// straight on gets twice as much each time.
func (r *rangeReader) fill(first, last int64) ([]byte, error) {
	if first != r.next || r.ahead == 0 {
		r.ahead = 1
	}
	want := min(max(r.ahead, last-first+1), maxFetch/blockSize)
	blocks := (r.file.Size + blockSize - 1) / blockSize
	end := first + 1
	for end < blocks && end-first < want && !r.blocks.has(end) {
		end++
	}
	raw, err := r.fetch(first*blockSize, min(end*blockSize, r.file.Size))
	if err != nil {
		return nil, err
	}
	r.next, r.ahead = end, min(2*max(r.ahead, end-first), maxFetch/blockSize)
	for i := end - 1; i >= first; i-- { // the first last, so that it is the newest
		start := (i - first) * blockSize
		r.blocks.put(i, raw[start:min(start+blockSize, int64(len(raw)))])
	}
	return raw[:min(blockSize, int64(len(raw)))], nil
}

// fetch brings the bytes from start to before end, again when the body breaks off.
func (r *rangeReader) fetch(start, end int64) ([]byte, error) {
	pause := pauses()
	for try := 1; ; try++ {
		raw, err := r.fetchOnce(start, end)
		var broken *brokenBody
		if err == nil || !errors.As(err, &broken) {
			return raw, err
		}
		if r.ctx.Err() != nil {
			return nil, context.Cause(r.ctx)
		}
		if try == maxTries {
			return nil, fmt.Errorf("%w: %w", ErrNoNetwork, err)
		}
		if err := r.c.o.Wait(r.ctx, pause.NextBackOff()); err != nil {
			return nil, err
		}
	}
}

func (r *rangeReader) fetchOnce(start, end int64) ([]byte, error) {
	guard := newIdleGuard(r.ctx, r.c.o.IdleTimeout)
	defer guard.stop()
	resp, err := r.request(guard.ctx, start, end)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	from, total, ok := contentRange(resp)
	if resp.StatusCode == http.StatusOK && (start > 0 || end < r.file.Size) {
		return nil, errNoRanges
	}
	if resp.StatusCode == http.StatusPartialContent && (!ok || from != start || total >= 0 && total != r.file.Size) {
		return nil, fmt.Errorf("%w: asked for bytes %d to %d of %d, the answer has Content-Range %q",
			ErrCorrupt, start, end-1, r.file.Size, resp.Header.Get("Content-Range"))
	}
	raw := make([]byte, end-start)
	if _, err := io.ReadFull(guard.watch(resp.Body), raw); err != nil {
		return nil, &brokenBody{err}
	}
	return raw, nil
}

// request asks where the last redirect led, which saves half of the round trips,
// and at the Hub when that address has run out.
func (r *rangeReader) request(ctx context.Context, start, end int64) (*http.Response, error) {
	header := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", start, end-1)}, "Accept-Encoding": {"identity"}}
	if r.direct != "" {
		resp, err := r.c.get(ctx, r.direct, header)
		var status *statusError
		if err == nil || !errors.As(err, &status) {
			return resp, err
		}
		r.direct = ""
	}
	address := r.c.resolve(r.listing.ID, r.file)
	resp, err := r.c.get(ctx, address, header)
	if err == nil && resp.Request.URL.String() != address {
		r.direct = resp.Request.URL.String()
	}
	return resp, err
}

// findSize asks for one byte to learn how many there are.
func (r *rangeReader) findSize() error {
	resp, err := r.request(r.ctx, 0, 1)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	r.file.Size = resp.ContentLength
	if _, total, ok := contentRange(resp); ok {
		r.file.Size = total
	}
	if r.file.Size < 0 {
		return fmt.Errorf("%w: the server does not say how long it is", ErrCorrupt)
	}
	return nil
}
