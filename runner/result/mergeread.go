package result

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
)

// readParts reads run-sets, a few at a time. The error is of the first that cannot be
// read, in their order.
func readParts(ctx context.Context, dirs []string) ([]part, error) {
	parts, errs := make([]part, len(dirs)), make([]error, len(dirs))
	var next atomic.Int64
	var wholes wholeCache
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(dirs)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(dirs) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				parts[i], errs[i] = readPart(dirs[i], &wholes)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// readPart reads one run-set. One that has begun but has no row yet has none.
func readPart(dir string, wholes *wholeCache) (part, error) {
	manifest, err := readManifest(dir, wholes.decode)
	if err != nil {
		return part{}, fmt.Errorf("%w; merge takes run-sets, or a folder of %s<i>", err, ShardPrefix)
	}
	rows, problems, err := Read(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return part{}, err
	}
	return part{dir: dir, manifest: manifest, rows: rows, count: len(rows), problems: problems}, nil
}

// wholeCache decodes the plan that shards are of. A thousand shards all name the thousand
// servers of one plan: decoded and kept once is enough. It is safe for concurrent use.
type wholeCache struct {
	mu    sync.Mutex
	text  []byte // that whole was decoded of
	whole *Whole
}

// decode gives equal texts one Whole, as long as no other lies between them.
func (c *wholeCache) decode(text []byte, to **Whole) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text == nil || !bytes.Equal(c.text, text) {
		var whole *Whole
		if err := json.Unmarshal(text, &whole); err != nil {
			return fmt.Errorf("whole: %w", err)
		}
		c.text, c.whole = bytes.Clone(text), whole
	}
	*to = c.whole
	return nil
}
