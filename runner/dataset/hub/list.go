package hub

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// idPattern is a dataset's name: org/name, or a bare name.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)?$`)

// List finds the files of a split. They are those that the Hub has converted to
// parquet, as far as the newest commit of main is asked for and the conversion is
// there; else the repository's own files in parquet, jsonl, json, csv or tsv, as
// the dataset's card or else their names sort them.
//
// With no network it gives what the cache knows, with a warning; offline too, and
// without one. A commit that the cache knows is not asked for again.
//
// Errors: *ConfigError, *SplitError, and those that wrap ErrNotFound, ErrRevision,
// ErrGated, ErrToken, ErrNoNetwork, ErrOffline or ErrNoData.
func (c *Client) List(ctx context.Context, q Query) (Listing, error) {
	if q.Split == "" {
		q.Split = trainSplit
	}
	if q.Revision == "" {
		q.Revision = mainRevision
	}
	if !idPattern.MatchString(q.ID) || strings.Contains(q.ID, "--") || strings.Contains(q.ID, "..") {
		return Listing{}, fmt.Errorf("%w: %q is no name of a dataset: it looks like org/name", ErrNotFound, q.ID)
	}
	if !filepath.IsLocal(filepath.FromSlash(q.Revision)) {
		return Listing{}, fmt.Errorf("dataset %s: %w: %q is no name of a branch, a tag or a commit", q.ID, ErrRevision, q.Revision)
	}
	cat, warnings, err := c.catalogue(ctx, q)
	if err != nil {
		return Listing{}, err
	}
	l, err := cat.choose(q)
	if err != nil {
		return Listing{}, err
	}
	l.Warnings = append(warnings, l.Warnings...)
	return l, nil
}

func (c *Client) catalogue(ctx context.Context, q Query) (*catalogue, []string, error) {
	if c.o.Offline {
		cat, warnings, err := c.cached(q)
		if err != nil {
			return nil, nil, fmt.Errorf("dataset %s, revision %s: %w: unset HF_HUB_OFFLINE to fetch it (cache %s): %w",
				q.ID, q.Revision, ErrOffline, c.o.CacheDir, err)
		}
		return cat, warnings, nil
	}
	if shaPattern.MatchString(q.Revision) {
		if cat, err := c.savedCatalogue(q.ID, q.Revision); err == nil {
			return cat, nil, nil
		}
	}
	cat, err := c.find(ctx, q)
	if err == nil {
		c.keep(q, cat)
		return cat, nil, nil
	}
	if !errors.Is(err, ErrNoNetwork) {
		return nil, nil, c.explain(q.ID, err)
	}
	known, warnings, cacheErr := c.cached(q)
	if cacheErr != nil {
		return nil, nil, fmt.Errorf("dataset %s: %w; and there is no copy in the cache: check the connection, HF_ENDPOINT and HTTPS_PROXY", q.ID, err)
	}
	return known, append([]string{fmt.Sprintf(
		"dataset %s: %v: using the copy in the cache, commit %s, which may not be the newest", q.ID, err, known.Revision)}, warnings...), nil
}

// find asks the Hub.
func (c *Client) find(ctx context.Context, q Query) (*catalogue, error) {
	in, newest, err := c.resolveRevision(ctx, q)
	if err != nil {
		return nil, err
	}
	if newest {
		cat, err := c.findConverted(ctx, q.ID, in)
		var status *statusError
		switch {
		case err == nil && len(cat.Configs) > 0:
			return cat, nil
		case err != nil && !errors.As(err, &status):
			return nil, err
		case err != nil: // not converted, not possible, or not now
			c.log.Debug("no parquet listing: reading the repository's own files", "dataset", q.ID, "error", err)
		}
	}
	files, err := c.tree(ctx, q.ID, in.SHA)
	if err != nil {
		return nil, err
	}
	cat := repository(in, files)
	if len(cat.Configs) == 0 {
		paths := make([]string, len(files))
		for i, f := range files {
			paths[i] = f.Path
		}
		return nil, fmt.Errorf("commit %s: %w: no parquet, jsonl, json, csv or tsv file, and the Hub has not converted it (it has %s)",
			in.SHA, ErrNoData, listed(paths))
	}
	return cat, nil
}

// resolveRevision finds the commit and whether it is the newest of main, the only
// one that the Hub converts.
func (c *Client) resolveRevision(ctx context.Context, q Query) (in info, newest bool, err error) {
	if q.Revision == mainRevision {
		in, err = c.commit(ctx, q.ID, mainRevision)
		return in, true, err
	}
	if shaPattern.MatchString(q.Revision) {
		if in, err = c.commit(ctx, q.ID, ""); err != nil || in.SHA == q.Revision {
			return in, true, err
		}
	}
	in, err = c.commit(ctx, q.ID, q.Revision)
	return in, false, err
}

func (c *Client) findConverted(ctx context.Context, id string, in info) (*catalogue, error) {
	listing, err := c.parquet(ctx, id)
	if err != nil {
		return nil, err
	}
	branch, err := c.commit(ctx, id, convertedRevision)
	if err != nil {
		return nil, err
	}
	files, err := c.tree(ctx, id, branch.SHA)
	if err != nil {
		return nil, err
	}
	c.keepRef(id, convertedRevision, branch.SHA)
	cat := &catalogue{Revision: in.SHA, Configs: converted(listing, files)}
	for _, d := range declaredConfigs(in) {
		if d.Default {
			cat.Default = d.Name
		}
	}
	cat.sort()
	return cat, nil
}
