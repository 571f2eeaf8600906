package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// RequestsFile holds what single answers tell of their own drafts.
const RequestsFile = "requests.jsonl"

// Request is what one answer of a run's server pass tells of its own drafts. Lines
// whose run_id has no row mean nothing: the sweep ended in between.
type Request struct {
	RunID      string `json:"run_id"`
	Prompt     int    `json:"prompt"`         // of the run, from 0; turns of a conversation share it
	Turn       int    `json:"turn,omitempty"` // of the conversation, from 0
	PromptHash string `json:"prompt_hash"`    // equal hashes, equal prompts, on every machine
	Category   string `json:"category,omitempty"`
	// StartedAt is that of the pass, as its row has it: it tells the writings of a run
	// that was made again apart. Zero: an older version wrote the line.
	StartedAt time.Time `json:"started_at,omitzero"`

	Drafts      int64  `json:"drafts"`       // verify steps
	DraftTokens *int64 `json:"draft_tokens"` // proposed; null: not told
	Accepted    int64  `json:"accepted"`     // of the proposed, the bonus token not counted
}

// AppendRequests adds the lines to requests.jsonl and returns when they are on the
// disk. It is to be called before Append of their row, so that no row lacks them.
func (s *RunSet) AppendRequests(requests []Request) error {
	var lines []byte
	for _, r := range requests {
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("encoding a request of run %s: %w", r.RunID, err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if len(lines) == 0 {
		return nil
	}
	if err := s.appendTo(RequestsFile, lines); err != nil {
		return fmt.Errorf("appending to %s: %w", filepath.Join(s.dir, RequestsFile), err)
	}
	return nil
}

// ReadRequests returns the requests of the run-set in dir by run_id, in the order
// of the file; none when no engine told of any. Lines that are none are named in
// problems. A run that was made again stands in the file more than once: the last
// writing counts.
func ReadRequests(dir string) (byRun map[string][]Request, problems []string, err error) {
	path := filepath.Join(dir, RequestsFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading run-set %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readRequests(path, f)
}

func readRequests(path string, r io.Reader) (map[string][]Request, []string, error) {
	byRun := map[string][]Request{}
	var problems []string
	err := eachLine(path, r, func(n int, text []byte, _ bool) error {
		q, err := parseRequest(text)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s:%d: not a request and left out: %v", path, n, err))
			return nil
		}
		have := byRun[q.RunID]
		if n := len(have); n > 0 && anotherWriting(&have[n-1], &q) {
			have = nil
		}
		byRun[q.RunID] = append(have, q)
		return nil
	})
	return byRun, problems, err
}

// anotherWriting tells whether a run's line begins another writing than the line before
// it: the pass is another one or, where lines do not say which, their prompts begin again.
func anotherWriting(before, q *Request) bool {
	return !q.StartedAt.Equal(before.StartedAt) || q.Prompt < before.Prompt
}

func parseRequest(text []byte) (Request, error) {
	var q Request
	if err := json.Unmarshal(text, &q); err != nil {
		return Request{}, err
	}
	switch {
	case q.RunID == "":
		return Request{}, errors.New("no run_id")
	case q.Prompt < 0 || q.Turn < 0 || q.Drafts < 0 || q.Accepted < 0 || q.DraftTokens != nil && *q.DraftTokens < 0:
		return Request{}, errors.New("a negative count")
	}
	return q, nil
}
