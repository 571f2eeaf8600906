package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
)

// contentHash is the hash that an ETag of its length is made by: SHA-256 of the
// content for a large file, git's blob id for a small one, which is SHA-1 over a
// header and the content (git-scm.com/book/en/v2/Git-Internals-Git-Objects).
func contentHash(etag string, size int64) hash.Hash {
	if len(etag) == sha256.Size*2 {
		return sha256.New()
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

// untilDone reads until the context ends.
type untilDone struct {
	ctx context.Context // of one call; it does not outlive it
	r   io.Reader
}

func (u *untilDone) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(p)
}
