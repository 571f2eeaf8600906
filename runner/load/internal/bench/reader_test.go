package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// reader reads an answer and gives its tokens.
type reader func(io.Reader) (int64, error)

func send(ctx context.Context, hc *http.Client, read reader, url string, body []byte) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := hc.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("POST %s: %s", url, resp.Status)
	}
	return read(resp.Body)
}

// shape is as much of an answer as anybody needs who reports throughput.
type shape struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Delta        struct {
			Content string
		}
	}
	Usage struct {
		CompletionTokens int64 `json:"completion_tokens"`
	}
}

// readWhole is net/http and encoding/json alone.
func readWhole(r io.Reader) (int64, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return 0, err
	}
	var a shape
	if err := json.Unmarshal(text, &a); err != nil {
		return 0, err
	}
	return a.Usage.CompletionTokens, nil
}

// readLines is a stream with bufio and encoding/json.
func readLines(r io.Reader) (tokens int64, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok || string(data) == "[DONE]" {
			continue
		}
		var a shape
		if err := json.Unmarshal(data, &a); err != nil {
			return 0, err
		}
		if len(a.Choices) > 0 && a.Choices[0].Delta.Content != "" {
			tokens++
		}
	}
	return tokens, lines.Err()
}

// readRaw counts the stream's bytes and looks at none: there is nothing faster on
// net/http. Bytes that are not the stream's length are an error.
func readRaw(r io.Reader) (int64, error) {
	var buf [32 << 10]byte
	n := 0
	for {
		got, err := r.Read(buf[:])
		n += got
		switch {
		case err == io.EOF && n == streamBytes:
			return streamTokens, nil
		case err == io.EOF:
			return 0, fmt.Errorf("%d bytes of a stream", n)
		case err != nil:
			return 0, err
		}
	}
}
