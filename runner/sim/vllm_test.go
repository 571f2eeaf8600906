package sim

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// series are the lines of a text exposition without values and HELP.
func series(b []byte) map[string]bool {
	out := map[string]bool{}
	for line := range bytes.Lines(b) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "# HELP") || text == "" {
			continue
		}
		if i := strings.LastIndexByte(text, ' '); !strings.HasPrefix(text, "#") {
			text = text[:i]
		}
		out[text] = true
	}
	return out
}

// /metrics has the series of a real server, names, labels and types, before any
// traffic too.
func TestVLLMMetricsAsCaptured(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, file string
		c          Config
	}{
		{"speculating", "vllm-0.32.0_metrics_spec.txt", Config{Model: "tiny", Accept: []float64{0.8, 0.6, 0.4, 0.2}}},
		{"not speculating", "vllm-0.32.0_metrics_base.txt", Config{Model: "tiny", NoSpec: true, Accept: []float64{0.8}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := get(t, start(t, tc.c).URL()+"/metrics")
			if want := "text/plain; version=1.0.0; charset=utf-8"; a.kind != want {
				t.Errorf("content type %q, want %q", a.kind, want)
			}
			if d := cmp.Diff(series(fixture(t, tc.file)), series(a.body)); d != "" {
				t.Errorf("series (-captured +simulated):\n%s", d)
			}
		})
	}
}

func TestVLLMCountersStartAtZero(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Accept: []float64{0.8, 0.6}})
	a := get(t, r.URL()+"/metrics")
	if want := draftsTotal + `{engine="0",model_name="sim"} 0.0` + "\n"; !strings.Contains(string(a.body), want) {
		t.Errorf("no line %q in\n%s", want, a.body)
	}
	for name, v := range scrape(t, r.URL()) {
		if v != 0 && !strings.HasSuffix(name, "_created") {
			t.Errorf("%s = %v before any traffic", name, v)
		}
	}
}

func TestVLLMModelNameIsEscaped(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Model: "a\"b\\c\nd"})
	if got := scrape(t, r.URL()); len(got) == 0 { // parses, or fails the test
		t.Error("no samples")
	}
}

func TestVLLMShapesAsCaptured(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Model: "tiny"})
	for _, tc := range []struct {
		name, file string
		got        answer
	}{
		{"chat", "vllm-0.32.0_chat.json", post(t, r.URL()+"/v1/chat/completions", `{"model":"tiny","messages":[{"role":"user","content":"x"}],"max_tokens":48}`)},
		{"models", "vllm-0.32.0_models.json", get(t, r.URL()+"/v1/models")},
		{"version", "vllm-0.32.0_version.json", get(t, r.URL()+"/version")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.got.status != http.StatusOK || tc.got.kind != "application/json" {
				t.Errorf("status %d, content type %q", tc.got.status, tc.got.kind)
			}
			want, got := shape(decode(t, fixture(t, tc.file))), shape(decode(t, tc.got.body))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("shape (-captured +simulated):\n%s", d)
			}
		})
	}
	if a := get(t, r.URL()+"/health"); a.status != http.StatusOK || len(a.body) != 0 {
		t.Errorf("/health: status %d, body %q", a.status, a.body)
	}
}

func TestVLLMHasNoSGLangRoutes(t *testing.T) {
	t.Parallel()
	r := start(t, Config{})
	for _, path := range []string{"/server_info", "/get_server_info"} {
		if a := get(t, r.URL()+path); a.status != http.StatusNotFound {
			t.Errorf("GET %s: status %d, want 404", path, a.status)
		}
	}
}
