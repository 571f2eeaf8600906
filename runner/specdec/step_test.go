package specdec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/specdec"
)

func TestExplainTokensPerStep(t *testing.T) {
	t.Parallel()
	note := func(code, text string, columns ...string) specdec.Note {
		return specdec.Note{Code: code, Text: text, Columns: columns}
	}
	tests := []struct {
		name         string
		before, want []specdec.Note
	}{
		{"alone", nil, []specdec.Note{note("gone", "why", "tokens_per_step")}},
		{"a reason that is there already", []specdec.Note{note("gone", "why", "accept_length")},
			[]specdec.Note{note("gone", "why", "accept_length", "tokens_per_step")}},
		{"said before", []specdec.Note{note("gone", "why", "tokens_per_step")}, []specdec.Note{note("gone", "why", "tokens_per_step")}},
		{"another reason", []specdec.Note{note("gone", "for that", "accept_length")},
			[]specdec.Note{note("gone", "for that", "accept_length"), note("gone", "why", "tokens_per_step")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := specdec.Stats{Notes: tt.before}
			s.ExplainTokensPerStep("gone", "why")
			if diff := cmp.Diff(tt.want, s.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if n, ok := s.Reason("tokens_per_step"); !ok || n.Text != "why" {
				t.Errorf("Reason = %+v, %v", n, ok)
			}
			if n, ok := s.Reason("num_drafts"); ok {
				t.Errorf("a reason from nowhere: %+v", n)
			}
		})
	}
}
