package hubtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// serveHub answers the API and redirects contents to the store.
func (h *Hub) serveHub(w http.ResponseWriter, req *http.Request) {
	h.record(false, req)
	path := req.URL.EscapedPath()
	if h.fault(false, path).answer(w, req) {
		return
	}
	rest, isAPI := strings.CutPrefix(path, "/api/datasets/")
	if !isAPI {
		var ok bool
		if rest, ok = strings.CutPrefix(path, "/datasets/"); !ok {
			refuse(w, http.StatusNotFound, "", "not found")
			return
		}
	}
	r, verb, args := h.find(rest)
	token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	if !allowed(w, r, token, verb == "resolve") {
		return
	}
	switch verb {
	case "":
		r.serveCommit(w, "main")
	case "revision":
		r.serveCommit(w, args)
	case "tree":
		h.serveTree(w, req, r, args)
	case "parquet":
		h.serveListing(w, r)
	case "resolve":
		h.serveResolve(w, req, r, args)
	default:
		refuse(w, http.StatusNotFound, "", "not found")
	}
}

// find splits id/verb/args; a dataset's id may have one part or two.
func (h *Hub) find(rest string) (r *repo, verb, args string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	parts := strings.Split(rest, "/")
	for n := 1; n <= min(2, len(parts)); n++ {
		if r := h.datasets[strings.Join(parts[:n], "/")]; r != nil {
			if len(parts) > n {
				verb = parts[n]
				args = strings.Join(parts[n+1:], "/")
			}
			return r, verb, args
		}
	}
	return nil, "", ""
}

// allowed refuses as the Hub does: without a token it does not say whether a
// dataset exists.
func allowed(w http.ResponseWriter, r *repo, token string, content bool) bool {
	known := r != nil && slices.Contains(r.Accepted, token)
	switch {
	case r == nil && token == "", r != nil && r.Private && token == "":
		refuse(w, http.StatusUnauthorized, "RepoNotFound", "Repository not found")
	case token == "bad":
		refuse(w, http.StatusUnauthorized, "", "Invalid credentials in Authorization header")
	case r == nil, r.Private && !known:
		refuse(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
	case r.Gated && content && token == "":
		refuse(w, http.StatusUnauthorized, "GatedRepo", "Access to dataset "+r.id+" is restricted")
	case r.Gated && content && !known:
		refuse(w, http.StatusForbidden, "GatedRepo", "Access to dataset "+r.id+" is restricted and you are not in the authorized list")
	default:
		return true
	}
	return false
}

func (r *repo) sha(w http.ResponseWriter, escaped string) (string, bool) {
	name, err := url.PathUnescape(escaped)
	sha, ok := r.revisions[name]
	if err != nil || !ok {
		refuse(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+name)
		return "", false
	}
	return sha, true
}

func (r *repo) serveCommit(w http.ResponseWriter, revision string) {
	sha, ok := r.sha(w, revision)
	if !ok {
		return
	}
	card := r.Card
	if card == "" {
		card = "{}"
	}
	writeJSON(w, map[string]any{"id": r.id, "sha": sha, "private": r.Private, "cardData": json.RawMessage(card)})
}

func (h *Hub) serveTree(w http.ResponseWriter, req *http.Request, r *repo, args string) {
	sha, ok := r.sha(w, args)
	if !ok {
		return
	}
	h.mu.Lock()
	size := h.pageSize
	h.mu.Unlock()
	paths := slices.Sorted(maps.Keys(r.trees[sha]))
	from, _ := strconv.Atoi(req.URL.Query().Get("cursor")) // none is the first
	from = min(max(from, 0), len(paths))
	end := min(from+size, len(paths))
	page := []any{map[string]any{"type": "directory", "path": "a-folder", "oid": "", "size": 0}}
	for _, p := range paths[from:end] {
		b := r.trees[sha][p]
		e := map[string]any{"type": "file", "path": p, "oid": b.oid, "size": b.content.Size()}
		if b.large {
			e["lfs"] = map[string]any{"oid": b.etag, "size": b.content.Size(), "pointerSize": 134}
		}
		page = append(page, e)
	}
	if end < len(paths) {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?recursive=true&cursor=%d>; rel="next"`, h.hub.URL, req.URL.EscapedPath(), end))
	}
	writeJSON(w, page)
}

func (h *Hub) serveListing(w http.ResponseWriter, r *repo) {
	if r.Parquet == nil {
		refuse(w, http.StatusNotFound, "", "The dataset has no parquet conversion")
		return
	}
	listing := map[string]map[string][]string{}
	for config, splits := range r.Parquet {
		listing[config] = map[string][]string{}
		for split, parts := range splits {
			urls := []string{}
			for i := range parts {
				urls = append(urls, fmt.Sprintf("%s/api/datasets/%s/parquet/%s/%s/%d.parquet", h.hub.URL, r.id, config, split, i))
			}
			listing[config][split] = urls
		}
	}
	writeJSON(w, listing)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
