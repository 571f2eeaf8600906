package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/dataset/hub/hubtest"
)

func gsm8k() hubtest.Dataset {
	return hubtest.Dataset{
		Files: map[string]hubtest.Content{
			"README.md":                              text("# gsm8k"),
			"main/train-00000-of-00001.parquet":      text("own main train"),
			"main/test-00000-of-00001.parquet":       text("own main test"),
			"socratic/train-00000-of-00001.parquet":  text("own socratic train"),
			"socratic/test-00000-of-00001.parquet":   text("own socratic test"),
			"socratic/extra-00000-of-00001.parquet":  text("not declared"),
			"main/dataset_infos.json":                text("{}"),
			"__pycache__/train-00000-of-00001.jsonl": text("{}"),
		},
		Card: `{"configs": [
			{"config_name": "main", "data_files": [{"split": "train", "path": "main/train-*"}, {"split": "test", "path": "main/test-*"}]},
			{"config_name": "socratic", "data_files": [{"split": "train", "path": ["socratic/train-*"]}, {"split": "test", "path": "socratic/test-*"}]}]}`,
		Parquet: map[string]map[string][]hubtest.Content{
			"main":     {"train": {text("a"), text("b")}, "test": {text("c")}},
			"socratic": {"train": {text("d")}, "test": {text("e")}},
		},
		Partial: []string{"socratic/train"},
	}
}

func TestListConverted(t *testing.T) {
	f := newFixture(t, nil)
	f.hub.Add("openai/gsm8k", gsm8k())
	f.hub.SetPageSize(2)
	tests := map[string]struct {
		q       Query
		want    []string
		partial bool
		config  string
	}{
		"two files in order":  {Query{ID: "openai/gsm8k", Config: "main", Split: "train"}, []string{"main/train/0000.parquet", "main/train/0001.parquet"}, false, "main"},
		"no split is train":   {Query{ID: "openai/gsm8k", Config: "main"}, []string{"main/train/0000.parquet", "main/train/0001.parquet"}, false, "main"},
		"another split":       {Query{ID: "openai/gsm8k", Config: "main", Split: "test"}, []string{"main/test/0000.parquet"}, false, "main"},
		"converted in part":   {Query{ID: "openai/gsm8k", Config: "socratic"}, []string{"socratic/partial-train/0000.parquet"}, true, "socratic"},
		"main's commit is it": {Query{ID: "openai/gsm8k", Config: "main", Split: "test", Revision: f.hub.Commit("openai/gsm8k", "main")}, []string{"main/test/0000.parquet"}, false, "main"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := mustList(t, f.again(t, func(o *Options) { o.CacheDir = t.TempDir() }), tt.q)
			if diff := cmp.Diff(tt.want, paths(l)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if l.Partial != tt.partial || (len(l.Warnings) == 1) != tt.partial {
				t.Errorf("partial %v, warnings %q; want partial %v", l.Partial, l.Warnings, tt.partial)
			}
			if l.Config != tt.config || l.Revision != f.hub.Commit("openai/gsm8k", "main") {
				t.Errorf("config %q, revision %q", l.Config, l.Revision)
			}
			for _, file := range l.Files {
				if file.Revision != f.hub.Commit("openai/gsm8k", convertedRevision) || file.Size != 1 || len(file.ETag) != 64 {
					t.Errorf("file %+v: want the conversion's commit, 1 byte, a SHA-256", file)
				}
			}
		})
	}
}

