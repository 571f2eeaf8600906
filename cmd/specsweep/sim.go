package main

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/runner/sim"
)

func newSimCmd(e *env) *cobra.Command {
	var (
		c                                  sim.Config
		port                               int
		acceptFor                          []string
		stepMS, perReqMS, latMS, prefillMS float64
	)
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Run a simulated server, for trying plans without a GPU",
		Long: `sim answers as a vLLM, SGLang or llama.cpp server does: chat completions, /metrics,
/server_info, /props, /v1/models, /health, /version and their errors. It models continuous batching: one
decode step of the whole batch costs --step-ms + --step-ms-per-request x active, and a
verify step emits 1 + accepted tokens. --version-string decides what an SGLang server
can tell: counts in its answers from 0.5.14 on, /flush_cache always.

--accept gives the marginal acceptance rate of each draft position, as vLLM's
per-position counters do: accept_length is 1 + their sum, so 0.8,0.6,0.4 gives 2.8.
Every draw comes from --seed, the prompt and how often that prompt has come: a run can
be repeated exactly, and repeats within a run differ, unless --same.

The address is printed as the first line on stdout. Ctrl-C ends the server.`,
		Example: `  specsweep sim --engine vllm --port 8000 --accept 0.8,0.6,0.4
  specsweep sim --engine vllm --port 8001 --no-spec`,
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.StepTime, c.StepTimePerRequest, c.Latency, c.PrefillTime = millis(stepMS), millis(perReqMS), millis(latMS), millis(prefillMS)
			if cmd.Flags().Changed("accept") && c.NoSpec {
				return usage(fmt.Errorf("--accept and --no-spec exclude each other"))
			}
			var err error
			if c.AcceptFor, err = parseAcceptFor(acceptFor); err != nil {
				return usage(err)
			}
			server, err := sim.New(c)
			if err != nil {
				return usage(err)
			}
			var lc net.ListenConfig
			l, err := lc.Listen(cmd.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(e.stdout, "http://%s\n", l.Addr()); err != nil {
				return err
			}
			return server.Serve(cmd.Context(), l)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Engine, "engine", "vllm", "vllm, sglang or llamacpp")
	f.IntVar(&port, "port", 0, "port on 127.0.0.1; 0: a free one")
	f.StringVar(&c.Model, "model", "sim", "name of the served model")
	f.Float64SliceVar(&c.Accept, "accept", []float64{0.8, 0.6, 0.4}, "marginal acceptance rate per draft position; must not increase")
	f.StringArrayVar(&acceptFor, "accept-for", nil, "rates for prompts that contain a word, as in gsm8k=0.9,0.7; may be given several times")
	f.BoolVar(&c.NoSpec, "no-spec", false, "no speculation: a baseline")
	f.StringVar(&c.Version, "version-string", "", "version that the server says it is, which decides what it can do; default: a recent one")
	f.BoolVar(&c.Metrics, "metrics", false, "SGLang and llama.cpp have /metrics too (vLLM always has)")
	f.BoolVar(&c.DevMode, "dev-mode", false, "vLLM has /reset_prefix_cache")
	f.BoolVar(&c.RequestDetails, "request-details", false, "vLLM's answers carry counts of their drafts")
	f.Float64Var(&stepMS, "step-ms", 1, "milliseconds of a decode step")
	f.Float64Var(&prefillMS, "prefill-ms", 0, "milliseconds before a request's first token")
	f.Float64Var(&perReqMS, "step-ms-per-request", 0, "more milliseconds of a decode step for each active request")
	f.Uint64Var(&c.Seed, "seed", 0, "seed of all draws")
	f.BoolVar(&c.Same, "same", false, "a prompt draws the same each time it comes, as greedy decoding does")
	f.Float64Var(&c.FailRate, "fail-rate", 0, "share of requests answered with 500")
	f.Float64Var(&c.DropRate, "drop-rate", 0, "share of answers that break off")
	f.Float64Var(&latMS, "latency-ms", 0, "milliseconds before every answer")
	f.IntVar(&c.RestartAfter, "restart-after", 0, "set the counters to zero after so many answers, as a restart does")
	return cmd
}

// parseAcceptFor reads word=rate,rate,…
func parseAcceptFor(list []string) (map[string][]float64, error) {
	rates := map[string][]float64{}
	for _, entry := range list {
		word, text, ok := strings.Cut(entry, "=")
		if !ok || word == "" {
			return nil, fmt.Errorf("--accept-for %q: want word=rate,rate,…", entry)
		}
		if _, ok := rates[word]; ok {
			return nil, fmt.Errorf("--accept-for names %q twice", word)
		}
		for _, t := range strings.Split(text, ",") {
			rate, err := strconv.ParseFloat(strings.TrimSpace(t), 64)
			if err != nil {
				return nil, fmt.Errorf("--accept-for %q: %q is not a number", entry, t)
			}
			rates[word] = append(rates[word], rate)
		}
	}
	return rates, nil
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
