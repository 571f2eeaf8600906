package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCaseD01UnicodeLineSeparatorsStayInTheText(t *testing.T) {
	set := load(t, byPrompt("testdata/D01/prompts.jsonl", "prompt"), 64)
	want := []string{"Plain one.", "Top line\u2028middle\u2029after\u0085end", "tab\vform\ffeed"}
	if diff := cmp.Diff(want, texts(t, set.Prompts)); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(set.Prompts[1].Messages), "\u2028") {
		t.Error("the characters themselves are gone from the messages")
	}
}

func TestCaseD03LongLines(t *testing.T) {
	got := texts(t, load(t, byPrompt("testdata/D03/prompts.jsonl", "prompt"), 64).Prompts)
	if len(got) != 4 || len(got[1]) != 70_999 {
		t.Fatalf("%d prompts, the second of %d characters; want 4 and 70999", len(got), len(got[min(1, len(got)-1)]))
	}
	got[1] = "long"
	if diff := cmp.Diff([]string{"short first", "long", "short third", "short last"}, got); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}

	long := strings.Repeat("word ", 1<<20)
	path := write(t, "five_mb.jsonl", `{"prompt":"before"}`+"\n"+`{"prompt":"`+long+`"}`+"\n"+`{"prompt":"after"}`)
	if diff := cmp.Diff([]string{"before", long, "after"}, texts(t, load(t, byPrompt(path, "prompt"), 64).Prompts)); diff != "" {
		t.Errorf("prompts around a line of 5 MB differ (%d characters of difference)", len(diff))
	}
}

func TestCaseD05FirstTurnOfAList(t *testing.T) {
	set := load(t, byPrompt("testdata/D05/rows.jsonl", "prompt"), 64)
	if diff := cmp.Diff([]string{"Write a haiku.", "Solo string."}, texts(t, set.Prompts)); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	if got, want := set.Summary(), "7 rows, 5 skipped: blank prompt 3, prompt is not a text 2"; got != want {
		t.Errorf("Summary() = %q, want %q", got, want)
	}
}

func TestCaseD08NestedParquet(t *testing.T) {
	for _, name := range []string{"nested.parquet", "nested_snappy_v1.parquet"} {
		path := filepath.Join("testdata/D08", name)
		t.Run(name+"/messages", func(t *testing.T) {
			set := load(t, byMessages(path), 64)
			want := []string{
				`[{"content":"Name three rivers.","role":"user"}]`,
				`[{"content":"Be brief.","role":"system"},{"content":"Say hi.","role":"user"}]`,
				`[{"content":"Last of group two.","role":"user"}]`,
			}
			var got []string
			for _, p := range set.Prompts {
				got = append(got, string(p.Messages))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]int{0, 3, 5}, rowsOf(set.Prompts)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
		columns := []struct {
			prompt, context string
			want            []string
		}{
			{"prompt", "", []string{"first turn A", "first turn F", "first turn G"}},
			{"question", "", []string{"q0", "q1", "q0", "q5", "q6"}},
			{"big", "", []string{"b0", "b1", "b2", "b4", "b5", "b6"}},
			{"question", "context", []string{"q0\n\nctx0", "q1", "q0", "q5", "q6\n\nctx6"}},
		}
		for _, c := range columns {
			t.Run(name+"/"+c.prompt+c.context, func(t *testing.T) {
				d := byPrompt(path, c.prompt)
				d.PromptContextColumn = c.context
				if diff := cmp.Diff(c.want, texts(t, load(t, d, 64).Prompts)); diff != "" {
					t.Errorf("prompts (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestCaseD10NoParquet(t *testing.T) {
	tests := []struct{ name, path, want string }{
		{"LFS pointer", "testdata/D10/train-00000-of-00001.parquet", "LFS pointer, not the data: run `git lfs pull`"},
		{"empty", "testdata/D10/empty.parquet", "empty (0 bytes)"},
		{"cut", "testdata/D10/cut.parquet", "no whole parquet file"},
		{"footer longer than the file", "testdata/D10/long_footer.parquet", "its footer of 4294967295 bytes is longer than the file"},
		{"no regular file", os.DevNull, "no regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantParts(t, loadErr(t, t.Context(), byMessages(tt.path), 64), tt.path, tt.want)
		})
	}
	t.Run("a pointer under any ending", func(t *testing.T) {
		pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
		for _, name := range []string{"a.jsonl", "a.json", "a.jsonl.gz", "a.json.zst", "a.txt"} {
			wantParts(t, loadErr(t, t.Context(), byMessages(write(t, name, pointer)), 64), name, "git lfs pull")
		}
	})
	t.Run("one bad shard fails the whole set", func(t *testing.T) {
		dir := t.TempDir()
		writeParquet(t, filepath.Join(dir, "train-00000-of-00002.parquet"), []qa{{Question: "q0"}})
		copyFile(t, "testdata/D10/cut.parquet", filepath.Join(dir, "train-00001-of-00002.parquet"))
		wantParts(t, loadErr(t, t.Context(), byPrompt(dir, "question"), 64), "train-00001-of-00002.parquet")
	})
}

func TestCaseD11FewerThanAsked(t *testing.T) {
	set := load(t, byPrompt("testdata/D11/rows.jsonl", "prompt"), 8)
	if diff := cmp.Diff([]string{"alpha", "beta", "gamma"}, texts(t, set.Prompts)); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	if got, want := set.Summary(), "5 rows, 2 skipped: blank prompt 2"; got != want {
		t.Errorf("Summary() = %q, want %q", got, want)
	}

	_, err := Load(t.Context(), byPrompt("testdata/D11/none.jsonl", "prompt"), 8, Options{})
	if !errors.Is(err, ErrNoPrompts) {
		t.Fatalf("error %v, want ErrNoPrompts", err)
	}
	if got, want := err.Error(), "no usable prompts loaded (2 rows, 2 skipped: blank prompt 2)"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}