func TestListRepository(t *testing.T) {
	files := func(names ...string) map[string]hubtest.Content {
		m := map[string]hubtest.Content{}
		for _, n := range names {
			m[n] = text(n)
		}
		return m
	}
	own := gsm8k()
	own.Parquet = nil
	tests := map[string]struct {
		d      hubtest.Dataset
		config string
		split  string
		want   []string
	}{
		"as the card declares":     {own, "socratic", "test", []string{"socratic/test-00000-of-00001.parquet"}},
		"only what it declares":    {own, "socratic", "train", []string{"socratic/train-00000-of-00001.parquet"}},
		"shards":                   {hubtest.Dataset{Files: files("data/test-00000-of-00002.parquet", "data/test-00001-of-00002.parquet", "data/odd-00000-of-00001.parquet")}, "", "test", []string{"data/test-00000-of-00002.parquet", "data/test-00001-of-00002.parquet"}},
		"a shard of any name":      {hubtest.Dataset{Files: files("data/odd-00000-of-00001.parquet")}, "", "odd", []string{"data/odd-00000-of-00001.parquet"}},
		"a word in the folder":     {hubtest.Dataset{Files: files("eval/a.jsonl", "training/b.jsonl")}, "", "test", []string{"eval/a.jsonl"}},
		"a word in the name":       {hubtest.Dataset{Files: files("my_dev.json", "my.train2.json")}, "", "validation", []string{"my_dev.json"}},
		"no word is train":         {hubtest.Dataset{Files: files("question.jsonl", "README.md", ".gitattributes")}, "", "train", []string{"question.jsonl"}},
		"the frequent kind":        {hubtest.Dataset{Files: files("a.csv", "b.csv", "c.parquet")}, "", "train", []string{"a.csv", "b.csv"}},
		"parquet of equally many":  {hubtest.Dataset{Files: files("a.csv", "c.parquet")}, "", "train", []string{"c.parquet"}},
		"ndjson and json are kin":  {hubtest.Dataset{Files: files("b.ndjson", "a.json", "c.parquet")}, "", "train", []string{"a.json", "b.ndjson"}},
		"the declared default":     {hubtest.Dataset{Files: files("a.csv", "b.csv"), Card: `{"configs":[{"config_name":"x","data_files":"a.csv"},{"config_name":"y","default":true,"data_files":"b.csv"}]}`}, "", "train", []string{"b.csv"}},
		"one of the name default":  {hubtest.Dataset{Files: files("a.csv", "b.csv"), Card: `{"configs":[{"config_name":"x","data_files":"a.csv"},{"config_name":"default","data_files":"b.csv"}]}`}, "", "train", []string{"b.csv"}},
		"data_dir":                 {hubtest.Dataset{Files: files("v1/train.csv", "v2/train.csv"), Card: `{"configs":[{"config_name":"x","data_dir":"v2"}]}`}, "", "train", []string{"v2/train.csv"}},
		"a mapping":                {hubtest.Dataset{Files: files("a.csv", "b.csv"), Card: `{"configs":[{"config_name":"x","data_files":{"test":["b.csv","a.csv"]}}]}`}, "", "test", []string{"b.csv", "a.csv"}},
		"deep patterns":            {hubtest.Dataset{Files: files("x/y/a.csv", "x/b.csv", "c.csv"), Card: `{"configs":[{"data_files":"x/**/[ab].csv"}]}`}, "", "train", []string{"x/b.csv", "x/y/a.csv"}},
		"choices":                  {hubtest.Dataset{Files: files("a1.csv", "b1.csv", "c1.csv"), Card: `{"configs":[{"data_files":"{a,c}?.csv"}]}`}, "", "train", []string{"a1.csv", "c1.csv"}},
		"a card of an odd shape":   {hubtest.Dataset{Files: files("a.csv"), Card: `{"configs": 7}`}, "", "train", []string{"a.csv"}},
		"a card that fits no file": {hubtest.Dataset{Files: files("a.csv"), Card: `{"configs":[{"config_name":"x","data_files":"z*"}]}`}, "", "train", []string{"a.csv"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.hub.Add("org/d", tt.d)
			l := mustList(t, f.c, Query{ID: "org/d", Config: tt.config, Split: tt.split})
			if diff := cmp.Diff(tt.want, paths(l)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if l.Files[0].Revision != l.Revision {
				t.Errorf("file's revision %s, listing's %s: want the same", l.Files[0].Revision, l.Revision)
			}
		})
	}
}

// A branch is not what the Hub has converted.
func TestListBranch(t *testing.T) {
	f := newFixture(t, nil)
	d := gsm8k()
	d.Branches = map[string]map[string]hubtest.Content{"refs/pr/1": {"main/train-1.parquet": text("x")}}
	f.hub.Add("openai/gsm8k", d)
	l := mustList(t, f.c, Query{ID: "openai/gsm8k", Config: "main", Revision: "refs/pr/1"})
	if diff := cmp.Diff([]string{"main/train-1.parquet"}, paths(l)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if want := f.hub.Commit("openai/gsm8k", "refs/pr/1"); l.Revision != want {
		t.Errorf("revision %s, want %s", l.Revision, want)
	}
}

// TestCaseD13Configs: several configurations and none, or a wrong one, named.
func TestCaseD13Configs(t *testing.T) {
	f := newFixture(t, nil)
	f.hub.Add("openai/gsm8k", gsm8k())
	for name, q := range map[string]Query{
		"none named": {ID: "openai/gsm8k"},
		"misspelt":   {ID: "openai/gsm8k", Config: "mian"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.c.List(t.Context(), q)
			var ce *ConfigError
			if !errors.As(err, &ce) {
				t.Fatalf("error %v, want a *ConfigError", err)
			}
			if diff := cmp.Diff(&ConfigError{ID: q.ID, Config: q.Config, Have: []string{"main", "socratic"}}, ce); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if !strings.Contains(err.Error(), "main, socratic") {
				t.Errorf("error %q does not list the configurations", err)
			}
		})
	}
	_, err := f.c.List(t.Context(), Query{ID: "openai/gsm8k", Config: "main", Split: "tset"})
	var se *SplitError
	if !errors.As(err, &se) || !strings.Contains(err.Error(), "train, test") {
		t.Errorf("error %v, want a *SplitError that lists train, test", err)
	}
}

func TestListRefusals(t *testing.T) {
	tests := map[string]struct {
		d     hubtest.Dataset
		id    string
		token string
		rev   string
		want  error
		text  string
	}{
		"no such, no token":       {id: "org/none", want: ErrNotFound, text: "or it is private and HF_TOKEN is not set"},
		"no such, with a token":   {id: "org/none", token: "good", want: ErrNotFound, text: "org/none does not exist"},
		"a bad token":             {id: "org/d", token: "bad", want: ErrToken, text: "unset HF_TOKEN"},
		"private, no token":       {d: hubtest.Dataset{Private: true, Accepted: []string{"good"}}, id: "org/d", want: ErrNotFound, text: "HF_TOKEN"},
		"private, other's token":  {d: hubtest.Dataset{Private: true, Accepted: []string{"good"}}, id: "org/d", token: "other", want: ErrNotFound},
		"no such revision":        {id: "org/d", rev: "v9", want: ErrRevision, text: "/tree/main"},
		"no such commit":          {id: "org/d", rev: strings.Repeat("0", 40), want: ErrRevision},
		"a revision out of place": {id: "org/d", rev: "../../x", want: ErrRevision},
		"no data":                 {d: hubtest.Dataset{Files: map[string]hubtest.Content{"script.py": text("x")}}, id: "org/d", want: ErrNoData, text: "script.py"},
		"no name":                 {id: "data/prompts/x", want: ErrNotFound, text: "looks like org/name"},
		"a name out of place":     {id: "../x", want: ErrNotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(o *Options) { o.Token = tt.token })
			f.hub.Add("org/d", tt.d)
			_, err := f.c.List(t.Context(), Query{ID: tt.id, Revision: tt.rev})
			if !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.text) {
				t.Errorf("error %v, want %v and %q", err, tt.want, tt.text)
			}
			if len(f.waits) > 0 {
				t.Errorf("waited %v for what no wait makes better", f.waits)
			}
		})
	}
}

