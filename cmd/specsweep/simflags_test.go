package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAcceptFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		list []string
		want map[string][]float64
		err  string
	}{
		{"none", nil, map[string][]float64{}, ""},
		{"two words", []string{"gsm8k=0.9,0.7", "chat=0.5, 0"}, map[string][]float64{"gsm8k": {0.9, 0.7}, "chat": {0.5, 0}}, ""},
		{"no rates", []string{"gsm8k"}, nil, `--accept-for "gsm8k": want word=rate,rate,…`},
		{"no word", []string{"=0.5"}, nil, `--accept-for "=0.5": want word=rate,rate,…`},
		{"twice", []string{"a=1", "a=0"}, nil, `--accept-for names "a" twice`},
		{"no number", []string{"a=0.5,x"}, nil, `--accept-for "a=0.5,x": "x" is not a number`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseAcceptFor(tt.list)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tt.err, text); diff != "" {
				t.Fatalf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rates (-want +got):\n%s", diff)
			}
		})
	}
}
