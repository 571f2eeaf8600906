package hubtest

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// serveResolve redirects to the store, with a signature in the query.
func (h *Hub) serveResolve(w http.ResponseWriter, req *http.Request, r *repo, args string) {
	revision, rest, _ := strings.Cut(args, "/")
	sha, ok := r.sha(w, revision)
	if !ok {
		return
	}
	name, err := url.PathUnescape(rest)
	b, ok := r.trees[sha][name]
	if err != nil || !ok {
		refuse(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	w.Header().Set("X-Repo-Commit", sha)
	w.Header().Set("X-Linked-Etag", `"`+b.etag+`"`)
	w.Header().Set("X-Linked-Size", fmt.Sprint(b.content.Size()))
	http.Redirect(w, req, h.store.URL+"/"+r.id+"/"+sha+"/"+rest+"?Signature=secret", http.StatusFound)
}

// serveStore sends contents: id/sha/path.
func (h *Hub) serveStore(w http.ResponseWriter, req *http.Request) {
	h.record(true, req)
	f := h.fault(true, req.URL.EscapedPath())
	if f.answer(w, req) {
		return
	}
	b, ok := h.content(req.URL.Path)
	if !ok || req.URL.Query().Get("Signature") != "secret" {
		refuse(w, http.StatusForbidden, "", "AccessDenied")
		return
	}
	w.Header().Set("ETag", `"`+b.etag+`"`)
	w.Header().Set("Content-Type", "application/octet-stream")
	if f.NoRange {
		req.Header.Del("Range")
	}
	content := io.NewSectionReader(b.content, 0, b.content.Size())
	out := &faultyWriter{ResponseWriter: w, hub: h, fault: f, req: req}
	http.ServeContent(out, req, path.Base(req.URL.Path), time.Time{}, content)
}

func (h *Hub) content(p string) (blob, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, r := range h.datasets {
		if rest, ok := strings.CutPrefix(p, "/"+id+"/"); ok {
			sha, name, _ := strings.Cut(rest, "/")
			b, ok := r.trees[sha][name]
			return b, ok
		}
	}
	return blob{}, false
}

// faultyWriter counts a content's bytes and breaks it as the fault says.
type faultyWriter struct {
	http.ResponseWriter
	hub   *Hub
	fault Fault
	req   *http.Request
	sent  int64
}

func (w *faultyWriter) Write(p []byte) (int, error) {
	if w.fault.Corrupt && w.sent == 0 && len(p) > 0 {
		p = append([]byte{^p[0]}, p[1:]...)
	}
	for done := 0; done < len(p); {
		n := len(p) - done
		if w.fault.Pieces > 0 {
			n = min(n, w.fault.Pieces)
		}
		for _, limit := range []int64{w.fault.Cut, w.fault.Stall} {
			if limit > 0 {
				n = int(min(int64(n), limit-w.sent))
			}
		}
		n, err := w.ResponseWriter.Write(p[done : done+n])
		done += n
		w.sent += int64(n)
		w.hub.count(n)
		if err != nil {
			return done, err
		}
		if w.fault.Pieces > 0 || w.fault.Cut > 0 || w.fault.Stall > 0 {
			_ = http.NewResponseController(w.ResponseWriter).Flush() // the client may be gone
		}
		if w.fault.Cut > 0 && w.sent >= w.fault.Cut {
			panic(http.ErrAbortHandler)
		}
		if w.fault.Stall > 0 && w.sent >= w.fault.Stall {
			<-w.req.Context().Done()
			panic(http.ErrAbortHandler)
		}
	}
	return len(p), nil
}
