package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	mainRevision = "main"
	// convertedRevision is the branch with the Hub's own parquet conversion of main
	// (huggingface.co/docs/dataset-viewer/parquet).
	convertedRevision = "refs/convert/parquet"

	maxAnswer = 64 << 20 // bytes of one JSON answer
	maxPages  = 1000     // of one tree; a page holds up to 1000 entries
)

var shaPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)

// info is what /api/datasets/{id} and its /revision/{rev} say of a commit.
type info struct {
	SHA      string `json:"sha"`
	CardData struct {
		Configs json.RawMessage `json:"configs"`
	} `json:"cardData"`
}

// treeEntry is one entry of /api/datasets/{id}/tree/{rev}.
type treeEntry struct {
	Type string `json:"type"` // file or directory
	Path string `json:"path"`
	OID  string `json:"oid"` // git's blob id
	Size int64  `json:"size"`
	LFS  *struct {
		OID  string `json:"oid"` // SHA-256
		Size int64  `json:"size"`
	} `json:"lfs"`
}

// parquetListing is /api/datasets/{id}/parquet: addresses by configuration and
// split.
type parquetListing map[string]map[string][]string

// commit resolves a revision, or for "" the newest commit of main.
func (c *Client) commit(ctx context.Context, id, revision string) (info, error) {
	address := c.api(id)
	if revision != "" {
		address += "/revision/" + url.PathEscape(revision)
	}
	var in info
	if _, err := c.json(ctx, address, &in); err != nil {
		return info{}, err
	}
	if !shaPattern.MatchString(in.SHA) {
		return info{}, fmt.Errorf("%s: the answer names no commit: is this the address of a Hub?", address)
	}
	return in, nil
}

// parquet is the Hub's parquet listing.
func (c *Client) parquet(ctx context.Context, id string) (parquetListing, error) {
	var p parquetListing
	_, err := c.json(ctx, c.api(id)+"/parquet", &p)
	return p, err
}

// tree is all files of a commit, in the order of the answer. The Hub gives it in
// pages, of which each names the next in its Link header (RFC 8288).
func (c *Client) tree(ctx context.Context, id, sha string) ([]File, error) {
	address := c.api(id) + "/tree/" + url.PathEscape(sha) + "?recursive=true"
	var files []File
	for range maxPages {
		var page []treeEntry
		header, err := c.json(ctx, address, &page)
		if err != nil {
			return nil, err
		}
		files = append(files, treeFiles(page, sha)...)
		next := nextPage(header)
		if next == "" {
			return files, nil
		}
		if address, err = sameHub(address, next); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: the list of files does not end within %d pages", c.api(id)+"/tree", maxPages)
}

// treeFiles keeps the files that can safely be cached under their names.
func treeFiles(page []treeEntry, sha string) []File {
	var files []File
	for _, e := range page {
		if e.Type != "file" || !filepath.IsLocal(filepath.FromSlash(e.Path)) || strings.Contains(e.Path, `\`) {
			continue
		}
		f := File{Path: e.Path, Size: e.Size, Revision: sha, ETag: e.OID}
		if e.LFS != nil {
			f.ETag = e.LFS.OID
			if e.LFS.Size > 0 {
				f.Size = e.LFS.Size
			}
		}
		if !etagPattern.MatchString(f.ETag) {
			f.ETag = ""
		}
		if f.Size < 0 {
			f.Size = -1
		}
		files = append(files, f)
	}
	return files
}

var linkNext = regexp.MustCompile(`<([^>]*)>\s*;[^,]*\brel="?next\b`)

func nextPage(h http.Header) string {
	if m := linkNext.FindStringSubmatch(strings.Join(h.Values("Link"), ", ")); m != nil {
		return m[1]
	}
	return ""
}

// sameHub resolves a next page's address, which has to be the same host's.
func sameHub(from, next string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", err
	}
	to, err := base.Parse(next)
	if err != nil {
		return "", fmt.Errorf("%s: the next page has no readable address: %w", bare(base), err)
	}
	// A Hub behind a proxy that ends TLS may name itself with another scheme.
	to.Scheme = base.Scheme
	if to.Host != base.Host {
		return "", fmt.Errorf("%s: the next page of the list is on another host, %s", bare(base), to.Host)
	}
	return to.String(), nil
}

// json asks for an address and decodes the answer into v; again when it breaks off.
func (c *Client) json(ctx context.Context, address string, v any) (http.Header, error) {
	pause := pauses()
	for try := 1; ; try++ {
		raw, header, err := c.answer(ctx, address)
		var broken *brokenBody
		switch {
		case err == nil:
			if err := json.Unmarshal(raw, v); err != nil {
				return nil, fmt.Errorf("%s: the answer is not what a Hub sends (a proxy's page?): %w", address, err)
			}
			return header, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.As(err, &broken):
			return nil, err
		case try == maxTries:
			return nil, unreachable(fmt.Errorf("reading %s: %w", address, err))
		}
		if err := c.o.Wait(ctx, pause.NextBackOff()); err != nil {
			return nil, err
		}
	}
}

// answer is one whole answer.
func (c *Client) answer(ctx context.Context, address string) ([]byte, http.Header, error) {
	guard := newIdleGuard(ctx, c.o.IdleTimeout)
	defer guard.stop()
	resp, err := c.get(guard.ctx, address, nil)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(guard.watch(resp.Body), maxAnswer+1))
	if err != nil {
		return nil, nil, &brokenBody{err}
	}
	if len(raw) > maxAnswer {
		return nil, nil, fmt.Errorf("%s: the answer is longer than %d bytes", address, maxAnswer)
	}
	return raw, resp.Header, nil
}

func (c *Client) api(id string) string { return c.o.Endpoint + "/api/datasets/" + id }

// resolve is the address of a file's content.
func (c *Client) resolve(id string, f File) string {
	parts := strings.Split(f.Path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return c.o.Endpoint + "/datasets/" + id + "/resolve/" + url.PathEscape(f.Revision) + "/" + strings.Join(parts, "/")
}
