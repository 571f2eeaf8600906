package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	streamRequest = `{"model":"toy-target","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}`
	roleChunk     = `data: {"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	textChunk     = `data: {"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"word"},"finish_reason":null}]}` + "\n\n"
	endChunk      = `data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usageChunk    = `data: {"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":9}}` + "\n\n"
	doneLine      = "data: [DONE]\n\n"
)

// stream answers with a text as server-sent events.
func stream(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}
}

func chatStream(t *testing.T, text string, o Options) (Completion, *clock) {
	t.Helper()
	o.URL, _ = serve(t, stream(text))
	c, k := newClient(t, o)
	return c.Chat(t.Context(), []byte(streamRequest)), k
}

// recorded is the streams of testdata by file.
func recorded(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/streams/*.sse")
	if err != nil || len(files) < 5 {
		t.Fatalf("recorded streams: %v, %v", files, err)
	}
	return files
}

// Streams as the engines send them.
func TestChatStreamEngines(t *testing.T) {
	for file, want := range map[string]Completion{
		"llamacpp":        {Model: "gemma-3-270m", FinishReason: "length", PromptTokens: ptr(18), CompletionTokens: ptr(64), CachedTokens: ptr(13)},
		"vllm_usage":      {Model: "tiny", FinishReason: "length", PromptTokens: ptr(20), CompletionTokens: ptr(48)},
		"vllm_continuous": {Model: "tiny", FinishReason: "length", PromptTokens: ptr(20), CompletionTokens: ptr(16)},
		"vllm_nousage":    {Model: "tiny", FinishReason: "length"},
		"sglang": {Model: "meta-llama/Llama-3.1-8B-Instruct", FinishReason: "length", PromptTokens: ptr(21), CompletionTokens: ptr(64),
			Text: `Let me thinkThe answer is "7".`, Content: `The answer is "7".`},
	} {
		t.Run(file, func(t *testing.T) {
			text := string(testdata(t, "streams/"+file+".sse"))
			got, _ := chatStream(t, text, Options{KeepText: true})
			wantText, chunks := textByDecoder(t, text)
			if want.Text != "" && wantText != want.Text {
				t.Fatalf("the decoder reads %q", wantText)
			}
			if len(got.Gaps) != chunks-1 {
				t.Errorf("%d gaps between %d chunks", len(got.Gaps), chunks)
			}
			if !json.Valid(got.Body) {
				t.Errorf("Body = %s, no JSON", got.Body)
			}
			want.Streamed, want.Text = true, wantText
			if want.Content == "" {
				want.Content = wantText // no model that thinks
			}
			got.Gaps, got.Body = nil, nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Chat() (-want +got):\n%s", diff)
			}
		})
	}
}

// textByDecoder reads a stream of single lines the plain way.
func textByDecoder(t *testing.T, stream string) (text string, chunks int) {
	t.Helper()
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || strings.TrimSpace(data) == "[DONE]" {
			continue
		}
		var e struct {
			Choices []struct {
				Delta struct {
					Content   string
					Reasoning string `json:"reasoning_content"`
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if len(e.Choices) > 0 && e.Choices[0].Delta.Content+e.Choices[0].Delta.Reasoning != "" {
			chunks++
			text += e.Choices[0].Delta.Reasoning + e.Choices[0].Delta.Content
		}
	}
	return text, chunks
}

// Tokens are what usage says, never the number of chunks.
func TestCaseT06Stream(t *testing.T) {
	got, _ := chatStream(t, string(testdata(t, "T06/stream.txt")), Options{})
	if got.Err != nil || got.CompletionTokens == nil || *got.CompletionTokens != 11 || len(got.Gaps) != 1 || got.Text != "" {
		t.Errorf("Chat() = %+v, want 11 tokens in 2 chunks", got)
	}
	got, _ = chatStream(t, string(testdata(t, "T06/no_usage_stream.txt")), Options{})
	if got.Err != nil || got.CompletionTokens != nil || got.FinishReason != "stop" {
		t.Errorf("Chat() = %+v, want an unknown number of tokens", got)
	}
}

// A stream that breaks off is a transport failure, whatever came before.
func TestCaseH06Stream(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	whole := roleChunk + textChunk + endChunk + usageChunk + doneLine
	for _, tt := range []struct{ name, raw string }{
		{"no last chunk", fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", head, len(whole), whole)},
		{"inside a chunk", fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s", head, len(whole)+5, whole)},
		{"short of its length", fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(whole)+1, whole)},
		{"inside an event", head + "Connection: close\r\n\r\n" + roleChunk + textChunk[:40]},
		{"before finish_reason", head + "Connection: close\r\n\r\n" + roleChunk + textChunk},
		{"before usage", head + "Connection: close\r\n\r\n" + roleChunk + textChunk + endChunk},
		{"at once", head + "Transfer-Encoding: chunked\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := serveRaw(t, func(_ int, conn net.Conn, r *bufio.Reader) {
				if readRequest(r) == nil {
					_, _ = io.WriteString(conn, tt.raw)
				}
			})
			c, k := newClient(t, Options{URL: url, MaxRetries: 2, KeepText: true})
			got := c.Chat(t.Context(), []byte(streamRequest))
			if !errors.Is(got.Err, io.ErrUnexpectedEOF) || Kind(got.Err) != "unexpected EOF" {
				t.Errorf("Chat() error = %v, want unexpected EOF", got.Err)
			}
			if got.Body != nil || got.CompletionTokens != nil || got.Gaps != nil || got.Text != "" || got.Streamed {
				t.Errorf("Chat() = %+v, want nothing of the answer", got)
			}
			checkWaits(t, k, got, 1*time.Second, 2*time.Second)
		})
	}
}

func TestChatStreamWhole(t *testing.T) {
	whole := roleChunk + textChunk + textChunk + endChunk + usageChunk
	for _, tt := range []struct {
		name, text string
		gaps       int
	}{
		{"as usual", whole + doneLine, 1},
		{"without [DONE]", whole, 1},
		{"events behind [DONE]", whole + doneLine + textChunk, 1},
		{"CRLF", strings.ReplaceAll(whole+doneLine, "\n", "\r\n"), 1},
		{"CR", strings.ReplaceAll(whole+doneLine, "\n", "\r"), 1},
		{"BOM", "\ufeff" + whole + doneLine, 1},
		{"blank lines first", "\n\n" + whole + doneLine, 1},
		{"comments", ": hello\n\n" + strings.ReplaceAll(whole, "data:", ": keep-alive\ndata:") + ":\n\n" + doneLine, 1},
		{"no blank behind the colon", strings.ReplaceAll(whole+doneLine, "data: ", "data:"), 1},
		{"other fields", strings.ReplaceAll(whole+doneLine, "data:", "event: message\nid: 7\nretry: 10\nwhat\ndata:"), 1},
		{"events without data", "event: ping\n\ndata\n\ndata:\n\n" + whole + doneLine, 1},
		{"several data lines", strings.ReplaceAll(whole+doneLine, `,"choices"`, ",\ndata: \"choices\""), 1},
		{"null behind what was said", whole + `data: {"model":null,"choices":[{"delta":null,"finish_reason":null}],"usage":null}` + "\n\n" + doneLine, 1},
		{"role only", roleChunk + endChunk + usageChunk + doneLine, 0},
		{"a call first", roleChunk + strings.ReplaceAll(textChunk, `"content":"word"`, `"content":null,"tool_calls":[{"index":0}]`) + textChunk + endChunk + usageChunk + doneLine, 1},
		{"usage with the last text", roleChunk + textChunk + `data: {"model":"m","choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":9}}` + "\n\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := chatStream(t, tt.text, Options{})
			want := Completion{
				Model: "m", FinishReason: "stop", PromptTokens: ptr(3), CompletionTokens: ptr(9), Streamed: true,
				Gaps: make([]time.Duration, tt.gaps), Body: got.Body,
			}
			if tt.gaps == 0 {
				want.Gaps = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Chat() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChatStreamRefused(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		retries          int
	}{
		{"an error", roleChunk + textChunk + `data: {"error":{"message":"out of memory"}}` + "\n\n" + doneLine, "HTTP 200 with an error in its body: out of memory", 0},
		{"an error of vLLM's old shape", `data: {"object":"error","message":"too long"}` + "\n\n", "HTTP 200 with an error in its body: too long", 0},
		{"an error event", roleChunk + "event: error\ndata: {\"message\":\"gone\"}\n\n", "HTTP 200 with an error in its body: gone", 0},
		{"an error event of words", "event: error\ndata: gone\n\n", "HTTP 200 with an error in its body: gone", 0},
		{"one piece", good, errNotStream.Error(), 0},
		{"an error in one piece", `{"error":{"message":"no such model"}}`, "HTTP 200 with an error in its body: no such model", 0},
		{"a page", "<html>502</html>", "the answer is not JSON", 1},
		{"no choices", doneLine, "the answer has no choices", 0},
		{"a choice that is null", `data: {"choices":[null]}` + "\n\n" + usageChunk + doneLine, errNoMessage.Error(), 0},
		{"a choice without a delta", `data: {"choices":[{"finish_reason":"stop"}]}` + "\n\n" + usageChunk + doneLine, errNoMessage.Error(), 0},
		{"a delta that is null", `data: {"choices":[{"delta":null,"finish_reason":"stop"}]}` + "\n\n" + usageChunk + doneLine, errNoMessage.Error(), 0},
		{"an event that is no JSON", roleChunk + "data: {\"choices\": oops\n\n" + doneLine, "the answer is not JSON: an event of the stream", 1},
		{"an event that is no object", "data: 7\n\n", "the answer is not JSON: an event of the stream", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := chatStream(t, tt.text, Options{MaxRetries: 1})
			if got.Err == nil || !strings.Contains(got.Err.Error(), tt.want) || got.Retries != tt.retries {
				t.Errorf("Chat() error = %v after %d retries\nwant %s after %d", got.Err, got.Retries, tt.want, tt.retries)
			}
			if got.Body != nil || got.Streamed || got.Gaps != nil {
				t.Errorf("Chat() = %+v, want nothing of the answer", got)
			}
		})
	}
}

// The times are the client's clock when the bytes came, counted from the first
// send, a broken stream and its wait included.
func TestChatStreamTimes(t *testing.T) {
	var k *clock
	read := make(chan struct{}) // the client has read what was sent
	tick := func(d time.Duration) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.now = k.now.Add(d)
	}
	broken := true
	url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if broken {
			broken = false
			stream(roleChunk+textChunk)(w, nil)
			return
		}
		for _, part := range []struct {
			ms   int
			text string
		}{
			{10, roleChunk}, {20, textChunk}, {30, textChunk + textChunk}, {40, ": nothing\n\n"}, {50, textChunk}, {60, endChunk + usageChunk + doneLine},
		} {
			tick(time.Duration(part.ms) * time.Millisecond)
			_, _ = io.WriteString(w, part.text)
			_ = http.NewResponseController(w).Flush()
			<-read
		}
	})
	o := Options{URL: url, MaxRetries: 1}
	c, clock := newClient(t, o)
	k = clock
	reads := 0
	c.opts.Now = func() time.Time {
		now := k.Now()
		reads++
		// start, the broken stream's Read and end, the wait's begin and end
		if reads > 5 && reads <= 5+6 {
			read <- struct{}{}
		}
		return now
	}
	got := c.Chat(t.Context(), []byte(streamRequest))
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	if want := time.Second + 30*time.Millisecond; got.FirstToken != want {
		t.Errorf("FirstToken = %s, want %s", got.FirstToken, want)
	}
	if diff := cmp.Diff([]time.Duration{30 * time.Millisecond, 0, 90 * time.Millisecond}, got.Gaps); diff != "" {
		t.Errorf("Gaps (-want +got):\n%s", diff)
	}
	if want := time.Second + 210*time.Millisecond; got.Elapsed != want || got.Retries != 1 {
		t.Errorf("Elapsed = %s after %d retries, want %s after 1", got.Elapsed, got.Retries, want)
	}
}

// However the bytes are cut, the result is the same.
func TestStreamRechunked(t *testing.T) {
	for _, file := range recorded(t) {
		text := testdata(t, strings.TrimPrefix(file, "testdata/"))
		for ending, text := range map[string][]byte{"LF": text, "CRLF": bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))} {
			t.Run(filepath.Base(file)+" "+ending, func(t *testing.T) {
				want := readAll(t, bytes.NewReader(text))
				if want.Err != nil || !want.Streamed {
					t.Fatalf("%+v", want)
				}
				check := func(name string, r io.Reader) {
					if diff := cmp.Diff(want, readAll(t, r)); diff != "" {
						t.Errorf("%s (-want +got):\n%s", name, diff)
					}
				}
				check("one byte", iotest.OneByteReader(bytes.NewReader(text)))
				check("data with the error", iotest.DataErrReader(bytes.NewReader(text)))
				for seed := range uint64(20) {
					check(fmt.Sprintf("seed %d", seed), &randomReader{bytes.NewReader(text), rand.New(rand.NewPCG(seed, 1))})
				}
			})
		}
	}
}

type randomReader struct {
	r   io.Reader
	rnd *rand.Rand
}

func (r *randomReader) Read(p []byte) (int, error) {
	return r.r.Read(p[:min(len(p), r.rnd.IntN(400))])
}

// readAll is the Completion of a stream, on a clock that stands still.
func readAll(t testing.TB, r io.Reader) Completion {
	t.Helper()
	now := time.Unix(0, 0)
	c := &Client{opts: Options{KeepText: true, Now: func() time.Time { return now }}, maxReply: defaultMaxReply, scrub: strings.NewReplacer()}
	s := c.scratch()
	defer c.putBack(s)
	resp := &http.Response{Body: io.NopCloser(r), ContentLength: -1, Header: http.Header{"Content-Type": {"text/event-stream"}}}
	var out Completion
	plain, err := c.readStream(resp, s, now)
	if err == nil {
		err = c.judgeStream(plain, s, &out)
	}
	out.Err = err
	return out
}

func TestChatStreamOneByteAChunk(t *testing.T) {
	url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, b := range []byte(roleChunk + textChunk + textChunk + endChunk + usageChunk + doneLine) {
			_, _ = w.Write([]byte{b})
			_ = http.NewResponseController(w).Flush()
		}
	})
	c, _ := newClient(t, Options{URL: url})
	got := c.Chat(t.Context(), []byte(streamRequest))
	if got.Err != nil || got.CompletionTokens == nil || *got.CompletionTokens != 9 || len(got.Gaps) != 1 {
		t.Errorf("Chat() = %+v", got)
	}
}

func TestChatStreamLargeEvent(t *testing.T) {
	large := strings.Replace(textChunk, "word", strings.Repeat("ten bytes!", 1<<20), 1)
	got, _ := chatStream(t, roleChunk+large+endChunk+usageChunk+doneLine, Options{KeepText: true})
	if got.Err != nil || len(got.Text) != 10<<20 || *got.CompletionTokens != 9 {
		t.Errorf("Chat() = %d bytes of text, error %v", len(got.Text), got.Err)
	}
	url, requests := serve(t, stream(roleChunk+large+endChunk+usageChunk+doneLine))
	c, _ := newClient(t, Options{URL: url, MaxRetries: 3})
	c.maxReply = 1 << 20
	if got := c.Chat(t.Context(), []byte(streamRequest)); !errors.Is(got.Err, errTooLarge) || requests.Load() != 1 {
		t.Errorf("Chat() error = %v after %d requests, want the limit at once", got.Err, requests.Load())
	}
}

func TestChatStreamEndless(t *testing.T) {
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, textChunk); err != nil {
				return
			}
		}
	})
	c, _ := newClient(t, Options{URL: url, Timeout: 50 * time.Millisecond})
	got := c.Chat(t.Context(), []byte(streamRequest))
	if !errors.Is(got.Err, context.DeadlineExceeded) || !strings.Contains(errText(got.Err), "timeout_s") || got.Gaps != nil {
		t.Errorf("Chat() error = %v, want the timeout", got.Err)
	}
}

// A connection is used again, also when events follow [DONE].
func TestChatStreamKeepsConnection(t *testing.T) {
	peers := map[string]bool{}
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		peers[r.RemoteAddr] = true
		stream(roleChunk+textChunk+endChunk+usageChunk+doneLine+": bye\n\n"+textChunk)(w, r)
	})
	c, _ := newClient(t, Options{URL: url})
	for range 5 {
		if got := c.Chat(t.Context(), []byte(streamRequest)); got.Err != nil {
			t.Fatal(got.Err)
		}
	}
	if len(peers) != 1 {
		t.Errorf("%d connections for 5 requests, one after the other", len(peers))
	}
}

// What is not streamed has a text, too, when it is kept.
func TestChatKeepsText(t *testing.T) {
	for _, tt := range []struct{ name, message, want, content string }{
		{"content", `{"content":"a \"b\""}`, `a "b"`, `a "b"`},
		{"thoughts", `{"content":"b","reasoning_content":"a "}`, "a b", "b"},
		{"thoughts under both names", `{"content":"b","reasoning":"a ","reasoning_content":"a "}`, "a b", "b"},
		{"none", `{"content":null}`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := serve(t, always(200, `{"choices":[{"message":`+tt.message+`}]}`))
			c, _ := newClient(t, Options{URL: url, KeepText: true})
			if got := c.Chat(t.Context(), []byte(request)); got.Err != nil || got.Text != tt.want || got.Content != tt.content || got.Streamed {
				t.Errorf("Chat() = %q, %q, error %v, want %q, %q", got.Text, got.Content, got.Err, tt.want, tt.content)
			}
		})
	}
}
