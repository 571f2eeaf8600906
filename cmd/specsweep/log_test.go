package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"
)

// What a server says colours no terminal, whichever way it is logged.
func TestLogCarriesNoEscapes(t *testing.T) {
	const said = "\x1b[2J\u009b31m\u202eevil\x9b\x07"
	for _, tt := range []struct {
		name, format string
		coloured     bool
	}{{"text", "text", false}, {"coloured", "text", true}, {"json", "json", false}} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			log, err := newLogger(&b, settings{LogLevel: "debug", LogFormat: tt.format}, tt.coloured)
			if err != nil {
				t.Fatal(err)
			}
			log.Error("plain\x1b[1m", "text", said, "error", errors.New(said), "list", []string{said})
			got := b.String()
			if strings.Count(got, "evil") != 3 {
				t.Fatalf("%q does not say it three times", got)
			}
			for _, r := range got {
				if r != '\n' && (unicode.IsControl(r) && (!tt.coloured || r != '\x1b') || unicode.Is(unicode.Bidi_Control, r)) {
					t.Errorf("%U in %q", r, got)
				}
			}
			if strings.Contains(got, "\x1b[2J") || strings.Contains(got, "plain\x1b[1m") {
				t.Errorf("an escape sequence comes through: %q", got)
			}
		})
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb": "a\nb", "\x1b[2Ja": "[2Ja", "a\rb\tc": "abc", "\u009bx\u202ey\u2069z": "xyz", "\x9bx": "\ufffdx", "模型": "模型",
	} {
		if got := clean(text); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}
