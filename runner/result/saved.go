package result

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"
)

// SavedFile holds one line for each request of a run: JSON lines in zstd, one frame a
// run, so that zstd -dc reads it as one file.
const SavedFile = "requests-full.jsonl.zst"

// The values of SavedRequest.Side and, of an answer that came, Status.
const (
	SideServer   = "server"
	SideBaseline = "baseline"
	StatusOK     = "ok"
)

// SavedRequest is one request of a pass. Its times count from when it was due, which
// in a closed loop is when it was sent. Lines whose run_id has no row mean nothing.
type SavedRequest struct {
	RunID      string `json:"run_id"` // of a baseline that several runs share: the one that was written first
	Side       string `json:"side"`
	Prompt     int    `json:"prompt"`         // of the run, from 0
	Turn       int    `json:"turn,omitempty"` // of the prompt's conversation, from 0
	PromptHash string `json:"prompt_hash"`
	Category   string `json:"category,omitempty"`

	DueS         float64   `json:"due_s"` // since the start of the pass
	LateMs       float64   `json:"late_ms"`
	StartedAt    time.Time `json:"started_at"` // due and late: the first send
	TTFTMs       *float64  `json:"ttft_ms"`    // null: not streamed, or no text came
	E2ELatencyMs float64   `json:"e2e_latency_ms"`

	Tokens       *int   `json:"tokens"` // usage; null: not told
	PromptTokens *int   `json:"prompt_tokens"`
	FinishReason string `json:"finish_reason,omitempty"`
	Retries      int    `json:"retries"`
	Status       string `json:"status"` // StatusOK, or the kind of failure

	// Where the engine tells of single answers; the bonus token is not counted.
	Drafts      *int64 `json:"drafts,omitempty"`
	DraftTokens *int64 `json:"draft_tokens,omitempty"`
	Accepted    *int64 `json:"accepted,omitempty"`

	Text *string `json:"text,omitempty"` // only with save_outputs
}

// AppendSaved adds the lines as one zstd frame to requests-full.jsonl.zst and returns
// when they are on the disk. What a killed process left of a frame is cut off first: no
// row speaks of it, and nothing behind it could be read. It is to be called before
// Append of their row.
func (s *RunSet) AppendSaved(requests []SavedRequest) error {
	if len(requests) == 0 {
		return nil
	}
	if err := s.appendSaved(requests); err != nil {
		return fmt.Errorf("appending to %s: %w", filepath.Join(s.dir, SavedFile), err)
	}
	return nil
}

func (s *RunSet) appendSaved(requests []SavedRequest) (err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, SavedFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	frames, err := frameEnds(f, info.Size())
	if err != nil && !errors.Is(err, errTorn) {
		return err // not ours to cut
	}
	end := int64(0)
	if len(frames) > 0 {
		end = frames[len(frames)-1]
	}
	if err := f.Truncate(end); err != nil {
		return err
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return err
	}
	if err := writeFrame(f, requests); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if info.Size() == 0 {
		return syncDir(s.dir)
	}
	return nil
}

// writeFrame writes the lines without holding them all.
func writeFrame(w io.Writer, requests []SavedRequest) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false)
	for i := range requests {
		if err := enc.Encode(&requests[i]); err != nil {
			err = fmt.Errorf("encoding a request of run %s: %w", requests[i].RunID, err)
			return errors.Join(err, z.Close())
		}
	}
	return z.Close()
}

// ReadSaved returns the requests of the run-set in dir in the order of the file; none
// when no plan asked for them. The half frame of a killed process, frames that do not
// decode and lines that are no requests are left out and named in problems.
func ReadSaved(dir string) (requests []SavedRequest, problems []string, err error) {
	path := filepath.Join(dir, SavedFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading run-set %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("reading run-set %s: %w", dir, err)
	}
	requests, problems, err = readSaved(path, f, info.Size())
	return requests, problems, err
}

func readSaved(path string, r io.ReaderAt, size int64) ([]SavedRequest, []string, error) {
	var requests []SavedRequest
	var problems []string
	ends, err := frameEnds(r, size)
	switch {
	case errors.Is(err, errTorn), errors.Is(err, errNoFrame):
		problems = append(problems, fmt.Sprintf("%s: what follows frame %d is left out: %v", path, len(ends), err))
	case err != nil:
		return nil, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	start := int64(0)
	for i, end := range ends {
		name := fmt.Sprintf("%s: frame %d", path, i+1)
		got, bad := readFrame(name, io.NewSectionReader(r, start, end-start))
		requests, problems = append(requests, got...), append(problems, bad...)
		start = end
	}
	return requests, problems, nil
}

// readFrame reads what can be read of one frame.
func readFrame(name string, r io.Reader) (requests []SavedRequest, problems []string) {
	z, err := zstd.NewReader(bufio.NewReader(r), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, []string{fmt.Sprintf("%s: %v", name, err)}
	}
	defer z.Close()
	err = eachLine(name, z, func(n int, text []byte, _ bool) error {
		q, err := parseSaved(text)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s:%d: not a request and left out: %v", name, n, err))
			return nil
		}
		requests = append(requests, q)
		return nil
	})
	if err != nil {
		problems = append(problems, err.Error())
	}
	return requests, problems
}

func parseSaved(text []byte) (SavedRequest, error) {
	var q SavedRequest
	if err := json.Unmarshal(text, &q); err != nil {
		return SavedRequest{}, err
	}
	switch {
	case q.RunID == "":
		return SavedRequest{}, errors.New("no run_id")
	case q.Side != SideServer && q.Side != SideBaseline:
		return SavedRequest{}, fmt.Errorf("side is %q, not server or baseline", q.Side)
	case q.Prompt < 0 || q.Turn < 0:
		return SavedRequest{}, errors.New("a negative count")
	}
	return q, nil
}
