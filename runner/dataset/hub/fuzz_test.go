package hub

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzTree: whatever a tree holds, no file leads out of the cache, and every file
// is in one split at most of the configuration that the names make.
func FuzzTree(f *testing.F) {
	sha := strings.Repeat("a", 40)
	f.Add([]byte(`[{"type":"file","path":"data/train-00000-of-00001.parquet","oid":"`+sha+`","size":3,"lfs":{"oid":"x","size":4}}]`), []byte(`[{"config_name":"a","data_files":"data/*"}]`))
	f.Add([]byte(`[{"type":"file","path":"../x.csv","size":-5},{"type":"directory","path":"x"}]`), []byte(`[{"data_files":[{"split":"s","path":["**","{a","[b-a]"]}]}]`))
	f.Add([]byte(`{}`), []byte(`[{"data_dir":"../..","data_files":{"train":"[!a]?"}}]`))
	f.Fuzz(func(t *testing.T, raw, configs []byte) {
		var page []treeEntry
		if json.Unmarshal(raw, &page) != nil {
			return
		}
		files := treeFiles(page, sha)
		for _, file := range files {
			if !file.safe() || file.Size < -1 {
				t.Fatalf("file %+v", file)
			}
		}
		in := info{SHA: sha}
		in.CardData.Configs = configs
		for _, c := range []*catalogue{repository(in, files), repository(info{SHA: sha}, files)} {
			for _, name := range append(c.names(), "") {
				l, err := c.choose(Query{ID: "org/d", Config: name, Split: trainSplit})
				if err == nil && len(l.Files) == 0 {
					t.Fatal("a split without files and no error")
				}
			}
		}
		converted(parquetListing{"a": {"train": nil, "partial-test": nil}}, files)
		missingShards(files)
	})
}

// FuzzCatalogue: a kept catalogue that reads leads nowhere else, and is kept as it
// was read.
func FuzzCatalogue(f *testing.F) {
	sha := strings.Repeat("a", 40)
	f.Add([]byte(`{"revision":"` + sha + `","configs":[{"name":"default","splits":[{"name":"train","files":[{"path":"a.csv","size":1,"revision":"` + sha + `","etag":""}]}]}]}`))
	f.Add([]byte(`{"revision":"` + sha + `","configs":[{"splits":[{"files":[{"path":"../a"}]}]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		cat, err := decodeCatalogue(raw, sha)
		if err != nil {
			return
		}
		for _, k := range cat.Configs {
			for _, s := range k.Splits {
				for _, file := range s.Files {
					if !filepath.IsLocal(file.Path) {
						t.Fatalf("path %q", file.Path)
					}
				}
			}
		}
		again, err := json.Marshal(cat)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeCatalogue(again, sha); err != nil {
			t.Fatalf("written and read again: %v", err)
		}
	})
}

// FuzzHeaders: what a server says of pages and ranges is bounded or refused.
func FuzzHeaders(f *testing.F) {
	f.Add(`<http://a/x?cursor=2>; rel="next"`, "bytes 0-9/10")
	f.Add(`<http://b/>; rel=prev, </y>; rel=next`, "bytes */10")
	f.Add(`<`, "bytes 5-/*")
	f.Fuzz(func(t *testing.T, link, span string) {
		if next := nextPage(http.Header{"Link": {link}}); next != "" {
			if to, err := sameHub("http://a/tree", next); err == nil && !strings.HasPrefix(to, "http://") {
				t.Fatalf("next page %q", to)
			}
		}
		r := &http.Response{StatusCode: http.StatusPartialContent, Header: http.Header{"Content-Range": {span}}}
		if from, total, ok := contentRange(r); ok && (from < 0 || total >= 0 && total <= from) {
			t.Fatalf("contentRange(%q) = %d, %d", span, from, total)
		}
	})
}
