package table

import (
	"slices"
	"strconv"
	"sync"

	"github.com/specsweep/specsweep/runner/result"
)

// Better says which way a column's values improve.
type Better int

// The values of Better.
const (
	NoBetter Better = iota // a description, a count, or a matter of taste
	Higher
	Lower
)

// Column is a column of the row as tables show it. Exactly one of Text and Value
// is set.
type Column struct {
	Name   string // as in every file
	Unit   string // empty: none, or a plain count
	Better Better
	Digits int // decimals of a number

	Text  func(*result.Row) string   // empty: n/a
	Value func(*result.Row) *float64 // nil: n/a

	// Combine makes one value of the repeats of a cell, all of them ok or, when
	// none is, all of them failed. nil: the repeats' different values stand side
	// by side.
	Combine func(Column, []*result.Row) *float64
	// Spread shows least and greatest repeat beside the combined value.
	Spread bool
}

// Columns is every column of the row, in the row's order, except the labels.
func Columns() []Column {
	type row = result.Row
	first := []Column{
		integer("schema_version", func(r *row) *int { return &r.SchemaVersion }, nil),
		text("plan", func(r *row) string { return r.Plan }),
		integer("run_index", func(r *row) *int { return &r.RunIndex }, nil),
		text("cell_id", func(r *row) string { return r.CellID }),
		text("run_id", func(r *row) string { return r.RunID }),
		integer("repeat", func(r *row) *int { return &r.Repeat }, nil),
		text("server", func(r *row) string { return r.Server }),
		text("engine", func(r *row) string { return r.Engine }),
		text("model", func(r *row) string { return r.Model }),
		text("dataset", func(r *row) string { return r.Dataset }),
		integer("concurrency", func(r *row) *int { return positive(r.Concurrency) }, nil),
		integer("max_new_tokens", func(r *row) *int { return positive(r.MaxNewTokens) }, nil),
		text("temperature", func(r *row) string { return strconv.FormatFloat(r.Temperature, 'g', -1, 64) }),
		text("request_rate", requestRate),
		integer("prompts_asked", func(r *row) *int { return positive(r.PromptsAsked) }, nil),
		integer("num_prompts", func(r *row) *int { return r.NumPrompts }, nil),
		integer("completed", func(r *row) *int { return r.Completed }, total),
		integer("failed", func(r *row) *int { return r.Failed }, total).lower(),
		integer64("output_tokens", func(r *row) *int64 { return r.OutputTokens }, total),
		number("wall_clock_s", "s", 1, func(r *row) *float64 { return r.WallClockS }, total),
		number("output_throughput_tok_s", "tok/s", 1, func(r *row) *float64 { return r.OutputThroughputTokS }, throughput).higher(),
		number("accept_length", "tok", 3, func(r *row) *float64 { return r.AcceptLength }, acceptLength).higher(),
		number("acceptance_rate", "", 3, func(r *row) *float64 { return r.AcceptanceRate }, acceptanceRate).higher(),
		text("accept_source", func(r *row) string { return r.AcceptSource }),
		integer("speculative_num_steps", func(r *row) *int { return r.SpeculativeNumSteps }, nil),
		integer64("num_drafts", func(r *row) *int64 { return r.NumDrafts }, total),
		integer64("num_draft_tokens", func(r *row) *int64 { return r.NumDraftTokens }, total),
		integer64("num_accepted_tokens", func(r *row) *int64 { return r.NumAcceptedTokens }, total),
		text("acceptance_per_position", perPosition),
		number("accept_length_req_mean", "tok", 3, func(r *row) *float64 { return r.AcceptLengthReqMean }, mean).higher(),
		number("accept_length_req_p10", "tok", 3, func(r *row) *float64 { return r.AcceptLengthReqP10 }, mean).higher(),
		number("accept_length_req_p50", "tok", 3, func(r *row) *float64 { return r.AcceptLengthReqP50 }, mean).higher(),
		number("accept_length_req_p90", "tok", 3, func(r *row) *float64 { return r.AcceptLengthReqP90 }, mean).higher(),
		number("accept_coverage", "", 3, func(r *row) *float64 { return r.AcceptCoverage }, mean),
		number("tokens_per_step", "tok", 3, func(r *row) *float64 { return r.TokensPerStep }, mean).higher(),
		number("baseline_throughput_tok_s", "tok/s", 1, func(r *row) *float64 { return r.BaselineThroughputTokS }, baselineThroughput),
		number("speedup", "", 3, func(r *row) *float64 { return r.Speedup }, geoMean).higher().spread(),
		text("baseline_engine", func(r *row) string { return r.BaselineEngine }),
		integer("baseline_completed", func(r *row) *int { return r.BaselineCompleted }, total),
		integer("baseline_failed", func(r *row) *int { return r.BaselineFailed }, total).lower(),
		integer64("baseline_output_tokens", func(r *row) *int64 { return r.BaselineOutputTokens }, total),
		integer64("prompt_tokens", func(r *row) *int64 { return r.PromptTokens }, total),
		number("mean_output_tokens", "tok", 1, func(r *row) *float64 { return r.MeanOutputTokens }, mean),
		integer64("cached_tokens", func(r *row) *int64 { return r.CachedTokens }, total),
		number("mean_in_flight", "", 1, func(r *row) *float64 { return r.MeanInFlight }, mean),
		integer("usage_missing", func(r *row) *int { return r.UsageMissing }, total).lower(),
		integer("retries", func(r *row) *int { return r.Retries }, total).lower(),
		number("retry_wait_s", "s", 1, func(r *row) *float64 { return r.RetryWaitS }, total).lower(),
		integer("truncated", func(r *row) *int { return r.Truncated }, total),
		number("output_match", "", 3, func(r *row) *float64 { return r.OutputMatch }, mean),
		text("prompt_set", func(r *row) string { return r.PromptSet }),
	}
	last := []Column{
		text("error", func(r *row) string { return r.Error }),
		text("warnings", func(r *row) string { return r.Warnings.String() }),
		text("started_at", startedAt),
		text("tool_version", func(r *row) string { return r.ToolVersion }),
		text("server_version", func(r *row) string { return r.ServerVersion }),
		text("baseline_version", func(r *row) string { return r.BaselineVersion }),
	}
	return slices.Concat(first, latencyColumns(), last)
}

