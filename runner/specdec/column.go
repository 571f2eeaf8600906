package specdec

import "slices"

// The row columns that a Note can speak of.
const (
	ColumnAcceptLength      = "accept_length"
	ColumnAcceptanceRate    = "acceptance_rate"
	ColumnNumSteps          = "speculative_num_steps"
	ColumnNumDrafts         = "num_drafts"
	ColumnNumDraftTokens    = "num_draft_tokens" //nolint:gosec // tokens are text here
	ColumnNumAcceptedTokens = "num_accepted_tokens"
	ColumnPerPosition       = "acceptance_per_position"
)

// Missing is a pass without any measured value, and why.
func Missing(code, text string) Stats {
	var s Stats
	s.explainMeasured(code, text)
	return s
}

// Explain gives one reason to every value that is nil and has none yet. Called
// last, with the reason that is left, it leaves no nil value without a Note.
func (s *Stats) Explain(code, text string) {
	s.note(code, s.pick(func(c column) bool { return !c.set }), text)
}

// explainMeasured is Explain for what a pass measures: the number of steps is a
// setting, and what keeps a measurement from being had does not keep it.
func (s *Stats) explainMeasured(code, text string) {
	s.note(code, s.pick(func(c column) bool { return !c.set && c.name != ColumnNumSteps }), text)
}

// Doubt marks every measured value that is there.
func (s *Stats) Doubt(code, text string) {
	var columns []string
	for _, c := range s.columns() {
		if c.set && c.name != ColumnNumSteps {
			columns = append(columns, c.name)
		}
	}
	s.note(code, columns, text)
}

// pick is the columns without a Note that want says yes to.
func (s *Stats) pick(want func(column) bool) []string {
	var columns []string
	for _, c := range s.columns() {
		if want(c) && !s.noted(c.name) {
			columns = append(columns, c.name)
		}
	}
	return columns
}

// note adds a Note unless it would speak of nothing.
func (s *Stats) note(code string, columns []string, text string) {
	if len(columns) > 0 {
		s.Notes = append(s.Notes, Note{Code: code, Columns: columns, Text: text})
	}
}

func (s *Stats) noted(column string) bool {
	return slices.ContainsFunc(s.Notes, func(n Note) bool { return slices.Contains(n.Columns, column) })
}

// column is one value of Stats: its name in a row and whether it is there.
type column struct {
	name string
	set  bool
}

func (s *Stats) columns() []column {
	return []column{
		{ColumnAcceptLength, s.AcceptLength != nil},
		{ColumnAcceptanceRate, s.AcceptanceRate != nil},
		{ColumnNumSteps, s.NumSteps != nil},
		{ColumnNumDrafts, s.NumDrafts != nil},
		{ColumnNumDraftTokens, s.NumDraftTokens != nil},
		{ColumnNumAcceptedTokens, s.NumAcceptedTokens != nil},
		{ColumnPerPosition, s.PerPosition != nil},
	}
}
