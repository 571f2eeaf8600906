package main

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/runner/sim"
)

func newSimCmd(e *env) *cobra.Command {
	var (
		c                       sim.Config
		port                    int
		stepMS, perReqMS, latMS float64
	)
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Run a simulated server, for trying plans without a GPU",
		Long: `sim answers as a vLLM or SGLang server does: chat completions, /metrics, /server_info,
/v1/models, /health, /version and their errors. It models continuous batching: one
decode step of the whole batch costs --step-ms + --step-ms-per-request x active, and a
verify step emits 1 + accepted tokens.

--accept gives the marginal acceptance rate of each draft position, as vLLM's
per-position counters do: accept_length is 1 + their sum, so 0.8,0.6,0.4 gives 2.8.
Every draw comes from --seed, the prompt and how often that prompt has come: a run can
be repeated exactly, and repeats within a run differ.

The address is printed as the first line on stdout. Ctrl-C ends the server.`,
		Example: `  specsweep sim --engine vllm --port 8000 --accept 0.8,0.6,0.4
  specsweep sim --engine vllm --port 8001 --no-spec`,
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.StepTime, c.StepTimePerRequest, c.Latency = millis(stepMS), millis(perReqMS), millis(latMS)
			if cmd.Flags().Changed("accept") && c.NoSpec {
				return usage(fmt.Errorf("--accept and --no-spec exclude each other"))
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
	f.StringVar(&c.Engine, "engine", "vllm", "vllm or sglang")
	f.IntVar(&port, "port", 0, "port on 127.0.0.1; 0: a free one")
	f.StringVar(&c.Model, "model", "sim", "name of the served model")
	f.Float64SliceVar(&c.Accept, "accept", []float64{0.8, 0.6, 0.4}, "marginal acceptance rate per draft position; must not increase")
	f.BoolVar(&c.NoSpec, "no-spec", false, "no speculation: a baseline")
	f.Float64Var(&stepMS, "step-ms", 1, "milliseconds of a decode step")
	f.Float64Var(&perReqMS, "step-ms-per-request", 0, "more milliseconds of a decode step for each active request")
	f.Uint64Var(&c.Seed, "seed", 0, "seed of all draws")
	f.Float64Var(&c.FailRate, "fail-rate", 0, "share of requests answered with 500")
	f.Float64Var(&c.DropRate, "drop-rate", 0, "share of answers that break off")
	f.Float64Var(&latMS, "latency-ms", 0, "milliseconds before every answer")
	f.IntVar(&c.RestartAfter, "restart-after", 0, "set the counters to zero after so many answers, as a restart does")
	return cmd
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