// byName is Columns by name, made once and never written to: a table of a thousand rows
// asks for a column a hundred thousand times.
var byName = sync.OnceValue(func() map[string]Column {
	all := map[string]Column{}
	for _, c := range Columns() {
		all[c.Name] = c
	}
	return all
})

// column finds one by its name; it panics on a name that Columns lacks.
func column(name string) Column {
	c, ok := byName()[name]
	if !ok {
		panic("table: no column " + name)
	}
	return c
}

type combine = func(Column, []*result.Row) *float64

func text(name string, get func(*result.Row) string) Column {
	return Column{Name: name, Text: get}
}

func number(name, unit string, digits int, get func(*result.Row) *float64, c combine) Column {
	return Column{Name: name, Unit: unit, Digits: digits, Value: get, Combine: c}
}

func integer(name string, get func(*result.Row) *int, c combine) Column {
	return number(name, "", 0, func(r *result.Row) *float64 { return float(get(r)) }, c)
}

func integer64(name string, get func(*result.Row) *int64, c combine) Column {
	return number(name, "", 0, func(r *result.Row) *float64 { return float(get(r)) }, c)
}

func (c Column) higher() Column { c.Better = Higher; return c }
func (c Column) lower() Column  { c.Better = Lower; return c }
func (c Column) spread() Column { c.Spread = true; return c }

func float[T int | int64](v *T) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

// positive is nil for a 0 that an older file's missing column has left.
func positive(v int) *int {
	if v <= 0 {
		return nil
	}
	return &v
}