func TestListRetries(t *testing.T) {
	later := http.Header{"Retry-After": {"120"}}
	tests := map[string]struct {
		fault hubtest.Fault
		waits int
		least time.Duration
		err   error
	}{
		"429 twice, Retry-After heard": {hubtest.Fault{Path: "/revision/main", Status: 429, Header: later, Times: 2}, 2, 2 * time.Minute, nil},
		"503 once":                     {hubtest.Fault{Path: "/revision/main", Status: 503, Times: 1}, 1, time.Second / 2, nil},
		// The first request: on a used connection the transport itself tries again.
		"dropped once":                  {hubtest.Fault{Path: "/revision/main", Drop: true, Times: 1}, 1, time.Second / 2, nil},
		"503 always":                    {hubtest.Fault{Status: 503}, maxTries - 1, time.Second / 2, ErrNoNetwork},
		"Retry-After beyond all bounds": {hubtest.Fault{Path: "/revision/main", Status: 429, Header: http.Header{"Retry-After": {"86400"}}, Times: 1}, 1, 5 * time.Minute, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			oneFile(f, []byte("{}"))
			f.hub.Fail(tt.fault)
			_, err := f.c.List(t.Context(), Query{ID: "org/one"})
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if len(f.waits) != tt.waits {
				t.Fatalf("waits %v, want %d", f.waits, tt.waits)
			}
			for _, d := range f.waits {
				if d < tt.least || d > max(tt.least, 30*time.Second) {
					t.Errorf("waited %v, want at least %v", d, tt.least)
				}
			}
		})
	}
}

