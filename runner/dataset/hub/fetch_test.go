package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/dataset/hub/hubtest"
)

func mustFetch(t *testing.T, c *Client, l Listing) string {
	t.Helper()
	name, err := c.Fetch(t.Context(), l, l.Files[0])
	if err != nil {
		t.Fatalf("Fetch: %v", err)
	}
	return name
}

func wantContent(t *testing.T, name string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s has %d bytes that are not the file's %d", name, len(got), len(want))
	}
}

// The layout is the one that other tools read: a relative link into blobs, and the
// branch's commit.
func TestFetchLayout(t *testing.T) {
	f := newFixture(t, nil)
	f.hub.Add("org/d", hubtest.Dataset{
		Files: map[string]hubtest.Content{"data/train a#1.jsonl": text("{}"), "test.jsonl": text("small")},
		Small: []string{"test.jsonl"},
	})
	l := mustList(t, f.c, Query{ID: "org/d", Split: "train"})
	name := mustFetch(t, f.c, l)
	repo := filepath.Join(f.o.CacheDir, "datasets--org--d")
	if want := filepath.Join(repo, "snapshots", l.Revision, "data", "train a#1.jsonl"); name != want {
		t.Errorf("path %s, want %s", name, want)
	}
	if link, err := os.Readlink(name); err != nil || link != "../../../blobs/"+l.Files[0].ETag {
		t.Errorf("link %q, %v", link, err)
	}
	wantContent(t, name, []byte("{}"))
	wantContent(t, filepath.Join(repo, "refs", "main"), []byte(l.Revision))
	small := mustList(t, f.c, Query{ID: "org/d", Split: "test"})
	wantContent(t, mustFetch(t, f.c, small), []byte("small"))
	if n := len(small.Files[0].ETag); n != 40 {
		t.Errorf("ETag of %d digits, want git's 40", n)
	}
	left, _ := filepath.Glob(filepath.Join(repo, "blobs", "*.incomplete"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFetchOnce(t *testing.T) {
	f := newFixture(t, nil)
	oneFile(f, noise(5000))
	l := mustList(t, f.c, Query{ID: "org/one"})
	first := mustFetch(t, f.c, l)
	f.hub.Reset()
	if second := mustFetch(t, f.c, l); second != first {
		t.Errorf("second path %s, want %s", second, first)
	}
	if n := len(f.hub.Requests()); n != 0 {
		t.Errorf("%d requests for what is in the cache", n)
	}
}

// What another tool has put into the cache is used as it is, without our list.
func TestForeignCache(t *testing.T) {
	sha, etag := strings.Repeat("a", 40), strings.Repeat("b", 64)
	put := func(t *testing.T, dir string, names ...string) {
		t.Helper()
		repo := filepath.Join(dir, "datasets--org--d")
		for _, n := range names {
			name := filepath.Join(repo, "snapshots", sha, n)
			blob := filepath.Join(repo, "blobs", etag)
			for _, d := range []string{filepath.Dir(name), filepath.Dir(blob), filepath.Join(repo, "refs")} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			rel, _ := filepath.Rel(filepath.Dir(name), blob)
			if err := errors.Join(os.WriteFile(blob, []byte("rows"), 0o644), os.Symlink(rel, name),
				os.WriteFile(filepath.Join(repo, "refs", "main"), []byte(sha), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("whole", func(t *testing.T) {
		f := newFixture(t, offline)
		put(t, f.o.CacheDir, "data/test-00000-of-00002.parquet", "data/test-00001-of-00002.parquet", "README.md")
		l := mustList(t, f.c, Query{ID: "org/d", Split: "test"})
		if diff := cmp.Diff([]string{"data/test-00000-of-00002.parquet", "data/test-00001-of-00002.parquet"}, paths(l)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if len(l.Warnings) != 1 {
			t.Errorf("warnings %q, want one", l.Warnings)
		}
		wantContent(t, mustFetch(t, f.c, l), []byte("rows"))
	})
	t.Run("a shard is missing", func(t *testing.T) {
		f := newFixture(t, offline)
		put(t, f.o.CacheDir, "data/test-00001-of-00002.parquet")
		_, err := f.c.List(t.Context(), Query{ID: "org/d", Split: "test"})
		if !errors.Is(err, ErrOffline) || !strings.Contains(err.Error(), "data/test-00000-of-00002.parquet") {
			t.Errorf("error %v, want ErrOffline that names the missing shard", err)
		}
	})
}

func TestFetchThroughFaults(t *testing.T) {
	content := noise(300_000)
	tests := map[string]struct {
		fault hubtest.Fault
		bytes int64 // sent in all
		err   error
	}{
		"broken off often, goes on":     {hubtest.Fault{Store: true, Cut: 40_000, Times: 7}, 300_000, nil},
		"stands still once, goes on":    {hubtest.Fault{Store: true, Stall: 100_000, Times: 1}, 300_000, nil},
		"no ranges: from the beginning": {hubtest.Fault{Store: true, Cut: 100_000, NoRange: true, Times: 1}, 300_000, nil},
		"slow pieces":                   {hubtest.Fault{Store: true, Pieces: 1000}, 300_000, nil},
		"damaged once":                  {hubtest.Fault{Store: true, Corrupt: true, Times: 1}, 600_000, nil},
		"damaged always":                {hubtest.Fault{Store: true, Corrupt: true}, 600_000, ErrCorrupt},
		"503 from the store":            {hubtest.Fault{Store: true, Status: 503, Times: 2}, 300_000, nil},
		"dropped always":                {hubtest.Fault{Store: true, Drop: true}, 0, ErrNoNetwork},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(o *Options) { o.IdleTimeout = 200 * time.Millisecond })
			oneFile(f, content)
			l := mustList(t, f.c, Query{ID: "org/one"})
			f.hub.Fail(tt.fault)
			name, err := f.c.Fetch(t.Context(), l, l.Files[0])
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if got := f.hub.Bytes(); got != tt.bytes {
				t.Errorf("%d bytes sent, want %d", got, tt.bytes)
			}
			if tt.err == nil {
				wantContent(t, name, content)
				return
			}
			if !strings.Contains(err.Error(), "org/one") || strings.Contains(err.Error(), "Signature") {
				t.Errorf("error %q: want the dataset's name and no signature", err)
			}
			if _, err := os.Lstat(f.c.snapshot(l.ID, l.Files[0])); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the file has its name in spite of the error (%v)", err)
			}
		})
	}
}

// Each redirect of a server without ranges brings the whole file again.
func TestFetchWithoutRangesAlways(t *testing.T) {
	content := noise(300_000)
	f := newFixture(t, nil)
	oneFile(f, content)
	l := mustList(t, f.c, Query{ID: "org/one"})
	f.hub.Fail(hubtest.Fault{Store: true, NoRange: true, Cut: 100_000, Times: 1})
	f.hub.Fail(hubtest.Fault{Store: true, NoRange: true})
	wantContent(t, mustFetch(t, f.c, l), content)
	if got := f.hub.Bytes(); got != 400_000 {
		t.Errorf("%d bytes sent, want 400000", got)
	}
}

// A later process goes on where an earlier one was ended.
func TestFetchResumesLater(t *testing.T) {
	content := noise(300_000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := newFixture(t, func(o *Options) {
		o.Progress = func(_ string, done, total int64) {
			if done > 0 && done < total {
				cancel()
			}
		}
	})
	oneFile(f, content)
	l := mustList(t, f.c, Query{ID: "org/one"})
	f.hub.Fail(hubtest.Fault{Store: true, Stall: 270_000, Times: 1})
	if _, err := f.c.Fetch(ctx, l, l.Files[0]); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	part, err := os.Stat(f.c.blob(l.ID, l.Files[0].ETag) + ".incomplete")
	if err != nil || part.Size() == 0 {
		t.Fatalf("nothing kept of the first download: %v", err)
	}
	f.hub.Reset()
	var first, last int64 = -1, 0
	c := f.again(t, func(o *Options) {
		o.Progress = func(_ string, done, _ int64) {
			if first < 0 {
				first = done
			}
			last = done
		}
	})
	wantContent(t, mustFetch(t, c, l), content)
	// Not by the bytes that the Hub has sent: those of the first download may still
	// be on their way when the second one begins.
	var asked []string
	for _, r := range f.hub.Requests() {
		if r.Store {
			asked = append(asked, r.Header.Get("Range"))
		}
	}
	if want := []string{fmt.Sprintf("bytes=%d-", part.Size())}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want the missing %q", asked, want)
	}
	if first != part.Size() || last != int64(len(content)) {
		t.Errorf("progress from %d to %d, want from %d to %d", first, last, part.Size(), len(content))
	}
}

// What lies there unfinished may be of something else.
func TestFetchForeignPart(t *testing.T) {
	content := noise(300_000)
	for name, part := range map[string][]byte{
		"too long":    make([]byte, 400_000),
		"as long":     make([]byte, 300_000),
		"a beginning": make([]byte, 1000),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			oneFile(f, content)
			l := mustList(t, f.c, Query{ID: "org/one"})
			at := f.c.blob(l.ID, l.Files[0].ETag) + ".incomplete"
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, part, 0o644)); err != nil {
				t.Fatal(err)
			}
			wantContent(t, mustFetch(t, f.c, l), content)
		})
	}
}

