package runner

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/secret"
)

func TestServerSecrets(t *testing.T) {
	environ := map[string]string{"KEY": "planted-key", "TEAM": "planted-team", "HF_TOKEN": "planted-hub"}
	launch := &plan.Launch{
		Command:    []string{"serve", "--api-key", "planted-flag", "--password=planted-pass", "--model", "org/model", "--token", "literal"},
		RawCommand: []string{"serve", "--api-key", "${A}", "--password=${B}", "--model", "${M}", "--token", "literal"},
		Env:        map[string]string{"MY_SECRET": "planted-env", "TOKENIZERS_PARALLELISM": "planted-not", "MAX_BATCHED_TOKENS": "131072", "AUTH": "false"},
	}
	endpoint := plan.Endpoint{
		URL: "http://user:planted-url@127.0.0.1:{port}", Proxy: "http://user:planted-proxy@proxy:3128", APIKeyEnv: "KEY",
		Headers: map[string]string{"X-Team": "planted-team", "X-Auth": "Bearer planted-bearer", "Accept": "application/json"}, Launch: launch,
	}
	attached := endpoint
	attached.Launch = nil
	tests := []struct {
		name     string
		endpoint *plan.Endpoint
		text     string
		want     string
	}{
		{"sent", &attached, "planted-key planted-url planted-proxy planted-team planted-bearer", "*** *** *** *** ***"},
		{"not sent", &attached, "planted-hub planted-env planted-flag application/json", "planted-hub planted-env planted-flag application/json"},
		{"of a launched server", &endpoint, "planted-key planted-hub planted-env planted-flag planted-pass planted-database", "*** *** *** *** *** ***"},
		{"innocent", &endpoint, "org/model literal 131072 false planted-not 127.0.0.1", "org/model literal 131072 false planted-not 127.0.0.1"},
		{"basic authentication", &endpoint, "Basic dXNlcjpwbGFudGVkLXVybA==", "Basic ***"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{plan: tt.endpoint, port: 1, opts: &Options{
				Plan:      &plan.Plan{Source: []byte("headers: {X-Team: \"${TEAM}\"}")},
				Environ:   []string{"HF_TOKEN=planted-hub", "DATABASE_URL=postgres://u:planted-database@db/x", "PATH=/bin"},
				LookupEnv: func(name string) (string, bool) { v, ok := environ[name]; return v, ok },
			}}
			if got := s.secrets().String(tt.text); got != tt.want {
				t.Errorf("%q becomes %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestTidyRecord(t *testing.T) {
	long := strings.Repeat("é", 5000)
	cause := errors.New("planted-key " + long)
	in := ServerRecord{
		Err:         cause,
		Description: engine.Description{Model: long, Models: []string{long}, Notes: []string{"planted-key"}, Spec: map[string]string{"a": "planted-key"}},
	}
	out := tidyRecord(in, secret.NewRedactor("planted-key"))
	for _, text := range []string{out.Model, out.Models[0], out.Err.Error()} {
		if n := len([]rune(text)); n != longestText || !strings.HasSuffix(text, "…") {
			t.Errorf("%d characters, want %d", n, longestText)
		}
	}
	if out.Notes[0] != "***" || out.Spec["a"] != "***" || !strings.HasPrefix(out.Err.Error(), "*** é") || !errors.Is(out.Err, cause) {
		t.Errorf("notes %q, speculation %q, error %.20q", out.Notes, out.Spec, out.Err)
	}
	if in.Notes[0] != "planted-key" || in.Models[0] != long {
		t.Error("the record that was given has changed")
	}
}

// Whatever a server is called, its log stays in its folder under a name of its own.
func FuzzSafeName(f *testing.F) {
	f.Add("../../etc/passwd", "a")
	f.Add("a/b", "a_b")
	f.Add("..", "\x00")
	f.Add(strings.Repeat("x", 300), `C:\con`)
	f.Fuzz(func(t *testing.T, a, b string) {
		name := safeName(a)
		if !filepath.IsLocal(name) || filepath.Base(name) != name || len(name) > 100 || strings.ContainsAny(name, `/\:`) {
			t.Errorf("safeName(%q) = %q", a, name)
		}
		if a != b && safeName(b) == name {
			t.Errorf("%q and %q are both called %q", a, b, name)
		}
	})
}
