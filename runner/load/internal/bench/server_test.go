package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// The server answers below a root for each manner, so that the client's options
// choose it: ROOT/plain/v1/chat/completions and so on.
const (
	plain     = "plain"     // one JSON answer from memory
	coalesced = "coalesced" // a stream in two writes, as from a server that is ahead of its sockets
	flushed   = "flushed"   // a stream with a write for each event
	known     = "known"     // a JSON answer after a service time that the server keeps a record of
	chatPath  = "/v1/chat/completions"
)

const (
	streamTokens = 64
	streamEvents = streamTokens + 4 // role, finish, usage, [DONE]
	plainTokens  = 256
)

// plainAnswer is an answer of the usual size, some 250 tokens of text.
var plainAnswer = []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"toy-target",` +
	`"choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat("some words of an answer, ", 40) +
	`"},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"total_tokens":268,"completion_tokens":` +
	strconv.Itoa(plainTokens) + `}}`)

// streamAnswer is the events of a stream, as vLLM writes them.
var streamAnswer = func() (events [][]byte) {
	chunk := func(choices, usage string) {
		events = append(events, fmt.Appendf(nil, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,`+
			`"model":"toy-target","choices":[%s]%s}`+"\n\n", choices, usage))
	}
	chunk(`{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`, "")
	for range streamTokens {
		chunk(`{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}`, "")
	}
	chunk(`{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}`, "")
	chunk("", `,"usage":{"prompt_tokens":12,"total_tokens":76,"completion_tokens":64}`)
	return append(events, []byte("data: [DONE]\n\n"))
}()

var streamBytes = len(bytes.Join(streamAnswer, nil))

// serve is the server's process: it says its root on w and lives as long as r.
func serve(r io.Reader, w io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &benchServer{}
	srv := &fasthttp.Server{Handler: s.handle, NoDefaultServerHeader: true, NoDefaultDate: true}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	if _, err := fmt.Fprintf(w, "http://%s\n", l.Addr()); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	srv.CloseOnShutdown = true
	if err := l.Close(); err != nil {
		return err
	}
	return <-served
}

type benchServer struct {
	answered atomic.Int64
	record   record
}

// handle answers chat completions, GET /count with how many there were, POST
// /known?seed= and GET /stats as record has them.
func (s *benchServer) handle(ctx *fasthttp.RequestCtx) {
	root, ok := strings.CutSuffix(strings.TrimPrefix(string(ctx.Path()), "/"), chatPath)
	if !ok {
		s.tell(ctx)
		return
	}
	switch root {
	case plain:
		answer(ctx)
	case known:
		s.record.serve(func() { answer(ctx) })
	case coalesced, flushed:
		ctx.SetContentType("text/event-stream; charset=utf-8")
		ctx.SetBodyStreamWriter(writer(root == flushed))
	default:
		ctx.Error("no such manner", fasthttp.StatusNotFound)
		return
	}
	s.answered.Add(1)
}

func answer(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("application/json")
	ctx.Response.SetBodyRaw(plainAnswer)
}

// writer writes the stream. Its errors are those of a client that has gone.
func writer(each bool) fasthttp.StreamWriter {
	return func(w *bufio.Writer) {
		for i, e := range streamAnswer {
			if _, err := w.Write(e); err != nil {
				return
			}
			if each || i == 0 {
				if w.Flush() != nil {
					return
				}
			}
		}
	}
}

func (s *benchServer) tell(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case "/count":
		fmt.Fprint(ctx, s.answered.Load())
	case "/known":
		s.record.begin(uint64(ctx.QueryArgs().GetUintOrZero("seed")))
	case "/stats":
		if err := json.NewEncoder(ctx).Encode(s.record.stats()); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		}
	case "/" + coalesced + "/v1/models", "/" + plain + "/v1/models", "/" + flushed + "/v1/models":
		ctx.SetContentType("application/json")
		fmt.Fprint(ctx, `{"object":"list","data":[{"id":"toy-target","object":"model"}]}`)
	default:
		ctx.Error("no such page", fasthttp.StatusNotFound)
	}
}

// stats is what the server knows of its known manner since the record began.
type stats struct {
	Requests int
	Wall     time.Duration   // first request to last answer
	Times    []time.Duration // of service, in order of size
}