func TestFetchDamagedCopy(t *testing.T) {
	content := noise(300_000)
	f := newFixture(t, nil)
	oneFile(f, content)
	l := mustList(t, f.c, Query{ID: "org/one"})
	name := mustFetch(t, f.c, l)

	if gone, err := f.c.Discard(t.Context(), l, l.Files[0]); gone || err != nil {
		t.Errorf("Discard of a good copy = %v, %v, want false", gone, err)
	}
	if err := os.Truncate(name, 10); err != nil { // seen at once
		t.Fatal(err)
	}
	wantContent(t, mustFetch(t, f.c, l), content)

	if err := os.WriteFile(name, make([]byte, len(content)), 0o644); err != nil { // seen by who reads it
		t.Fatal(err)
	}
	if gone, err := f.c.Discard(t.Context(), l, l.Files[0]); !gone || err != nil {
		t.Errorf("Discard of a damaged copy = %v, %v, want true", gone, err)
	}
	wantContent(t, mustFetch(t, f.c, l), content)
}

func TestFetchRefusals(t *testing.T) {
	gated := hubtest.Dataset{Files: map[string]hubtest.Content{"a.jsonl": text("{}")}, Gated: true, Accepted: []string{"good"}}
	tests := map[string]struct {
		token string
		want  error
		text  string
	}{
		"gated, no token":             {"", ErrGated, "set HF_TOKEN"},
		"gated, terms not accepted":   {"other", ErrGated, "/datasets/org/d"},
		"gated and accepted, no fail": {"good", nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(o *Options) { o.Token = tt.token })
			f.hub.Add("org/d", gated)
			l := mustList(t, f.c, Query{ID: "org/d"})
			_, err := f.c.Fetch(t.Context(), l, l.Files[0])
			if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want %v and %q", err, tt.want, tt.text)
			}
		})
	}
	f := newFixture(t, nil)
	f.hub.Add("org/d", gated)
	l := mustList(t, f.c, Query{ID: "org/d"})
	for _, path := range []string{"../../../x", "/x", ""} {
		if _, err := f.c.Fetch(t.Context(), l, File{Path: path, Revision: l.Revision, ETag: l.Files[0].ETag}); !errors.Is(err, ErrFile) {
			t.Errorf("path %q: error %v, want ErrFile", path, err)
		}
	}
	gone := l.Files[0]
	gone.Path = "b.jsonl"
	f = newFixture(t, func(o *Options) { o.Token = "good" })
	f.hub.Add("org/d", gated)
	if _, err := f.c.Fetch(t.Context(), l, gone); !errors.Is(err, ErrFile) {
		t.Errorf("error %v, want ErrFile for a file that is not there", err)
	}
}

