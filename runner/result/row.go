package result

import (
	"strings"
	"time"
)

// SchemaVersion is the version of the row and of the files of a run-set. It
// rises when a column changes its meaning, not when one is added.
const SchemaVersion = 1

// Row is one run: both passes of it, or why there is none. A nil pointer is a
// value that is not available; a Warning that names its column says why.
type Row struct {
	SchemaVersion int               `json:"schema_version" csv:"schema_version"`
	Plan          string            `json:"plan" csv:"plan"`
	RunIndex      int               `json:"run_index" csv:"run_index"`
	CellID        string            `json:"cell_id" csv:"cell_id"`
	RunID         string            `json:"run_id" csv:"run_id"`
	Repeat        int               `json:"repeat" csv:"repeat"`
	Server        string            `json:"server" csv:"server"`
	Engine        string            `json:"engine" csv:"engine"`
	Model         string            `json:"model" csv:"model"`
	Dataset       string            `json:"dataset" csv:"dataset"`
	Concurrency   int               `json:"concurrency" csv:"concurrency"`
	MaxNewTokens  int               `json:"max_new_tokens" csv:"max_new_tokens"`
	Temperature   float64           `json:"temperature" csv:"temperature"`
	RequestRate   *float64          `json:"request_rate" csv:"request_rate,omitempty"` // requests per second; nil: a closed loop (inf)
	Labels        map[string]string `json:"labels,omitempty" csv:"-"`                  // label_<name> columns in CSV

	PromptsAsked         int      `json:"prompts_asked" csv:"prompts_asked"`
	NumPrompts           *int     `json:"num_prompts" csv:"num_prompts,omitempty"` // completed + failed
	Completed            *int     `json:"completed" csv:"completed,omitempty"`
	Failed               *int     `json:"failed" csv:"failed,omitempty"`
	OutputTokens         *int64   `json:"output_tokens" csv:"output_tokens,omitempty"`
	WallClockS           *float64 `json:"wall_clock_s" csv:"wall_clock_s,omitempty"`
	OutputThroughputTokS *float64 `json:"output_throughput_tok_s" csv:"output_throughput_tok_s,omitempty"`

	AcceptLength        *float64 `json:"accept_length" csv:"accept_length,omitempty"`
	AcceptanceRate      *float64 `json:"acceptance_rate" csv:"acceptance_rate,omitempty"`
	AcceptSource        string   `json:"accept_source" csv:"accept_source"`
	SpeculativeNumSteps *int     `json:"speculative_num_steps" csv:"speculative_num_steps,omitempty"`
	NumDrafts           *int64   `json:"num_drafts" csv:"num_drafts,omitempty"`
	NumDraftTokens      *int64   `json:"num_draft_tokens" csv:"num_draft_tokens,omitempty"`
	NumAcceptedTokens   *int64   `json:"num_accepted_tokens" csv:"num_accepted_tokens,omitempty"`
	PerPosition         Floats   `json:"acceptance_per_position" csv:"acceptance_per_position"`

	// Over the answers, each counting once; accept_length weighs by verify steps.
	AcceptLengthReqMean *float64 `json:"accept_length_req_mean" csv:"accept_length_req_mean,omitempty"`
	AcceptLengthReqP10  *float64 `json:"accept_length_req_p10" csv:"accept_length_req_p10,omitempty"`
	AcceptLengthReqP50  *float64 `json:"accept_length_req_p50" csv:"accept_length_req_p50,omitempty"`
	AcceptLengthReqP90  *float64 `json:"accept_length_req_p90" csv:"accept_length_req_p90,omitempty"`
	// By category of the prompts, where the answers tell; in rows.jsonl only.
	Categories     []Category `json:"categories,omitempty" csv:"-"`
	AcceptCoverage *float64   `json:"accept_coverage" csv:"accept_coverage,omitempty"` // nil: all of the pass, or not known
	TokensPerStep  *float64   `json:"tokens_per_step" csv:"tokens_per_step,omitempty"` // undrafted decode steps included

	BaselineThroughputTokS *float64 `json:"baseline_throughput_tok_s" csv:"baseline_throughput_tok_s,omitempty"`
	Speedup                *float64 `json:"speedup" csv:"speedup,omitempty"`
	BaselineEngine         string   `json:"baseline_engine" csv:"baseline_engine"` // empty: no baseline in the plan
	BaselineCompleted      *int     `json:"baseline_completed" csv:"baseline_completed,omitempty"`
	BaselineFailed         *int     `json:"baseline_failed" csv:"baseline_failed,omitempty"`
	BaselineOutputTokens   *int64   `json:"baseline_output_tokens" csv:"baseline_output_tokens,omitempty"`

	PromptTokens     *int64   `json:"prompt_tokens" csv:"prompt_tokens,omitempty"`
	MeanOutputTokens *float64 `json:"mean_output_tokens" csv:"mean_output_tokens,omitempty"`
	CachedTokens     *int64   `json:"cached_tokens" csv:"cached_tokens,omitempty"`
	MeanInFlight     *float64 `json:"mean_in_flight" csv:"mean_in_flight,omitempty"`
	UsageMissing     *int     `json:"usage_missing" csv:"usage_missing,omitempty"`
	Retries          *int     `json:"retries" csv:"retries,omitempty"`
	RetryWaitS       *float64 `json:"retry_wait_s" csv:"retry_wait_s,omitempty"`
	Truncated        *int     `json:"truncated" csv:"truncated,omitempty"`       // answers cut at max_new_tokens
	OutputMatch      *float64 `json:"output_match" csv:"output_match,omitempty"` // 0 to 1, of the prompts answered on both sides
	PromptSet        string   `json:"prompt_set" csv:"prompt_set"`               // hash of the prompts sent

	// Latencies over the completed answers, from the time that a request was due; see
	// docs/columns.md. ttft, tpot and icl need stream: true.
	TTFTMeanMs               *float64 `json:"ttft_mean_ms" csv:"ttft_mean_ms,omitempty"`
	TTFTP50Ms                *float64 `json:"ttft_p50_ms" csv:"ttft_p50_ms,omitempty"`
	TTFTP90Ms                *float64 `json:"ttft_p90_ms" csv:"ttft_p90_ms,omitempty"`
	TTFTP99Ms                *float64 `json:"ttft_p99_ms" csv:"ttft_p99_ms,omitempty"`
	TPOTMeanMs               *float64 `json:"tpot_mean_ms" csv:"tpot_mean_ms,omitempty"`
	TPOTP50Ms                *float64 `json:"tpot_p50_ms" csv:"tpot_p50_ms,omitempty"`
	TPOTP90Ms                *float64 `json:"tpot_p90_ms" csv:"tpot_p90_ms,omitempty"`
	TPOTP99Ms                *float64 `json:"tpot_p99_ms" csv:"tpot_p99_ms,omitempty"`
	ICLMeanMs                *float64 `json:"icl_mean_ms" csv:"icl_mean_ms,omitempty"`
	ICLP50Ms                 *float64 `json:"icl_p50_ms" csv:"icl_p50_ms,omitempty"`
	ICLP90Ms                 *float64 `json:"icl_p90_ms" csv:"icl_p90_ms,omitempty"`
	ICLP99Ms                 *float64 `json:"icl_p99_ms" csv:"icl_p99_ms,omitempty"`
	E2ELatencyMeanMs         *float64 `json:"e2e_latency_mean_ms" csv:"e2e_latency_mean_ms,omitempty"`
	E2ELatencyP50Ms          *float64 `json:"e2e_latency_p50_ms" csv:"e2e_latency_p50_ms,omitempty"`
	E2ELatencyP90Ms          *float64 `json:"e2e_latency_p90_ms" csv:"e2e_latency_p90_ms,omitempty"`
	E2ELatencyP99Ms          *float64 `json:"e2e_latency_p99_ms" csv:"e2e_latency_p99_ms,omitempty"`
	BaselineTTFTMeanMs       *float64 `json:"baseline_ttft_mean_ms" csv:"baseline_ttft_mean_ms,omitempty"`
	BaselineTTFTP50Ms        *float64 `json:"baseline_ttft_p50_ms" csv:"baseline_ttft_p50_ms,omitempty"`
	BaselineTTFTP90Ms        *float64 `json:"baseline_ttft_p90_ms" csv:"baseline_ttft_p90_ms,omitempty"`
	BaselineTTFTP99Ms        *float64 `json:"baseline_ttft_p99_ms" csv:"baseline_ttft_p99_ms,omitempty"`
	BaselineTPOTMeanMs       *float64 `json:"baseline_tpot_mean_ms" csv:"baseline_tpot_mean_ms,omitempty"`
	BaselineTPOTP50Ms        *float64 `json:"baseline_tpot_p50_ms" csv:"baseline_tpot_p50_ms,omitempty"`
	BaselineTPOTP90Ms        *float64 `json:"baseline_tpot_p90_ms" csv:"baseline_tpot_p90_ms,omitempty"`
	BaselineTPOTP99Ms        *float64 `json:"baseline_tpot_p99_ms" csv:"baseline_tpot_p99_ms,omitempty"`
	BaselineICLMeanMs        *float64 `json:"baseline_icl_mean_ms" csv:"baseline_icl_mean_ms,omitempty"`
	BaselineICLP50Ms         *float64 `json:"baseline_icl_p50_ms" csv:"baseline_icl_p50_ms,omitempty"`
	BaselineICLP90Ms         *float64 `json:"baseline_icl_p90_ms" csv:"baseline_icl_p90_ms,omitempty"`
	BaselineICLP99Ms         *float64 `json:"baseline_icl_p99_ms" csv:"baseline_icl_p99_ms,omitempty"`
	BaselineE2ELatencyMeanMs *float64 `json:"baseline_e2e_latency_mean_ms" csv:"baseline_e2e_latency_mean_ms,omitempty"`
	BaselineE2ELatencyP50Ms  *float64 `json:"baseline_e2e_latency_p50_ms" csv:"baseline_e2e_latency_p50_ms,omitempty"`
	BaselineE2ELatencyP90Ms  *float64 `json:"baseline_e2e_latency_p90_ms" csv:"baseline_e2e_latency_p90_ms,omitempty"`
	BaselineE2ELatencyP99Ms  *float64 `json:"baseline_e2e_latency_p99_ms" csv:"baseline_e2e_latency_p99_ms,omitempty"`

	TPOTSpeedup         *float64 `json:"tpot_speedup" csv:"tpot_speedup,omitempty"`   // baseline's mean tpot / the server's
	Goodput             *float64 `json:"goodput" csv:"goodput,omitempty"`             // share of the requests sent that keep slo, 0 to 1
	GoodputReqS         *float64 `json:"goodput_req_s" csv:"goodput_req_s,omitempty"` // the same per second of the pass
	BaselineGoodput     *float64 `json:"baseline_goodput" csv:"baseline_goodput,omitempty"`
	BaselineGoodputReqS *float64 `json:"baseline_goodput_req_s" csv:"baseline_goodput_req_s,omitempty"`
	LatenessP99Ms       *float64 `json:"lateness_p99_ms" csv:"lateness_p99_ms,omitempty"`   // real minus planned start; nil: a closed loop
	ClientCPUShare      *float64 `json:"client_cpu_share" csv:"client_cpu_share,omitempty"` // of what the client may use, 0 to 1
	ClientSchedP99Ms    *float64 `json:"client_sched_p99_ms" csv:"client_sched_p99_ms,omitempty"`
	ClientGCPauseMs     *float64 `json:"client_gc_pause_ms" csv:"client_gc_pause_ms,omitempty"` // sum over the pass

	Error    string   `json:"error" csv:"error"` // empty: the run is ok
	Warnings Warnings `json:"warnings" csv:"warnings"`

	StartedAt       time.Time `json:"started_at" csv:"started_at"`
	ToolVersion     string    `json:"tool_version" csv:"tool_version"`
	ServerVersion   string    `json:"server_version" csv:"server_version"`
	BaselineVersion string    `json:"baseline_version" csv:"baseline_version"`
}

// OK tells whether the run has numbers.
func (r *Row) OK() bool { return r.Error == "" }

// Category is the sums over the answers to one category's prompts: accept_length
// is 1 + Accepted / Drafts.
type Category struct {
	Name     string `json:"category"`
	Requests int    `json:"requests"`
	Drafts   int64  `json:"drafts"`
	Accepted int64  `json:"accepted"`
}

// Warning is a doubt about some of a row's columns.
type Warning struct {
	Code    string   `json:"code"`
	Columns []string `json:"columns,omitempty"` // the cells that carry its footnote
	Text    string   `json:"text"`
}

// Warnings is a row's doubts; in CSV they are `code: text` joined by `; `.
type Warnings []Warning

// On tells whether one of the warnings marks that column.
func (w Warnings) On(column string) bool {
	for _, x := range w {
		for _, c := range x.Columns {
			if c == column {
				return true
			}
		}
	}
	return false
}

func (w Warnings) String() string {
	parts := make([]string, len(w))
	for i, x := range w {
		parts[i] = x.Code + ": " + x.Text
	}
	return strings.Join(parts, "; ")
}
