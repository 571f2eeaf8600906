package specdec

import (
	"fmt"
	"strconv"
)

// FromAverage is the acceptance that a mean tokens per verify step (bonus token
// included) amounts to, for servers that tell no counts:
//
//	acceptance_rate = max(0, (accept_length - 1) / num_steps)
//
// which is accepted over proposed tokens only where each step drafts one token
// (topk = 1). numSteps nil or not positive: no rate.
func FromAverage(source Source, acceptLength float64, numSteps *int) Stats {
	s := Stats{Source: source, AcceptLength: &acceptLength, NumSteps: numSteps}
	if numSteps == nil || *numSteps <= 0 {
		s.NumSteps = nil
		s.note(CodeNoNumSteps, []string{ColumnAcceptanceRate, ColumnNumSteps},
			"the server does not tell speculative_num_steps: set num_steps in the plan")
		return s
	}
	rate := max(0, (acceptLength-1)/float64(*numSteps))
	if rate > 1 {
		s.note(CodeInconsistent, []string{ColumnAcceptanceRate}, fmt.Sprintf("%d steps cannot give an accept_length of %s: check num_steps",
			*numSteps, strconv.FormatFloat(acceptLength, 'g', 5, 64)))
		return s
	}
	s.AcceptanceRate = &rate
	return s
}
