package hub

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/specsweep/specsweep/runner/dataset/hub/hubtest"
)

func open(t *testing.T, f *fixture, content []byte) Reader {
	t.Helper()
	oneFile(f, content)
	l := mustList(t, f.c, Query{ID: "org/one"})
	r, err := f.c.Open(t.Context(), l, l.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestReaderReadsRight(t *testing.T) {
	content := noise(3<<20 + 12345)
	f := newFixture(t, nil)
	r := open(t, f, content)
	if r.Size() != int64(len(content)) {
		t.Errorf("size %d, want %d", r.Size(), len(content))
	}
	if err := iotest.TestReader(io.NewSectionReader(r, 0, r.Size()), content); err != nil {
		t.Error(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var wg sync.WaitGroup
	for range 4 {
		seed := rng.Uint64()
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 0))
			for range 50 {
				off, n := rng.IntN(len(content)), rng.IntN(300_000)
				p := make([]byte, n)
				got, err := r.ReadAt(p, int64(off))
				want := content[off:min(off+n, len(content))]
				if !bytes.Equal(p[:got], want) || (errors.Is(err, io.EOF)) != (len(want) < n) || err != nil && !errors.Is(err, io.EOF) {
					t.Errorf("ReadAt(%d bytes, %d) = %d, %v", n, off, got, err)
				}
			}
		})
	}
	wg.Wait()
	if _, err := r.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("a negative offset is no error")
	}
	if n, err := r.ReadAt(make([]byte, 1), r.Size()); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("ReadAt at the end = %d, %v, want 0, EOF", n, err)
	}
}

func TestReaderBringsLittle(t *testing.T) {
	content := noise(24 << 20)
	tests := map[string]struct {
		read     func(t *testing.T, r Reader)
		bytes    int64 // at most
		requests int   // at most, to both servers
	}{
		"the last eight bytes, twice": {func(t *testing.T, r Reader) {
			for range 2 {
				readAt(t, r, r.Size()-8, 8)
			}
		}, 64 << 10, 2},
		"1 MiB in one piece": {func(t *testing.T, r Reader) { readAt(t, r, 20<<20, 1<<20) }, 1 << 20, 2},
		"1 MiB in small pieces": {func(t *testing.T, r Reader) {
			for off := int64(0); off < 1<<20; off += 4096 {
				readAt(t, r, 20<<20+off, 4096)
			}
		}, 2 << 20, 6},
		"far apart": {func(t *testing.T, r Reader) {
			for i := range int64(10) {
				readAt(t, r, i<<21, 100)
			}
		}, 10 * 64 << 10, 11},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			r := open(t, f, content)
			before := len(f.hub.Requests())
			tt.read(t, r)
			if got := f.hub.Bytes(); got > tt.bytes {
				t.Errorf("%d bytes sent, want at most %d", got, tt.bytes)
			}
			if got := len(f.hub.Requests()) - before; got > tt.requests {
				t.Errorf("%d requests, want at most %d", got, tt.requests)
			}
		})
	}
}

func readAt(t *testing.T, r Reader, off, n int64) {
	t.Helper()
	if _, err := r.ReadAt(make([]byte, n), off); err != nil {
		t.Fatalf("ReadAt(%d, %d): %v", n, off, err)
	}
}

func TestReaderThroughFaults(t *testing.T) {
	content := noise(2 << 20)
	tests := map[string]struct {
		fault hubtest.Fault
		err   error
	}{
		"broken off twice":     {hubtest.Fault{Store: true, Cut: 10_000, Times: 2}, nil},
		"broken off always":    {hubtest.Fault{Store: true, Cut: 10_000}, ErrNoNetwork},
		"no ranges":            {hubtest.Fault{Store: true, NoRange: true}, nil},
		"the address ran out":  {hubtest.Fault{Store: true, Status: 403, Skip: 1, Times: 1}, nil},
		"503 twice":            {hubtest.Fault{Store: true, Status: 503, Times: 2}, nil},
		"gone from the Hub":    {hubtest.Fault{Path: "/resolve/", Status: 404, Code: "EntryNotFound"}, ErrFile},
		"other bytes than due": {hubtest.Fault{Store: true, Status: 206, Header: map[string][]string{"Content-Range": {"bytes 5-9/100"}}}, ErrCorrupt},
		"another length than listed": {hubtest.Fault{Store: true, Status: 206, Body: strings.Repeat("x", 2*blockSize),
			Header: map[string][]string{"Content-Range": {"bytes 1048576-1179647/9999999"}}}, ErrCorrupt},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			r := open(t, f, content)
			f.hub.Fail(tt.fault)
			p := make([]byte, 100_000)
			var err error
			for _, off := range []int64{1 << 20, 0} {
				if _, err = r.ReadAt(p, off); err != nil {
					break
				}
				if !bytes.Equal(p, content[off:off+100_000]) {
					t.Errorf("wrong bytes at %d", off)
				}
			}
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if err != nil && (!strings.Contains(err.Error(), "train.jsonl") || strings.Contains(err.Error(), "Signature")) {
				t.Errorf("error %q: want the file's name and no signature", err)
			}
		})
	}
}

// A file that is there, and a small one, is read from the cache.
func TestOpenFromCache(t *testing.T) {
	f := newFixture(t, nil)
	oneFile(f, noise(5000))
	l := mustList(t, f.c, Query{ID: "org/one"})
	for range 2 {
		r, err := f.c.Open(t.Context(), l, l.Files[0])
		if err != nil {
			t.Fatal(err)
		}
		readAt(t, r, 4000, 1000)
		if r.Size() != 5000 {
			t.Errorf("size %d, want 5000", r.Size())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := f.hub.Bytes(); got != 5000 {
		t.Errorf("%d bytes sent, want the file once", got)
	}
}

func TestOpenSizeUnknown(t *testing.T) {
	content := noise(200_000)
	f := newFixture(t, nil)
	oneFile(f, content)
	l := mustList(t, f.c, Query{ID: "org/one"})
	file := l.Files[0]
	file.Size = -1
	r, err := f.c.Open(t.Context(), l, file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Size() != 200_000 {
		t.Errorf("size %d, want 200000", r.Size())
	}
	readAt(t, r, 199_000, 1000)
}

func TestReaderCancelled(t *testing.T) {
	f := newFixture(t, nil)
	oneFile(f, noise(2<<20))
	l := mustList(t, f.c, Query{ID: "org/one"})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := f.c.Open(ctx, l, l.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	if _, err := r.ReadAt(make([]byte, 1), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestBlockCacheIsBounded(t *testing.T) {
	c := newBlockCache()
	for i := range int64(2 * maxBlocks) {
		c.put(i, []byte{byte(i)})
		c.get(0)
	}
	if n := len(c.byID); n != maxBlocks {
		t.Errorf("%d blocks kept, want %d", n, maxBlocks)
	}
	if !c.has(0) {
		t.Error("the block that is always used was dropped")
	}
}
