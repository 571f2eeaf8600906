package plan

import (
	"strings"
	"testing"
)

func TestExpandVars(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"A": "one", "B": "two", "EMPTY": "", "NESTED": "${A}"}[name]
		return value, ok
	}
	for _, tt := range []struct{ name, in, want, problem string }{
		{"nothing to do", "plain", "plain", ""},
		{"alone", "${A}", "one", ""},
		{"in text", "x${A}y${B}z", "xoneytwoz", ""},
		{"default not needed", "${A:-d}", "one", ""},
		{"default", "${C:-d e:-f}", "d e:-f", ""},
		{"default for an empty one", "${EMPTY:-d}", "d", ""},
		{"empty", "[${EMPTY}]", "[]", ""},
		{"empty default", "[${C:-}]", "[]", ""},
		{"literal", "$${A}", "${A}", ""},
		{"literal after a dollar", "$$${A}", "$${A}", ""},
		{"dollars", "$A $$ $", "$A $$ $", ""},
		{"value is not read again", "${NESTED}", "${A}", ""},
		{"unset", "${C}", "", "variable C is not set"},
		{"two unset", "${C}${D}", "", "variable D is not set"},
		{"no name", "${}", "", "not understood"},
		{"a default without a name", "${:-x}", "", "not understood"},
		{"other forms", "${A-x}", "", "not understood"},
		{"nested", "${C:-${A}}", "}", "not understood"},
		{"unclosed", "x${A", "x", "without its }"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := expandVars(tt.in, lookup)
			all := strings.Join(problems, "; ")
			if got != tt.want || (all == "") != (tt.problem == "") || !strings.Contains(all, tt.problem) {
				t.Errorf("expandVars(%q) = %q, %q; want %q, %q", tt.in, got, all, tt.want, tt.problem)
			}
		})
	}
}

func TestSkeleton(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a${X}b": "a" + fromVar + "b", "${X:-lit}": "lit", "${X:-}": fromVar, "$${X}": "${X}",
	} {
		if got := skeleton(in); got != want {
			t.Errorf("skeleton(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	known := []string{"concurrency", "num_prompts", "temperature"}
	for word, want := range map[string]string{
		"concurency": "(did you mean concurrency?)", "num_promtps": "(did you mean num_prompts?)", "Temperature": "(did you mean temperature?)",
		"url": "(have concurrency, num_prompts, temperature)",
	} {
		if got := unknown(word, known); got != want {
			t.Errorf("unknown(%q) = %q, want %q", word, got, want)
		}
	}
	keys := []string{"baseline_server", "server_wait_s", "servers", "ttft_ms", "tpot_ms", "timeout_s", "api_key_env", "api_key_file"}
	for word, want := range map[string]string{
		"baseline": "(did you mean baseline_server?)", "ttft": "(did you mean ttft_ms?)", "wait_s": "(did you mean server_wait_s?)",
		"timeout": "(did you mean timeout_s?)", "request_timeout_s": "(did you mean timeout_s?)", "Baseline": "(did you mean baseline_server?)",
		"api_key": have(keys), // of two
		"base":    have(keys), // no whole word
	} {
		if got := unknown(word, keys); got != want {
			t.Errorf("unknown(%q) = %q, want %q", word, got, want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "acb", 1}, {"kitten", "sitting", 3}} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
