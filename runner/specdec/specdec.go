// Package specdec is the arithmetic of acceptance: counters and their
// differences, accept_length and acceptance_rate, and where each came from.
//
// It talks to no server and knows no engine. A value that cannot be had is nil
// and a Note says why; it is never 0, NaN or a guess.
package specdec

// Source says where acceptance was read from. It stands in every row, so that a
// weaker number never looks like a better one.
type Source string

// The sources, as design and rows name them.
const (
	SourceRequest    Source = "request"    // counts that each answer carries
	SourceFlush      Source = "flush"      // the server's average, set to zero before the pass
	SourceCounters   Source = "counters"   // difference of server counters over the pass
	SourceRestart    Source = "restart"    // the server's average, first pass since it was started
	SourceCumulative Source = "cumulative" // what the server has seen since it started
)

// Note is a doubt about numbers: a code for machines, a text for people. The
// reason of every nil value is a Note.
type Note struct {
	Code    string   // lower_snake_case, one of the Code constants
	Columns []string // the row columns that it speaks of
	Text    string
}

// Stats is what one pass says about acceptance.
type Stats struct {
	Source Source // empty when there is no number at all

	AcceptLength   *float64 // mean tokens per verify step, bonus token included
	AcceptanceRate *float64 // accepted / proposed draft tokens, 0 to 1

	NumSteps          *int // speculative_num_steps, where the engine or the plan tells it
	NumDrafts         *int64
	NumDraftTokens    *int64
	NumAcceptedTokens *int64
	PerPosition       []float64 // accepted per draft, by position; nil: not known

	TokensPerStep   *float64  // tokens per decode step, undrafted steps included; nil: not known
	Coverage        *float64  // share of the pass's decode steps that the average covers, 0 to 1; nil: all, or not known
	GeneratedTokens *int64    // that the server says it generated during the pass, whoever asked; nil: not known
	Requests        []Request // counts per answer, where the engine tells them; any order

	Notes []Note
}

// Request is what one answer says about its own drafts.
type Request struct {
	Index       int   // of the request in the pass
	Drafts      int64 // verify steps
	DraftTokens int64 // proposed; 0 where only Drafts and Accepted are told
	Accepted    int64
}
