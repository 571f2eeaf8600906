package hubtest

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
)

const convertedRevision = "refs/convert/parquet"

// repo is a dataset with its commits.
type repo struct {
	Dataset
	id        string
	revisions map[string]string          // name → commit; a commit is its own name
	trees     map[string]map[string]blob // commit → path
}

type blob struct {
	content Content
	etag    string
	large   bool // an LFS file, known by its SHA-256
	oid     string
}

func newRepo(id string, d Dataset) *repo {
	r := &repo{Dataset: d, id: id, revisions: map[string]string{}, trees: map[string]map[string]blob{}}
	r.commit("main", d.Files)
	for name, files := range d.Branches {
		r.commit(name, files)
	}
	if d.Parquet != nil {
		r.commit(convertedRevision, r.conversion())
	}
	return r
}

// conversion lays the converted files out as the Hub does.
func (r *repo) conversion() map[string]Content {
	files := map[string]Content{}
	for config, splits := range r.Parquet {
		for split, parts := range splits {
			dir := split
			if slices.Contains(r.Partial, config+"/"+split) {
				dir = "partial-" + split
			}
			for i, p := range parts {
				files[fmt.Sprintf("%s/%s/%04d.parquet", config, dir, i)] = p
			}
		}
	}
	return files
}

func (r *repo) commit(name string, files map[string]Content) {
	tree := map[string]blob{}
	parts := []string{r.id, name, r.Card}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		b := newBlob(files[p], !slices.Contains(r.Small, p))
		tree[p] = b
		parts = append(parts, p, b.etag)
	}
	sha := commitOf(parts...)
	r.revisions[name], r.revisions[sha] = sha, sha
	r.trees[sha] = tree
}

func newBlob(c Content, large bool) blob {
	b := blob{content: c, large: large}
	big, git := sha256.New(), sha1.New()
	fmt.Fprintf(git, "blob %d\x00", c.Size())
	_, _ = io.Copy(io.MultiWriter(big, git), io.NewSectionReader(c, 0, c.Size())) // a test's own content
	b.oid = fmt.Sprintf("%x", git.Sum(nil))
	b.etag = b.oid
	if large {
		b.etag = fmt.Sprintf("%x", big.Sum(nil))
	}
	return b
}
