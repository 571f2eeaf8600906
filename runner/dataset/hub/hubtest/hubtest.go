// Package hubtest is a small Hugging Face Hub on real sockets, for tests.
//
// It serves what package hub asks for: commits, trees, the parquet listing, and
// contents, which it redirects to a second server on another port as the Hub does
// to its store. Faults can be scripted, and what was asked is on record. It needs no
// package testing, so a demo can use it, too; it is no server for the public.
package hubtest

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Content is a file's content: a *bytes.Reader, a *strings.Reader or an
// *io.SectionReader of a file that is too large for memory.
type Content interface {
	io.ReaderAt
	Size() int64
}

// Bytes is a content in memory.
func Bytes(b []byte) Content { return bytes.NewReader(b) }

// Dataset is what the Hub has of one dataset.
type Dataset struct {
	Files map[string]Content // of main, by path
	// Card is the JSON of the card's data, such as {"configs": […]}; empty: {}.
	Card string
	// Parquet is the conversion, by configuration and split, in order; nil: not
	// converted.
	Parquet map[string]map[string][]Content
	// Partial are the splits, as config/split, that were converted in part.
	Partial []string
	// Branches are further revisions by name: the files of a branch or tag.
	Branches map[string]map[string]Content
	Gated    bool     // contents need a token of Accepted
	Private  bool     // everything needs a token of Accepted
	Accepted []string // tokens
	// Small are paths whose ETag is git's blob id; all others have a SHA-256.
	Small []string
}

// Request is one that was served.
type Request struct {
	Store  bool // by the second server, which has the contents
	Path   string
	Header http.Header
}

// Hub is the running servers. Its methods may be called by several goroutines.
type Hub struct {
	hub, store *httptest.Server

	mu       sync.Mutex
	datasets map[string]*repo
	faults   []*Fault
	requests []Request
	bytes    int64
	pageSize int
}

// New starts a Hub without datasets. Close it.
func New() *Hub {
	h := &Hub{datasets: map[string]*repo{}, pageSize: 1000}
	h.store = httptest.NewServer(http.HandlerFunc(h.serveStore))
	h.hub = httptest.NewServer(http.HandlerFunc(h.serveHub))
	return h
}

// Add puts a dataset there, or a newer state of one.
func (h *Hub) Add(id string, d Dataset) {
	r := newRepo(id, d)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.datasets[id] = r
}

// URL is the endpoint, for HF_ENDPOINT.
func (h *Hub) URL() string { return h.hub.URL }

// StoreURL is the second server's address.
func (h *Hub) StoreURL() string { return h.store.URL }

// Close ends the servers and every open connection.
func (h *Hub) Close() {
	h.hub.CloseClientConnections()
	h.store.CloseClientConnections()
	h.hub.Close()
	h.store.Close()
}

// SetPageSize sets how many entries a page of a tree has; 1000 unless told.
func (h *Hub) SetPageSize(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pageSize = n
}

// Bytes is how many bytes of contents were sent, all requests together.
func (h *Hub) Bytes() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bytes
}

// Requests are those served so far, in their order.
func (h *Hub) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.requests)
}

// Reset forgets the counters, the requests and the faults.
func (h *Hub) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes, h.requests, h.faults = 0, nil, nil
}

// Commit is the commit that a revision of a dataset stands for, or "".
func (h *Hub) Commit(id, revision string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.datasets[id]; r != nil {
		return r.revisions[revision]
	}
	return ""
}

func (h *Hub) record(store bool, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, Request{store, r.URL.EscapedPath(), r.Header.Clone()})
}

func (h *Hub) count(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes += int64(n)
}

// commitOf makes a commit's name from what is in it, so that equal states have
// equal names.
func commitOf(parts ...string) string {
	s := sha1.New()
	for _, p := range parts {
		fmt.Fprintf(s, "%d:%s", len(p), p)
	}
	return fmt.Sprintf("%x", s.Sum(nil))
}
