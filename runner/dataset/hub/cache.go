package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The cache of a dataset (huggingface.co/docs/hub/local-cache):
//
//	datasets--org--name/refs/main             the commit that main was
//	datasets--org--name/blobs/<etag>          a content
//	datasets--org--name/snapshots/<sha>/path  a link to the content
//	.locks/datasets--org--name/<etag>.lock    held while a content is fetched
//
// and one folder that is ours, and that other tools pass over:
//
//	datasets--org--name/specsweep/<sha>.json  a commit's catalogue

// etagPattern is a content's name that is safe as a file's: git's blob id or a
// SHA-256.
var etagPattern = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

var errNotCached = errors.New("nothing in the cache")

func (c *Client) repoDir(id string) string {
	return filepath.Join(c.o.CacheDir, repoName(id))
}

func repoName(id string) string { return "datasets--" + strings.ReplaceAll(id, "/", "--") }

func (c *Client) snapshot(id string, f File) string {
	return filepath.Join(c.repoDir(id), "snapshots", f.Revision, filepath.FromSlash(f.Path))
}

func (c *Client) blob(id, etag string) string {
	return filepath.Join(c.repoDir(id), "blobs", etag)
}

// keep writes the ref and the catalogue. A cache that cannot be written costs
// only the next run a request, so it is told and no more.
func (c *Client) keep(q Query, cat *catalogue) {
	c.keepRef(q.ID, q.Revision, cat.Revision)
	if c.o.CacheDir == "" {
		return
	}
	raw, err := json.Marshal(cat)
	if err == nil {
		err = writeWhole(filepath.Join(c.repoDir(q.ID), "specsweep", cat.Revision+".json"), raw)
	}
	if err != nil {
		c.log.Warn("keeping the list of a dataset's files in the cache", "dataset", q.ID, "error", err)
	}
}

func (c *Client) keepRef(id, revision, sha string) {
	if c.o.CacheDir == "" || revision == sha {
		return
	}
	if err := writeWhole(filepath.Join(c.repoDir(id), "refs", filepath.FromSlash(revision)), []byte(sha)); err != nil {
		c.log.Warn("keeping a dataset's revision in the cache", "dataset", id, "error", err)
	}
}

// writeWhole replaces a file whole or not at all, and makes its folder.
func writeWhole(name string, raw []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(raw)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// cached is what the cache knows of a revision: a catalogue kept earlier, else the
// files that other tools have put there, which may not be all.
func (c *Client) cached(q Query) (*catalogue, []string, error) {
	if c.o.CacheDir == "" {
		return nil, nil, errNotCached
	}
	sha := q.Revision
	if !shaPattern.MatchString(sha) {
		var err error
		if sha, err = c.ref(q.ID, q.Revision); err != nil {
			return nil, nil, err
		}
	}
	if cat, err := c.savedCatalogue(q.ID, sha); err == nil {
		return cat, nil, nil
	}
	files, err := c.snapshotFiles(q.ID, sha)
	if err != nil {
		return nil, nil, err
	}
	cat := repository(info{SHA: sha}, files)
	if len(cat.Configs) == 0 {
		return nil, nil, errNotCached
	}
	warnings := []string{fmt.Sprintf(
		"dataset %s: its files are taken from what is in the cache, commit %s, sorted by their names; the Hub may have more", q.ID, sha)}
	if missing := missingShards(files); len(missing) > 0 {
		return nil, nil, fmt.Errorf("%w: of the commit %s only some files are there: %s is missing", errNotCached, sha, listed(missing))
	}
	return cat, warnings, nil
}

func (c *Client) ref(id, revision string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(c.repoDir(id), "refs", filepath.FromSlash(revision)))
	sha := strings.TrimSpace(string(raw))
	if err != nil || !shaPattern.MatchString(sha) {
		return "", errNotCached
	}
	return sha, nil
}

func (c *Client) savedCatalogue(id, sha string) (*catalogue, error) {
	if c.o.CacheDir == "" {
		return nil, errNotCached
	}
	raw, err := os.ReadFile(filepath.Join(c.repoDir(id), "specsweep", sha+".json"))
	if err != nil {
		return nil, errNotCached
	}
	return decodeCatalogue(raw, sha)
}

// decodeCatalogue trusts the file no more than the Hub: a path must not lead out
// of the cache.
func decodeCatalogue(raw []byte, sha string) (*catalogue, error) {
	var cat catalogue
	if err := json.Unmarshal(raw, &cat); err != nil || cat.Revision != sha || len(cat.Configs) == 0 {
		return nil, errNotCached
	}
	for _, k := range cat.Configs {
		for _, s := range k.Splits {
			for _, f := range s.Files {
				if !f.safe() {
					return nil, errNotCached
				}
			}
		}
	}
	return &cat, nil
}

// safe says whether the file's names may become names in the cache.
func (f File) safe() bool {
	return f.Path != "" && filepath.IsLocal(filepath.FromSlash(f.Path)) && !strings.Contains(f.Path, `\`) &&
		shaPattern.MatchString(f.Revision) && (f.ETag == "" || etagPattern.MatchString(f.ETag))
}

// snapshotFiles are the files of a commit that are in the cache.
func (c *Client) snapshotFiles(id, sha string) ([]File, error) {
	root := filepath.Join(c.repoDir(id), "snapshots", sha)
	var files []File
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		at, err := os.Stat(name)
		if err != nil { // a link to a content that is gone
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		files = append(files, File{Path: filepath.ToSlash(rel), Size: at.Size(), Revision: sha})
		return nil
	})
	if err != nil || len(files) == 0 {
		return nil, errNotCached
	}
	return files, nil
}

var shardOf = regexp.MustCompile(`^(.*)-([0-9]{5})-of-([0-9]{5})(.*)$`)

// missingShards are the files that others, by their names, are parts of a whole
// with: reading the rest would silently give other rows.
func missingShards(files []File) []string {
	have := map[string]bool{}
	for _, f := range files {
		have[f.Path] = true
	}
	missing, seen := map[string]bool{}, map[[3]string]bool{}
	for _, f := range files {
		m := shardOf.FindStringSubmatch(f.Path)
		if m == nil || seen[[3]string{m[1], m[3], m[4]}] {
			continue
		}
		seen[[3]string{m[1], m[3], m[4]}] = true
		var n int
		_, _ = fmt.Sscanf(m[3], "%d", &n) // five digits
		for i := range n {
			if name := fmt.Sprintf("%s-%05d-of-%s%s", m[1], i, m[3], m[4]); !have[name] {
				missing[name] = true
			}
		}
	}
	names := make([]string, 0, len(missing))
	for name := range missing {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
