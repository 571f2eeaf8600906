package dataset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitFiles(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  map[string][]string
		order []string
	}{
		{"shards with any split", []string{"data/gen-00000-of-00001.parquet", "data/test-00000-of-00001-abc.parquet", "data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet"},
			map[string][]string{"gen": {"data/gen-00000-of-00001.parquet"}, "test": {"data/test-00000-of-00001-abc.parquet"}, "train": {"data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet"}},
			[]string{"train", "test", "gen"}},
		{"shards before all else", []string{"data/train-00000-of-00001.parquet", "test.parquet", "train/a.parquet"},
			map[string][]string{"train": {"data/train-00000-of-00001.parquet"}}, []string{"train"}},
		{"file names", []string{"dev.parquet", "my_test_set.parquet", "test2.parquet", "train-00000-of-00001.parquet", "training.parquet"},
			map[string][]string{"train": {"train-00000-of-00001.parquet", "training.parquet"}, "validation": {"dev.parquet"}, "test": {"my_test_set.parquet", "test2.parquet"}},
			[]string{"train", "validation", "test"}},
		{"folders before file names", []string{"main/train.parquet", "test/train.parquet", "train_1/deep/x.parquet"},
			map[string][]string{"train": {"train_1/deep/x.parquet"}, "test": {"test/train.parquet"}}, []string{"train", "test"}},
		{"shards of a config's folder", []string{"main/test-00000-of-00001.parquet", "main/train-00000-of-00001.parquet"},
			map[string][]string{"train": {"main/train-00000-of-00001.parquet"}, "test": {"main/test-00000-of-00001.parquet"}}, []string{"train", "test"}},
		{"no word", []string{"Train.parquet", "contest.parquet", "trainer.parquet"},
			map[string][]string{"train": {"Train.parquet", "contest.parquet", "trainer.parquet"}}, []string{"train"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, order := splitFiles(tt.files)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("splits (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.order, order); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for name, q := range map[string]string{
		"data/train-00001-of-00002.parquet": "second", "data/train-00000-of-00002.parquet": "first",
		"data/test-00000-of-00001.parquet": "test", ".cache/data/train-00000-of-00001.parquet": "hidden", "__x__/train.parquet": "special",
	} {
		writeParquet(t, filepath.Join(dir, filepath.FromSlash(name)), []qa{{Question: q}})
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		split string
		want  []string
	}{
		{"train", []string{"first", "second"}},
		{"test", []string{"test"}},
		{"train[1:]+test", []string{"second", "test"}},
	}
	for _, tt := range tests {
		d := byPrompt(dir, "question")
		d.Split = tt.split
		if diff := cmp.Diff(tt.want, texts(t, load(t, d, 64).Prompts)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.split, diff)
		}
	}
	d := byPrompt(dir, "question")
	d.Split = "validation"
	wantParts(t, loadErr(t, t.Context(), d, 64), dir, "has no split validation (it has train, test)")
}

func TestFolderPassesOverHiddenFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"train.parquet", ".train.parquet", ".git/train.parquet", "__pycache__/train.parquet"} {
		writeParquet(t, filepath.Join(dir, filepath.FromSlash(name)), []qa{{Question: name}})
	}
	if diff := cmp.Diff([]string{"train.parquet"}, texts(t, load(t, byPrompt(dir, "question"), 64).Prompts)); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
}

// The Hub's local cache keeps a data set as links to its files.
func TestFolderOfLinks(t *testing.T) {
	dir, blobs := t.TempDir(), t.TempDir()
	writeParquet(t, filepath.Join(blobs, "0123abcd"), []qa{{Question: "linked"}})
	if err := os.Symlink(filepath.Join(blobs, "0123abcd"), filepath.Join(dir, "train.parquet")); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(blobs, "snapshot")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"linked"}, texts(t, load(t, byPrompt(link, "question"), 64).Prompts)); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
}

func TestFolderWithoutParquet(t *testing.T) {
	path := write(t, "a.jsonl", `{"p":"x"}`)
	dir := filepath.Dir(path)
	wantParts(t, loadErr(t, t.Context(), byPrompt(dir, "p"), 64), dir, "has no .parquet file", "(there is a.jsonl)")
	empty := t.TempDir()
	wantParts(t, loadErr(t, t.Context(), byPrompt(empty, "p"), 64), empty, "has no .parquet file")
}
