package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset/hub"
	"github.com/specsweep/specsweep/runner/dataset/hub/hubtest"
)

// onHub starts a Hub and a client of it with a cache of its own.
func onHub(t *testing.T) (*hubtest.Hub, *hub.Client, string) {
	t.Helper()
	server := hubtest.New()
	t.Cleanup(server.Close)
	cache := t.TempDir()
	client := hub.New(hub.Options{
		Endpoint: server.URL(), CacheDir: cache, WholeBelow: -1,
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	t.Cleanup(client.Close)
	return server, client, cache
}

func parquetBytes(t *testing.T, rows []qa, options ...parquet.WriterOption) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := parquet.Write(&buf, rows, options...); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func hubSet(id, column string) *plan.Dataset {
	return &plan.Dataset{Name: "d", Hub: true, InputData: id, Split: "train", PromptColumn: column}
}

func TestLoadFromTheHub(t *testing.T) {
	server, client, _ := onHub(t)
	const lines = "{\"question\":\"q0\"}\n{\"question\":\"q1\"}\n{\"question\":\"q2\"}\n"
	server.Add("org/converted", hubtest.Dataset{
		Files: map[string]hubtest.Content{"data.csv": hubtest.Bytes([]byte("question\nnot this\n"))},
		Parquet: map[string]map[string][]hubtest.Content{"default": {
			"train": {hubtest.Bytes(parquetBytes(t, questions(12)[:5])), hubtest.Bytes(parquetBytes(t, questions(12)[5:]))},
			"test":  {hubtest.Bytes(parquetBytes(t, questions(3)))},
		}},
	})
	server.Add("org/lines", hubtest.Dataset{Files: map[string]hubtest.Content{"train.jsonl": hubtest.Bytes([]byte(lines))}})
	server.Add("org/list", hubtest.Dataset{Files: map[string]hubtest.Content{"train.json": hubtest.Bytes([]byte(`[{"question":"q0"},{"question":"q1"},{"question":"q2"}]`))}})
	server.Add("org/csv", hubtest.Dataset{Files: map[string]hubtest.Content{"train.csv": hubtest.Bytes([]byte("question\nq0\nq1\nq2\n"))}})
	of := func(seed uint64, n int) []int { return permuted(t, seed, n) }
	tests := []struct {
		id, split string
		seed      uint64 // 0: in order
		n         int
		want      []int
	}{
		{"org/converted", "train[3:7]", 0, 64, []int{3, 4, 5, 6}},
		{"org/converted", "train", 42, 64, of(42, 12)},
		{"org/converted", "train[-2:]+test[:1]", 0, 64, []int{10, 11, 0}},
		{"org/lines", "train", 0, 2, []int{0, 1}},
		{"org/lines", "train", 5, 64, of(5, 3)},
		{"org/list", "train[1:]", 0, 64, []int{1, 2}},
		{"org/list", "train", 5, 64, of(5, 3)},
		{"org/csv", "train", 0, 64, []int{0, 1, 2}},
		{"org/csv", "train", 5, 64, of(5, 3)},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.id, " ", tt.split, " ", tt.seed), func(t *testing.T) {
			d := hubSet(tt.id, "question")
			d.Split = tt.split
			if tt.seed > 0 {
				shuffledBy(d, tt.seed)
			}
			set, err := Load(t.Context(), d, tt.n, Options{Hub: client})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, rowsOf(set.Prompts)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			for i, text := range texts(t, set.Prompts) {
				if want := fmt.Sprintf("q%d", set.Prompts[i].Row); text != want {
					t.Errorf("row %d holds %q", set.Prompts[i].Row, text)
				}
			}
			if want := server.Commit(tt.id, "main"); set.Revision != want || want == "" {
				t.Errorf("revision %q, want %q", set.Revision, want)
			}
			if len(set.Warnings) > 0 {
				t.Errorf("warnings %q", set.Warnings)
			}
		})
	}
}

