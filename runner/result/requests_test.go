package result

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAppendAndReadRequests(t *testing.T) {
	s := newRunSet(t)
	if got, problems, err := ReadRequests(s.Dir()); err != nil || len(got) > 0 || len(problems) > 0 {
		t.Fatalf("without a file: %v, %v, %v", got, problems, err)
	}
	a := []Request{{RunID: "a-r0", Prompt: 0, PromptHash: "x", Category: "math", Drafts: 10, DraftTokens: new(int64(30)), Accepted: 12}, {RunID: "a-r0", Prompt: 1, Drafts: 4}}
	b := []Request{{RunID: "b-r0", PromptHash: "y", Accepted: 1}}
	for _, lines := range [][]Request{a, nil, b} {
		if err := s.AppendRequests(lines); err != nil {
			t.Fatal(err)
		}
	}
	got, problems, err := ReadRequests(s.Dir())
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if diff := cmp.Diff(map[string][]Request{"a-r0": a, "b-r0": b}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A killed process may have left half a line; what follows must not be lost.
func TestAppendRequestsAfterATornLine(t *testing.T) {
	s := newRunSet(t)
	path := filepath.Join(s.Dir(), RequestsFile)
	if err := os.WriteFile(path, []byte(`{"run_id":"a-r0","draf`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendRequests([]Request{{RunID: "a-r0", Drafts: 3}}); err != nil {
		t.Fatal(err)
	}
	got, problems, err := ReadRequests(s.Dir())
	if err != nil || len(got["a-r0"]) != 1 || len(problems) != 1 || !strings.Contains(problems[0], RequestsFile+":1: not a request") {
		t.Errorf("ReadRequests = %v, %q, %v; want one request and line 1 named", got, problems, err)
	}
}

func TestAppendRequestsNamesTheFile(t *testing.T) {
	s := newRunSet(t)
	if err := os.Mkdir(filepath.Join(s.Dir(), RequestsFile), 0o755); err != nil {
		t.Fatal(err)
	}
	var path *os.PathError
	if err := s.AppendRequests([]Request{{RunID: "a"}}); !errors.As(err, &path) || !strings.Contains(err.Error(), RequestsFile) {
		t.Errorf("AppendRequests = %v, want an error that names the file", err)
	}
}

func FuzzReadRequests(f *testing.F) {
	f.Add(`{"run_id":"a-r0","prompt":3,"prompt_hash":"x","drafts":3,"draft_tokens":null,"accepted":1}` + "\n{")
	f.Add(`{"run_id":"a","drafts":-1}` + "\n[]\nnull\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		byRun, _, err := readRequests("requests.jsonl", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for id, requests := range byRun {
			for _, r := range requests {
				if r.RunID != id || id == "" || r.Drafts < 0 || r.Accepted < 0 || r.Prompt < 0 {
					t.Errorf("%q was read as %+v", text, r)
				}
			}
		}
	})
}

// A run that was made again counts once: its last writing.
func TestARunWrittenTwiceCountsOnce(t *testing.T) {
	at := func(second int, lines ...Request) []Request {
		for i := range lines {
			lines[i].RunID = "a-r0"
			if second > 0 {
				lines[i].StartedAt = time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC)
			}
		}
		return lines
	}
	first := at(1, Request{Prompt: 0, Drafts: 1}, Request{Prompt: 0, Turn: 1, Drafts: 2}, Request{Prompt: 1, Drafts: 3})
	second := at(2, Request{Prompt: 1, Drafts: 4}, Request{Prompt: 2, Drafts: 5}) // its first prompt failed
	oldFirst, oldSecond := at(0, Request{Prompt: 0}, Request{Prompt: 1}), at(0, Request{Prompt: 0, Drafts: 7}, Request{Prompt: 1})
	other := []Request{{RunID: "b-r0", Drafts: 9}}
	for _, tt := range []struct {
		name     string
		writings [][]Request
		want     []Request
	}{
		{"once, with two turns", [][]Request{first}, first},
		{"twice", [][]Request{first, second}, second},
		{"twice, with another run between", [][]Request{first, other, second}, second},
		{"the first by an older version", [][]Request{oldFirst, second}, second},
		{"both by an older version", [][]Request{oldFirst, oldSecond}, oldSecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newRunSet(t)
			for _, lines := range tt.writings {
				if err := s.AppendRequests(lines); err != nil {
					t.Fatal(err)
				}
			}
			got, problems, err := ReadRequests(s.Dir())
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			if diff := cmp.Diff(tt.want, got["a-r0"]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
