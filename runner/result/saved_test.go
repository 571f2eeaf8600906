package result

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func savedRequests(run string, n int) []SavedRequest {
	var out []SavedRequest
	for i := range n {
		out = append(out, SavedRequest{
			RunID: run, Side: SideServer, Prompt: i, Turn: i % 2, PromptHash: "h", DueS: 0.5, LateMs: 0.25,
			StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), TTFTMs: ptr(12.5), E2ELatencyMs: 80,
			Tokens: ptr(7), PromptTokens: ptr(3), FinishReason: "stop", Retries: 1, Status: StatusOK,
			Drafts: ptr(int64(4)), DraftTokens: ptr(int64(12)), Accepted: ptr(int64(5)), Text: ptr("<a>\nb"),
		})
	}
	return out
}

func TestAppendAndReadSaved(t *testing.T) {
	s := newRunSet(t)
	if got, problems, err := ReadSaved(s.Dir()); err != nil || len(got) > 0 || len(problems) > 0 {
		t.Fatalf("without a file: %v, %v, %v", got, problems, err)
	}
	a, b := savedRequests("a-r0", 3), []SavedRequest{{RunID: "b-r0", Side: SideBaseline, Status: "timeout"}}
	for _, lines := range [][]SavedRequest{a, nil, b} {
		if err := s.AppendSaved(lines); err != nil {
			t.Fatal(err)
		}
	}
	got, problems, err := ReadSaved(s.Dir())
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if diff := cmp.Diff(append(a, b...), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Any zstd reads the file as one stream of lines.
func TestSavedIsPlainZstd(t *testing.T) {
	s := newRunSet(t)
	for range 2 {
		if err := s.AppendSaved(savedRequests("a-r0", 5)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(s.Dir(), SavedFile))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll(data, nil)
	if err != nil || bytes.Count(text, []byte("\n")) != 10 {
		t.Errorf("DecodeAll: %d lines, %v; want 10", bytes.Count(text, []byte("\n")), err)
	}
}

// Wherever a process was killed while it wrote, the frames before are there, the rest
// is named, and what is appended next is there as well.
func TestSavedAfterATornFrame(t *testing.T) {
	s := newRunSet(t)
	path := filepath.Join(s.Dir(), SavedFile)
	first := savedRequests("a-r0", 2)
	if err := s.AppendSaved(first); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AppendSaved(savedRequests("b-r0", 4)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := info.Size() + 1; cut < int64(len(data)); cut += 7 {
		if err := os.WriteFile(path, data[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		got, problems, err := ReadSaved(s.Dir())
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0], "after frame 1") && !strings.Contains(problems[0], "follows frame 1") {
			t.Fatalf("cut at %d: %q, %v; want the torn frame named", cut, problems, err)
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Fatalf("cut at %d (-want +got)\n%s", cut, diff)
		}
		next := savedRequests("c-r0", 1)
		if err := s.AppendSaved(next); err != nil {
			t.Fatal(err)
		}
		got, problems, err = ReadSaved(s.Dir())
		if diff := cmp.Diff(append(first[:2:2], next...), got); diff != "" || err != nil || len(problems) > 0 {
			t.Fatalf("cut at %d, then appended: %q, %v (-want +got)\n%s", cut, problems, err, diff)
		}
	}
}

// A file that is none of ours is not cut.
func TestAppendSavedKeepsForeignBytes(t *testing.T) {
	s := newRunSet(t)
	path := filepath.Join(s.Dir(), SavedFile)
	const text = "these are notes of somebody's own"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendSaved(savedRequests("a-r0", 1)); err == nil || !strings.Contains(err.Error(), SavedFile) {
		t.Errorf("AppendSaved = %v, want an error that names the file", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if _, problems, err := ReadSaved(s.Dir()); err != nil || len(problems) != 1 {
		t.Errorf("ReadSaved = %q, %v; want one problem", problems, err)
	}
}

func FuzzReadSaved(f *testing.F) {
	var frame, plain bytes.Buffer
	if err := writeFrame(&frame, savedRequests("a-r0", 2)); err != nil {
		f.Fatal(err)
	}
	z, err := zstd.NewWriter(&plain)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := z.Write([]byte("{}\n[]\n{\"run_id\":\"a\",\"side\":\"x\"}\n{\"run_id\":\"a\",\"side\":\"server\",\"prompt\":-1}\n{")); err != nil {
		f.Fatal(err)
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(append(frame.Bytes(), frame.Bytes()[:20]...))
	f.Add(append(plain.Bytes(), frame.Bytes()...))
	f.Add([]byte{0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff}) // a skippable frame that is cut off
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, data []byte) {
		requests, _, err := readSaved("saved", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			if r.RunID == "" || r.Prompt < 0 || r.Side != SideServer && r.Side != SideBaseline {
				t.Errorf("read %+v", r)
			}
		}
	})
}