// The token goes to the Hub's port and to no other, although the host is the same.
func TestTokenStaysHome(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Token = "good"; o.WholeBelow = -1 })
	oneFile(f, noise(200_000))
	l := mustList(t, f.c, Query{ID: "org/one"})
	r, err := f.c.Open(t.Context(), l, l.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.ReadAt(make([]byte, 10), 0); err != nil {
		t.Fatal(err)
	}
	mustFetch(t, f.c, l)
	store := 0
	for _, req := range f.hub.Requests() {
		auth := req.Header.Get("Authorization")
		if req.Store {
			store++
			if auth != "" {
				t.Errorf("the store was told %q", auth)
			}
		} else if auth != "Bearer good" {
			t.Errorf("%s: Authorization %q, want the token", req.Path, auth)
		}
	}
	if store < 2 {
		t.Errorf("%d requests to the store, want those of Open and Fetch", store)
	}
	if strings.Contains(f.log.String(), "good") {
		t.Error("the token stands in the log")
	}
}

func TestProxyIsHonoured(t *testing.T) {
	c := New(Options{})
	defer c.Close()
	base, ok := c.http.Transport.(*authTransport).base.(*http.Transport)
	if !ok || base.Proxy == nil {
		t.Error("the own client has no Proxy")
	}
}

// Many that want one file: one fetches.
func TestFetchTogether(t *testing.T) {
	content := noise(300_000)
	f := newFixture(t, func(o *Options) { o.Wait = nil })
	oneFile(f, content)
	l := mustList(t, f.c, Query{ID: "org/one"})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := f.c.Fetch(t.Context(), l, l.Files[0]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := f.hub.Bytes(); got != int64(len(content)) {
		t.Errorf("%d bytes sent, want the file once, %d", got, len(content))
	}
}

func TestLockWaitEnds(t *testing.T) {
	f := newFixture(t, nil)
	name := filepath.Join(t.TempDir(), "x.lock")
	unlock, err := f.c.lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.c.lock(ctx, name); !errors.Is(err, context.Canceled) {
		t.Errorf("lock while held: %v, want context.Canceled", err)
	}
	unlock()
	unlock, err = f.c.lock(t.Context(), name)
	if err != nil {
		t.Fatalf("lock after unlock: %v", err)
	}
	unlock()
}