// Of a large file the footer and the row groups of the wanted rows are fetched.
func TestHubShuffleFetchesOnlyRowGroups(t *testing.T) {
	server, client, _ := onHub(t)
	rows := questions(400)
	for i := range rows {
		rows[i].Question += fmt.Sprint(permuted(t, uint64(i), 3000))
	}
	data := parquetBytes(t, rows, parquet.MaxRowsPerRowGroup(10))
	server.Add("org/big", hubtest.Dataset{Parquet: map[string]map[string][]hubtest.Content{"default": {"train": {hubtest.Bytes(data)}}}})
	set, err := Load(t.Context(), shuffledBy(hubSet("org/big", "question"), 1), 2, Options{Hub: client})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(permuted(t, 1, 400)[:2], rowsOf(set.Prompts)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if sent := server.Bytes(); sent > int64(len(data))/2 || sent == 0 {
		t.Errorf("%d of %d bytes were fetched for 2 rows", sent, len(data))
	}
}

func TestHubErrors(t *testing.T) {
	server, client, _ := onHub(t)
	one := []hubtest.Content{hubtest.Bytes(parquetBytes(t, questions(1)))}
	server.Add("org/two", hubtest.Dataset{Parquet: map[string]map[string][]hubtest.Content{"main": {"train": one}, "socratic": {"train": one}}})

	t.Run("no client", func(t *testing.T) {
		wantParts(t, loadErr(t, t.Context(), hubSet("org/two", "question"), 1), "org/two is a dataset on the Hub")
	})
	t.Run("several configurations", func(t *testing.T) {
		_, err := Load(t.Context(), hubSet("org/two", "question"), 1, Options{Hub: client})
		if _, ok := errors.AsType[*hub.ConfigError](err); !ok {
			t.Fatalf("error %v, want a ConfigError", err)
		}
		wantParts(t, err.Error(), "main", "socratic")
		d := hubSet("org/two", "question")
		d.DatasetName = "socratic"
		if _, err := Load(t.Context(), d, 1, Options{Hub: client}); err != nil {
			t.Error(err)
		}
	})
	t.Run("no such split", func(t *testing.T) {
		d := hubSet("org/two", "question")
		d.DatasetName, d.Split = "main", "train[:1]+test"
		_, err := Load(t.Context(), d, 1, Options{Hub: client})
		if _, ok := errors.AsType[*hub.SplitError](err); !ok {
			t.Fatalf("error %v, want a SplitError", err)
		}
	})
	t.Run("errors name the file on the Hub", func(t *testing.T) {
		server.Add("org/bad", hubtest.Dataset{Files: map[string]hubtest.Content{"train.jsonl": hubtest.Bytes([]byte("{\"p\":\"x\"}\n{\n"))}})
		for _, d := range []*plan.Dataset{hubSet("org/bad", "p"), shuffledBy(hubSet("org/bad", "p"), 1)} {
			_, err := Load(t.Context(), d, 9, Options{Hub: client})
			wantParts(t, fmt.Sprint(err), "org/bad/train.jsonl:2: bad JSON")
		}
	})
}

func TestHubWarnsOfAPartialConversion(t *testing.T) {
	server, client, _ := onHub(t)
	server.Add("org/part", hubtest.Dataset{
		Parquet: map[string]map[string][]hubtest.Content{"default": {"train": {hubtest.Bytes(parquetBytes(t, questions(2)))}}},
		Partial: []string{"default/train"},
	})
	set, err := Load(t.Context(), hubSet("org/part", "question"), 1, Options{Hub: client})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Warnings) != 1 {
		t.Errorf("warnings %q, want one", set.Warnings)
	}
}

// A copy in the cache that went bad is fetched again; what the Hub itself has is
// not asked for twice.
func TestHubFetchesABrokenCopyAgain(t *testing.T) {
	server, client, cache := onHub(t)
	server.Add("org/lines", hubtest.Dataset{Files: map[string]hubtest.Content{"train.jsonl": hubtest.Bytes([]byte("{\"p\":\"one\"}\n{\"p\":\"two\"}\n"))}})
	d := hubSet("org/lines", "p")
	if _, err := Load(t.Context(), d, 64, Options{Hub: client}); err != nil {
		t.Fatal(err)
	}
	blobs, err := filepath.Glob(filepath.Join(cache, "*", "blobs", "*"))
	if err != nil || len(blobs) == 0 {
		t.Fatalf("no blobs in the cache: %v", err)
	}
	for _, blob := range blobs {
		if err := os.WriteFile(blob, []byte("{\"p\":\"one\"}\n{\"p\":\"t!!\"\n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := Load(t.Context(), d, 64, Options{Hub: client})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two"}, texts(t, set.Prompts)); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
}
