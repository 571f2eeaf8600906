// Package hub finds and fetches the files of a dataset on the Hugging Face Hub.
//
// A Client lists the files of one configuration and split (List), reads parts of
// a file by range requests (Open) and puts a whole file into the Hub's own cache,
// where other tools find it and where it uses what they have put (Fetch).
//
// It knows files, not rows: it decodes no data, picks no prompts and shuffles
// nothing. It writes to the cache only, runs no loading script of a dataset, and
// sends the token to no host but the Hub's.
//
// Formats and endpoints: huggingface.co/docs/hub/api (API),
// huggingface.co/docs/dataset-viewer/parquet (parquet listing),
// huggingface.co/docs/hub/local-cache (cache).
package hub

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// DefaultEndpoint is the Hub where Options name none.
const DefaultEndpoint = "https://huggingface.co"

const (
	defaultWhole       = 1 << 20
	defaultIdleTimeout = time.Minute
)

// Options is how to reach the Hub. FromEnv fills it from the variables that the
// Hub's Python library reads.
type Options struct {
	Endpoint string // URL without a trailing slash; empty: DefaultEndpoint
	Token    string // empty: none is sent
	CacheDir string // the folder that holds datasets--org--name; empty: no cache, and Fetch is refused
	Offline  bool   // only the cache is used

	// HTTP sends the requests; nil: an own client that honours HTTP_PROXY,
	// HTTPS_PROXY and NO_PROXY. The token is not its affair.
	HTTP *http.Client
	Log  *slog.Logger // nil: nothing is logged
	// Progress is told how many of a file's bytes are there, those of an earlier
	// download included; total is -1 where it is not known. May be nil. It is called
	// from the goroutine that fetches.
	Progress func(file string, done, total int64)
	// Wait waits between two tries and ends early with the context's error; nil: the
	// clock.
	Wait func(ctx context.Context, d time.Duration) error
	// WholeBelow: Open fetches a file of at most so many bytes whole into the cache,
	// since ranges would save nothing. Zero: 1 MiB; negative: never.
	WholeBelow int64
	// IdleTimeout: a body that brings nothing for so long is broken off and asked
	// for again from there. Zero: 60 s.
	IdleTimeout time.Duration
}

// Client reaches the datasets of one Hub. It may be used by several goroutines.
type Client struct {
	o       Options
	http    *http.Client
	ownHTTP bool
	log     *slog.Logger
}

// New is a client of the Hub that o names. It sends nothing. Close it after use.
func New(o Options) *Client {
	if o.Endpoint == "" {
		o.Endpoint = DefaultEndpoint
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.WholeBelow == 0 {
		o.WholeBelow = defaultWhole
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = defaultIdleTimeout
	}
	c := &Client{o: o, log: o.Log, ownHTTP: o.HTTP == nil}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.http = newHTTP(o)
	return c
}

// Close drops idle connections of the client's own making. Readers that are still
// open keep working.
func (c *Client) Close() {
	if c.ownHTTP {
		c.http.CloseIdleConnections()
	}
}

// Query names one split of a dataset.
type Query struct {
	ID       string // org/name, or a bare name
	Config   string // empty: the only one, or the one that the dataset declares as its default
	Split    string // empty: train; without a slice
	Revision string // branch, tag or commit; empty: main
}

// Listing is the files of a split, in the order of their rows.
type Listing struct {
	ID       string
	Config   string // "default" where the dataset declares none
	Split    string
	Revision string // the commit that Query.Revision stands for, 40 hexadecimal digits
	Files    []File
	// Partial: the Hub has converted only the first part of the split, so the rows
	// after it are missing; or files of it are missing in the cache.
	Partial  bool
	Warnings []string // for the user: a partial conversion, a cached copy for want of a network
}

// File is one file of a dataset, in parquet, jsonl, ndjson, json, csv or tsv by
// its ending.
type File struct {
	Path string `json:"path"` // in the repository, with slashes
	Size int64  `json:"size"` // bytes; -1: not known
	// Revision is the commit that the path is in. Files that the Hub has converted to
	// parquet stand on a branch of their own, so it is not always the listing's.
	Revision string `json:"revision"`
	// ETag is the SHA-256 of a large file, or git's blob id (SHA-1) of a small one, in
	// hexadecimal. Empty: not known, for a file that only the cache told of.
	ETag string `json:"etag"`
}

// Reader reads any part of a file. ReadAt may be called by several goroutines, and
// after the context of Open has ended it gives that context's error.
type Reader interface {
	io.ReaderAt
	Size() int64 // bytes
	Close() error
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
