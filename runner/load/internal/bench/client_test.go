package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/openai"
)

// profileEnv names the file that a client of ours writes its CPU profile to.
const profileEnv = "SPECSWEEP_BENCH_PROFILE"

// job is what a client of ours is to do.
type job struct {
	Client      string // specsweep, bare, lines or raw
	URL         string // with the manner
	Stream      bool
	Concurrency int
	WarmUp      int // requests before the clock starts
	Requests    int
}

// prompt is the messages of every request.
var prompt = json.RawMessage(`[{"role":"user","content":"` + strings.Repeat("a question of some length ", 20) + `"}]`)

func (j job) bodies(n int) ([][]byte, error) {
	body, err := openai.Body{Model: "toy-target", MaxTokens: j.tokens(), TopP: 1, Stream: j.Stream}.Encode(prompt)
	if err != nil {
		return nil, err
	}
	list := make([][]byte, n)
	for i := range list {
		list[i] = body
	}
	return list, nil
}

func (j job) tokens() int {
	if j.Stream {
		return streamTokens
	}
	return plainTokens
}

// command makes the command of one of our clients.
func (j job) command(tb testing.TB) *exec.Cmd {
	text, err := json.Marshal(j)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := pinned(tb, os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=client", jobEnv+"="+string(text))
	return cmd
}

// client is the process of one of our clients: it says its outcome on w.
func client(text string, w io.Writer) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return fmt.Errorf("reading %s: %w", jobEnv, err)
	}
	ctx := context.Background()
	do, stop, err := j.doer()
	if err != nil {
		return err
	}
	defer stop()
	bodies, err := j.bodies(max(j.WarmUp, j.Requests))
	if err != nil {
		return err
	}
	if err := do(ctx, bodies[:j.WarmUp]); err != nil {
		return err
	}
	if path := os.Getenv(profileEnv); path != "" {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	start := time.Now()
	if err := do(ctx, bodies[:j.Requests]); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(outcome{j.Requests, time.Since(start).Seconds()})
}

// doer gives what sends all of its bodies and returns after the last answer.
func (j job) doer() (do func(context.Context, [][]byte) error, stop func(), err error) {
	if j.Client == "specsweep" {
		c, err := openai.New(openai.Options{URL: j.URL, MaxConns: j.Concurrency})
		if err != nil {
			return nil, nil, err
		}
		return func(ctx context.Context, bodies [][]byte) error { return j.pass(ctx, c, bodies) }, c.Close, nil
	}
	one := map[string]reader{"bare": readWhole, "lines": readLines, "raw": readRaw}[j.Client]
	if one == nil {
		return nil, nil, fmt.Errorf("no client %q", j.Client)
	}
	hc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: j.Concurrency, DisableCompression: true}}
	return func(ctx context.Context, bodies [][]byte) error { return j.loop(ctx, hc, one, bodies) }, hc.CloseIdleConnections, nil
}

// pass is specsweep as the runner uses it, with an observer as its probes are.
func (j job) pass(ctx context.Context, c load.Chatter, bodies [][]byte) error {
	var seen atomic.Int64
	p, err := load.Run(ctx, c, bodies, load.Options{
		Concurrency: j.Concurrency,
		Observe:     func(*openai.Completion) { seen.Add(1) },
	})
	if err != nil {
		return err
	}
	if p.Completed != len(bodies) || p.OutputTokens != int64(len(bodies)*j.tokens()) || seen.Load() != int64(len(bodies)) {
		return fmt.Errorf("%d of %d completed, %d tokens: %v", p.Completed, len(bodies), p.OutputTokens, p.Failures)
	}
	return nil
}

// loop is what a good programmer writes in a few lines: workers that take the next
// body when their last one is answered.
func (j job) loop(ctx context.Context, hc *http.Client, one reader, bodies [][]byte) error {
	var next, tokens atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, j.Concurrency)
	for i := range errs {
		wg.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(bodies); n = int(next.Add(1)) - 1 {
				got, err := send(ctx, hc, one, j.URL+chatPath, bodies[n])
				if err != nil {
					errs[i] = err
					return
				}
				tokens.Add(got)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if want := int64(len(bodies) * j.tokens()); tokens.Load() != want {
		return fmt.Errorf("%d tokens, want %d", tokens.Load(), want)
	}
	return nil
}
