package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Fetch puts a whole file into the cache and gives its path there, or that of the
// copy that is there already. A download that broke off goes on where it stopped,
// in this process or a later one. The content is checked by size and ETag before it
// gets its name; a second process that wants the same waits. Content that is wrong
// is fetched once more; then the error wraps ErrCorrupt. Offline: only the cache.
func (c *Client) Fetch(ctx context.Context, l Listing, f File) (string, error) {
	if name, ok := c.inCache(l.ID, f); ok {
		return name, nil
	}
	switch {
	case !f.safe():
		return "", fmt.Errorf("dataset %s: %w: %q at revision %q cannot be a file in the cache", l.ID, ErrFile, f.Path, f.Revision)
	case c.o.Offline:
		return "", fmt.Errorf("dataset %s: file %s: %w: unset HF_HUB_OFFLINE to fetch it (cache %s)", l.ID, f.Path, ErrOffline, c.o.CacheDir)
	case c.o.CacheDir == "":
		return "", fmt.Errorf("dataset %s: fetching %s: no cache folder is set", l.ID, f.Path)
	case f.ETag == "":
		return "", fmt.Errorf("dataset %s: %w: %s is no longer in the cache: list the dataset again with a network", l.ID, ErrFile, f.Path)
	}
	for _, dir := range []string{
		filepath.Join(c.o.CacheDir, ".locks", repoName(l.ID)),
		filepath.Dir(c.blob(l.ID, f.ETag)),
		filepath.Dir(c.snapshot(l.ID, f)),
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", fmt.Errorf("dataset %s: making the cache: %w", l.ID, err)
		}
	}
	unlock, err := c.lock(ctx, filepath.Join(c.o.CacheDir, ".locks", repoName(l.ID), f.ETag+".lock"))
	if err != nil {
		return "", fmt.Errorf("dataset %s: waiting for another process that fetches %s: %w", l.ID, f.Path, err)
	}
	defer unlock()
	if name, ok := c.inCache(l.ID, f); ok { // that process has put it there
		return name, nil
	}
	if !rightSize(c.blob(l.ID, f.ETag), f.Size) {
		if err := c.download(ctx, l.ID, f); err != nil {
			return "", fmt.Errorf("fetching %s: %w", f.Path, c.explain(l.ID, err))
		}
	}
	name, err := c.link(l.ID, f)
	if err != nil {
		return "", fmt.Errorf("dataset %s: putting %s into the cache: %w", l.ID, f.Path, err)
	}
	return name, nil
}

// Discard removes a file's copy from the cache when its content is not what its
// ETag says, and says whether it did: then Fetch gets it anew. It is for a reader
// that could not decode the file, since reading the whole content each time would
// cost too much. A file that the cache does not hold, or whose ETag is not known, is
// left alone.
func (c *Client) Discard(ctx context.Context, l Listing, f File) (bool, error) {
	name, ok := c.inCache(l.ID, f)
	if !ok || f.ETag == "" {
		return false, nil
	}
	err := checkContent(ctx, name, f)
	if !errors.Is(err, ErrCorrupt) {
		return false, err
	}
	c.log.Warn("the cached copy of a file is damaged and is removed", "dataset", l.ID, "file", name, "error", err)
	if err := errors.Join(removeIfThere(name), removeIfThere(c.blob(l.ID, f.ETag))); err != nil {
		return false, fmt.Errorf("dataset %s: removing the damaged copy of %s: %w", l.ID, f.Path, err)
	}
	return true, nil
}

// inCache is the file's path in the cache when a copy of the right size is there.
func (c *Client) inCache(id string, f File) (string, bool) {
	if c.o.CacheDir == "" || !f.safe() {
		return "", false
	}
	name := c.snapshot(id, f)
	return name, rightSize(name, f.Size)
}

// rightSize follows links.
func rightSize(name string, size int64) bool {
	at, err := os.Stat(name)
	return err == nil && at.Mode().IsRegular() && (size < 0 || at.Size() == size)
}

// link gives a content its name in the snapshot. Where links are not allowed, as
// for most users of Windows, the content itself moves there, which is what the
// Hub's own library does.
func (c *Client) link(id string, f File) (string, error) {
	name, blob := c.snapshot(id, f), c.blob(id, f.ETag)
	if err := removeIfThere(name); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(filepath.Dir(name), blob)
	if err == nil {
		err = os.Symlink(rel, name)
	}
	if err != nil {
		err = os.Rename(blob, name)
	}
	return name, err
}

func removeIfThere(name string) error {
	err := os.Remove(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// download brings the content and checks it, twice at most.
func (c *Client) download(ctx context.Context, id string, f File) error {
	part := c.blob(id, f.ETag) + ".incomplete"
	for again := true; ; again = false {
		if err := c.bring(ctx, id, f, part); err != nil {
			return err
		}
		err := checkContent(ctx, part, f)
		if err == nil {
			return os.Rename(part, c.blob(id, f.ETag))
		}
		if !errors.Is(err, ErrCorrupt) {
			return err
		}
		if rerr := removeIfThere(part); rerr != nil {
			return rerr
		}
		if !again {
			return fmt.Errorf("%s: fetched twice: %w", c.resolve(id, f), err)
		}
		c.log.Warn("a file was damaged on its way and is fetched again", "dataset", id, "file", f.Path, "error", err)
	}
}

// checkContent compares a file with its size and ETag. The error wraps ErrCorrupt
// when it is another, and not when it cannot be read.
func checkContent(ctx context.Context, name string, f File) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	at, err := file.Stat()
	if err != nil {
		return err
	}
	if f.Size >= 0 && at.Size() != f.Size {
		return fmt.Errorf("%w: it has %d bytes instead of %d", ErrCorrupt, at.Size(), f.Size)
	}
	h := contentHash(f.ETag, at.Size())
	if _, err := io.Copy(h, &untilDone{ctx, file}); err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != f.ETag {
		return fmt.Errorf("%w: its hash is %s instead of %s", ErrCorrupt, got, f.ETag)
	}
	return nil
}
