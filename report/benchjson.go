package report

import (
	"strconv"

	"github.com/specsweep/specsweep/runner/result"
)

// rounded is the row with the decimals that bench_sglang and bench_vllm keep:
// four of seconds and throughputs, and of vLLM's accept_length; the rates and the
// speedup have all of theirs. Halves go by the exact binary value, as in Python.
func rounded(r result.Row) *result.Row {
	round := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		f, _ := strconv.ParseFloat(strconv.FormatFloat(*v, 'f', 4, 64), 64) // always parses
		return &f
	}
	r.WallClockS = round(r.WallClockS)
	r.OutputThroughputTokS = round(r.OutputThroughputTokS)
	r.BaselineThroughputTokS = round(r.BaselineThroughputTokS)
	if r.Engine != "sglang" {
		r.AcceptLength = round(r.AcceptLength)
	}
	return &r
}

// roundedRows is every row rounded: bench_sweep's means are those of the rounded
// values.
func roundedRows(rows []result.Row) []*result.Row {
	out := make([]*result.Row, len(rows))
	for i, r := range rows {
		out[i] = rounded(r)
	}
	return out
}

// BenchJSON is the row as bench_sglang or bench_vllm of NeMo Automodel prints it,
// key for key and with their rounding, and a final newline. Keys that they do not
// know come after theirs.
func BenchJSON(r *result.Row) ([]byte, error) {
	o := summary(rounded(*r))
	if r.Error != "" {
		o = append(o, field{"error", r.Error})
	}
	return indented(o)
}

// BenchSweepJSON is the rows as bench_sweep writes them: results and aggregate.
func BenchSweepJSON(rows []result.Row) ([]byte, error) {
	refs := roundedRows(rows)
	return indented(object{{"results", sweepRows(refs)}, {"aggregate", aggregate(refs)}})
}

// summary is what the Python tools say about one dataset, in their order.
func summary(r *result.Row) object {
	o := object{
		{"model", r.Model},
		{"num_prompts", r.NumPrompts},
		{"completed", r.Completed},
		{"failed", r.Failed},
		{"output_tokens", r.OutputTokens},
		{"wall_clock_s", float(r.WallClockS)},
		{"output_throughput_tok_s", float(r.OutputThroughputTokS)},
	}
	if r.Engine == "sglang" {
		o = append(o,
			field{"accept_length", float(r.AcceptLength)},
			field{"speculative_num_steps", r.SpeculativeNumSteps},
			field{"acceptance_rate", float(r.AcceptanceRate)})
	} else {
		o = append(o,
			field{"accept_length", float(r.AcceptLength)},
			field{"acceptance_rate", float(r.AcceptanceRate)},
			field{"num_drafts", r.NumDrafts},
			field{"num_draft_tokens", r.NumDraftTokens},
			field{"num_accepted_tokens", r.NumAcceptedTokens})
	}
	if r.BaselineEngine != "" {
		o = append(o,
			field{"baseline_throughput_tok_s", float(r.BaselineThroughputTokS)},
			field{"speedup", float(r.Speedup)})
	}
	if r.AcceptSource != "" {
		o = append(o, field{"accept_source", r.AcceptSource})
	}
	if len(r.Warnings) > 0 {
		o = append(o, field{"warnings", r.Warnings})
	}
	return o
}

// sweepRows is bench_sweep's list of results: a dataset and its summary, or why
// there is none.
func sweepRows(rows []*result.Row) []object {
	out := []object{}
	for _, r := range rows {
		o := object{{"dataset", r.Dataset}}
		if r.OK() {
			o = append(o, summary(r)...)
		} else {
			o = append(o, field{"error", r.Error})
		}
		out = append(out, o)
	}
	return out
}