func TestListNotAHub(t *testing.T) {
	f := newFixture(t, nil)
	oneFile(f, []byte("{}"))
	f.hub.Fail(hubtest.Fault{Body: "<html>log in first</html>"})
	if _, err := f.c.List(t.Context(), Query{ID: "org/one"}); err == nil || !strings.Contains(err.Error(), "proxy") {
		t.Errorf("error %v, want one that guesses at a proxy", err)
	}
}

func TestListNoNetwork(t *testing.T) {
	f := newFixture(t, nil)
	f.hub.Add("openai/gsm8k", gsm8k())
	q := Query{ID: "openai/gsm8k", Config: "main", Split: "test"}
	want := mustList(t, f.c, q)
	name, err := f.c.Fetch(t.Context(), want, want.Files[0])
	if err != nil {
		t.Fatal(err)
	}

	f.hub.Fail(hubtest.Fault{Drop: true})
	c := f.again(t, nil)
	got := mustList(t, c, q)
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "cache") || !strings.Contains(got.Warnings[0], want.Revision) {
		t.Errorf("warnings %q, want one that names the cache and the commit", got.Warnings)
	}
	got.Warnings = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listing (-online +cached):\n%s", diff)
	}
	if again, err := c.Fetch(t.Context(), got, got.Files[0]); err != nil || again != name {
		t.Errorf("Fetch = %q, %v, want the cached %q", again, err, name)
	}
	_, err = c.List(t.Context(), Query{ID: "org/other"})
	if !errors.Is(err, ErrNoNetwork) || !strings.Contains(err.Error(), "no copy in the cache") {
		t.Errorf("error %v, want ErrNoNetwork and a word about the cache", err)
	}
}

func TestListOffline(t *testing.T) {
	f := newFixture(t, nil)
	f.hub.Add("openai/gsm8k", gsm8k())
	q := Query{ID: "openai/gsm8k", Config: "main", Split: "test"}
	if _, err := f.again(t, offline).List(t.Context(), q); !errors.Is(err, ErrOffline) || !strings.Contains(err.Error(), "HF_HUB_OFFLINE") {
		t.Errorf("error %v, want ErrOffline and the variable's name", err)
	}
	want := mustList(t, f.c, q)
	f.hub.Reset()
	c := f.again(t, offline)
	got := mustList(t, c, q)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listing (-online +offline):\n%s", diff)
	}
	if _, err := c.Open(t.Context(), got, got.Files[0]); !errors.Is(err, ErrOffline) {
		t.Errorf("Open: %v, want ErrOffline", err)
	}
	var ce *ConfigError
	if _, err := c.List(t.Context(), Query{ID: q.ID}); !errors.As(err, &ce) {
		t.Errorf("error %v, want a *ConfigError offline, too", err)
	}
	pinned := q
	pinned.Revision = want.Revision
	mustList(t, f.again(t, nil), pinned) // known: not asked for
	if n := len(f.hub.Requests()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

func TestListCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFixture(t, func(o *Options) {
		o.Wait = func(ctx context.Context, _ time.Duration) error {
			cancel()
			return ctx.Err()
		}
	})
	oneFile(f, []byte("{}"))
	f.hub.Fail(hubtest.Fault{Status: 503})
	if _, err := f.c.List(ctx, Query{ID: "org/one"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}
