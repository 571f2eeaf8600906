package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/specsweep/specsweep/runner/result"
)

// trial is a simulated measurement of two checkpoints with `old` and `new`, or of
// two servers of one sweep.
type trial struct {
	rand    *rand.Rand
	prompts int
	repeats int
	steps   int // verify steps of a prompt, about
	depth   int // draft tokens per step
}

// levels is how well each prompt's tokens are guessed, the same for every checkpoint.
func (t trial) levels() []float64 {
	out := make([]float64, t.prompts)
	for i := range out {
		out[i] = 0.3 + 0.5*t.rand.Float64()
	}
	return out
}

// server draws one server's rows of a cell. Each prompt's counts are drawn once and
// are the same in every repeat, as greedy decoding has it.
func (t trial) server(name string, levels []float64, scale, baseline float64, requests map[string][]result.Request) []result.Row {
	lines := make([]result.Request, len(levels))
	var drafts, accepted, proposed int64
	for i, level := range levels {
		q := result.Request{Prompt: i, PromptHash: fmt.Sprintf("p%03d", i), Drafts: int64(t.steps/2 + t.rand.IntN(t.steps))}
		q.DraftTokens = new(q.Drafts * int64(t.depth))
		// Binomial, as good as: the normal distribution with its mean and spread.
		n, chance := float64(*q.DraftTokens), level*scale
		q.Accepted = int64(math.Round(n*chance + math.Sqrt(n*chance*(1-chance))*t.rand.NormFloat64()))
		drafts, accepted, proposed = drafts+q.Drafts, accepted+q.Accepted, proposed+*q.DraftTokens
		lines[i] = q
	}
	var rows []result.Row
	for repeat := range t.repeats {
		id := fmt.Sprintf("%s-r%d", name, repeat)
		throughput := 1000 * math.Exp(0.05*t.rand.NormFloat64())
		rows = append(rows, result.Row{
			CellID: name, RunID: id, Repeat: repeat, RunIndex: repeat, Server: name, Engine: "sglang", BaselineEngine: "sglang",
			Dataset: "gsm8k", Concurrency: 8, MaxNewTokens: 256, PromptsAsked: t.prompts, PromptSet: "set",
			AcceptLength: new(1 + float64(accepted)/float64(drafts)), AcceptanceRate: new(float64(accepted) / float64(proposed)),
			AcceptSource: "request", NumDrafts: new(drafts), NumDraftTokens: new(proposed), NumAcceptedTokens: new(accepted),
			OutputThroughputTokS: &throughput, Speedup: new(throughput / baseline),
		})
		requests[id] = lines
		for i := range lines {
			lines[i].RunID = id
		}
	}
	return rows
}

// baseline is a run-set's own measurement of the server without speculation.
func (t trial) baseline() float64 { return 500 * math.Exp(0.05*t.rand.NormFloat64()) }

// runSets is the two checkpoints in a run-set each.
func (t trial) runSets(levels []float64, scale float64) Comparison {
	side := func(scale float64) Side {
		s := Side{Requests: map[string][]result.Request{}}
		s.Rows = t.server("a", levels, scale, 500, s.Requests)
		for i := range s.Rows {
			r := &s.Rows[i]
			r.Speedup = new(*r.OutputThroughputTokS / t.baseline())
		}
		return s
	}
	return Compare(side(1), side(scale), Options{})
}

// servers is the two checkpoints as servers of one run-set, whose baseline they
// share block by block.
func (t trial) servers(levels []float64, scale float64) Comparison {
	s := Side{Requests: map[string][]result.Request{}}
	a := t.server("a", levels, 1, 1, s.Requests)
	b := t.server("b", levels, scale, 1, s.Requests)
	for i := range a {
		base := t.baseline()
		a[i].Speedup, b[i].Speedup = new(*a[i].OutputThroughputTokS/base), new(*b[i].OutputThroughputTokS/base)
	}
	s.Rows = append(a, b...)
	return Compare(s, Side{}, Options{ByServer: [2]string{"a", "b"}})
}

const trials = 1000

// eachTrial runs one function per seed, 1 to trials, on a few goroutines.
func eachTrial(t *testing.T, run func(seed uint64) []Verdict) [][]Verdict {
	t.Helper()
	out := make([][]Verdict, trials)
	var wg sync.WaitGroup
	const workers = 2
	for w := range workers {
		wg.Go(func() {
			for i := w; i < trials; i += workers {
				out[i] = run(uint64(i + 1))
			}
		})
	}
	wg.Wait()
	return out
}

// Two equal checkpoints must be called the same about as often as the intervals
// promise: more often means that they are too wide to find anything, less often that
// they call noise a change.
func TestEqualCheckpointsAreCalledTheSame(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(trial, []float64) Comparison
	}{
		{"two run-sets", func(t trial, levels []float64) Comparison { return t.runSets(levels, 1) }},
		{"two servers of one run-set", func(t trial, levels []float64) Comparison { return t.servers(levels, 1) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			metrics := []string{"accept_length", "acceptance_rate", "output_throughput_tok_s", "speedup"}
			same := map[string]int{}
			for seed, verdicts := range eachTrial(t, func(seed uint64) []Verdict {
				x := trial{rand: rand.New(rand.NewPCG(seed, 0)), prompts: 32, repeats: 5, steps: 40, depth: 4}
				c := tt.run(x, x.levels())
				var out []Verdict
				for _, name := range metrics {
					out = append(out, c.Cells[0].Metric(name).Verdict)
				}
				return out
			}) {
				for i, v := range verdicts {
					switch v {
					case Same:
						same[metrics[i]]++
					case Unknown:
						t.Fatalf("seed %d: %s has no verdict", seed+1, metrics[i])
					}
				}
			}
			for _, name := range metrics {
				t.Logf("%s: %d of %d are ~", name, same[name], trials)
				if same[name] < 900 || same[name] > 980 {
					t.Errorf("%s: %d of %d equal pairs are ~, want 900 to 980", name, same[name], trials)
				}
			}
		})
	}
}

// A checkpoint whose true accept_length is 10 % greater is named, and the interval
// holds the truth as often as it promises.
func TestTenPercentIsFound(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(trial, []float64, float64) Comparison
	}{
		{"two run-sets", trial.runSets},
		{"two servers of one run-set", trial.servers},
	} {
		t.Run(tt.name, func(t *testing.T) {
			holds := 0
			for seed := range uint64(200) {
				x := trial{rand: rand.New(rand.NewPCG(seed+1, 1)), prompts: 64, repeats: 5, steps: 40, depth: 4}
				levels := x.levels()
				mean := 0.0
				for _, l := range levels {
					mean += l / float64(len(levels))
				}
				// accept_length is 1 + depth × level: scaled so that it grows by a tenth.
				old := 1 + float64(x.depth)*mean
				scale := (1.1*old - 1) / (old - 1)
				c := tt.run(x, levels, scale)
				m := c.Cells[0].Metric("accept_length")
				if m.Verdict != Better {
					t.Fatalf("seed %d: %s %q, want better", seed+1, m.Verdict, m.Reason)
				}
				if m.Difference.Holds(0.1 * old) {
					holds++
				}
			}
			t.Logf("the interval holds the truth in %d of 200", holds)
			if holds < 180 {
				t.Errorf("the interval holds the truth in %d of 200, want at least 180", holds)
			}
		})
	}
}
