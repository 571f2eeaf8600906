package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// progressEvery is how many bytes lie between two calls of Progress.
const progressEvery = 256 << 10

// bring fills the file part up to the end of the content, from where it ends now.
// A body that breaks off is asked for again from there; it gives up after maxTries
// that brought nothing.
func (c *Client) bring(ctx context.Context, id string, f File, part string) error {
	out, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	pause := pauses()
	for idle := 0; ; {
		before, err := out.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		err = c.bringOnce(ctx, id, f, out, before)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var broken *brokenBody
		if !errors.As(err, &broken) {
			return err
		}
		after, serr := out.Seek(0, io.SeekEnd)
		if serr != nil {
			return serr
		}
		if idle++; after > before {
			idle = 0
			pause.Reset()
		}
		if idle == maxTries {
			return fmt.Errorf("%w: %w", ErrNoNetwork, err)
		}
		d := pause.NextBackOff()
		c.log.Info("a download broke off and goes on", "file", f.Path, "bytes", after, "wait", d.Round(time.Millisecond), "error", err)
		if err := c.o.Wait(ctx, d); err != nil {
			return err
		}
	}
	// Before the name: a crash must not leave a good name on a hole.
	if err := out.Sync(); err != nil {
		return err
	}
	return out.Close()
}

// brokenBody is an error of the network in the middle of a body.
type brokenBody struct{ err error }

func (b *brokenBody) Error() string { return b.err.Error() }
func (b *brokenBody) Unwrap() error { return b.err }

// bringOnce sends one request for what lies after offset and writes what comes.
func (c *Client) bringOnce(ctx context.Context, id string, f File, out *os.File, offset int64) error {
	if f.Size >= 0 && offset > f.Size { // of something else
		if err := out.Truncate(0); err != nil {
			return err
		}
		offset = 0
	}
	if offset == f.Size {
		c.progress(f, offset)
		return nil
	}
	guard := newIdleGuard(ctx, c.o.IdleTimeout)
	defer guard.stop()
	header := http.Header{"Accept-Encoding": {"identity"}} // lengths are those of the file
	if offset > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	resp, err := c.get(guard.ctx, c.resolve(id, f), header)
	var status *statusError
	if errors.As(err, &status) && status.status == http.StatusRequestedRangeNotSatisfiable && offset > 0 {
		// Nothing lies after offset: then it is all, or what is there is of something
		// else; the check that follows tells.
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if offset > 0 {
		if from, _, ok := contentRange(resp); !ok || from != offset {
			if resp.StatusCode == http.StatusPartialContent {
				return fmt.Errorf("%s: asked for the bytes from %d on, the answer has others (Content-Range %q)",
					bare(resp.Request.URL), offset, resp.Header.Get("Content-Range"))
			}
			if err := out.Truncate(0); err != nil { // the whole file comes
				return err
			}
			offset = 0
		}
	}
	if _, err := out.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	return c.copyBody(f, out, guard.watch(resp.Body), offset)
}

// copyBody tells errors of reading, which may go better, from those of writing.
func (c *Client) copyBody(f File, out io.Writer, body io.Reader, done int64) error {
	buf := make([]byte, 64<<10)
	c.progress(f, done)
	for told := done; ; {
		n, rerr := body.Read(buf)
		if _, err := out.Write(buf[:n]); err != nil {
			return err
		}
		done += int64(n)
		if rerr != nil || done-told >= progressEvery {
			told = done
			c.progress(f, done)
		}
		switch {
		case f.Size >= 0 && done > f.Size:
			return nil // too long: the check says so
		case rerr == io.EOF && f.Size >= 0 && done < f.Size:
			return &brokenBody{fmt.Errorf("%d of %d bytes: %w", done, f.Size, io.ErrUnexpectedEOF)}
		case rerr == io.EOF:
			return nil
		case rerr != nil:
			return &brokenBody{rerr}
		}
	}
}

func (c *Client) progress(f File, done int64) {
	if c.o.Progress != nil {
		c.o.Progress(f.Path, done, f.Size)
	}
}

// contentRange reads the first byte and the whole size, or -1, of a partial
// answer (RFC 9110, section 14.4).
func contentRange(r *http.Response) (from, total int64, ok bool) {
	if r.StatusCode != http.StatusPartialContent {
		return 0, 0, false
	}
	value, unit := strings.CutPrefix(r.Header.Get("Content-Range"), "bytes ")
	span, size, slash := strings.Cut(value, "/")
	first, _, dash := strings.Cut(span, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	if !unit || !slash || !dash || err != nil || from < 0 {
		return 0, 0, false
	}
	if size == "*" {
		return from, -1, true
	}
	total, err = strconv.ParseInt(size, 10, 64)
	return from, total, err == nil && total > from
}
