package specdec

import "slices"

// The columns of what Stats holds beside acceptance itself.
const (
	ColumnTokensPerStep = "tokens_per_step" //nolint:gosec // tokens are text here
	ColumnCoverage      = "accept_coverage"
)

// ExplainTokensPerStep says why TokensPerStep is nil. A reason that another value
// has already is not told twice: its Note then speaks of this column too.
func (s *Stats) ExplainTokensPerStep(code, text string) {
	for i, n := range s.Notes {
		if n.Code == code && n.Text == text {
			if !slices.Contains(n.Columns, ColumnTokensPerStep) {
				s.Notes[i].Columns = append(slices.Clip(n.Columns), ColumnTokensPerStep)
			}
			return
		}
	}
	s.note(code, []string{ColumnTokensPerStep}, text)
}

// Reason is the Note that speaks of a column, or false.
func (s *Stats) Reason(column string) (Note, bool) {
	for _, n := range s.Notes {
		if slices.Contains(n.Columns, column) {
			return n, true
		}
	}
	return Note{}, false
}
