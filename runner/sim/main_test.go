package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a server for the time of the test.
func start(t *testing.T, c Config) *Running {
	t.Helper()
	r, err := Listen(c, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

// answer is what came back for one request.
type answer struct {
	status int
	kind   string // content type
	body   []byte
	err    error
}

// send makes one request over a client of its own unless one is given.
func send(t *testing.T, client *http.Client, req *http.Request) answer {
	t.Helper()
	if client == nil {
		tr := &http.Transport{}
		defer tr.CloseIdleConnections()
		client = &http.Client{Transport: tr}
	}
	res, err := client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header.Get("Content-Type"), body, err}
}

func request(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

func get(t *testing.T, url string) answer {
	t.Helper()
	return send(t, nil, request(t, http.MethodGet, url, ""))
}

func post(t *testing.T, url, body string) answer {
	t.Helper()
	return send(t, nil, request(t, http.MethodPost, url, body))
}

// chatBody asks for exactly n tokens.
func chatBody(prompt, n any) string {
	return fmt.Sprintf(`{"model":"sim","messages":[{"role":"user","content":"prompt %v"}],"max_tokens":%v,"ignore_eos":true}`, prompt, n)
}

// load sends prompts 0 to n-1 from as many clients at once, tokens each, and wants
// every one to be answered.
func load(t *testing.T, url string, n, concurrency, tokens int) {
	t.Helper()
	tr := &http.Transport{MaxIdleConnsPerHost: concurrency}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr}
	next := make(chan int)
	var wg sync.WaitGroup
	for range concurrency {
		wg.Go(func() {
			for i := range next {
				req := request(t, http.MethodPost, url+"/v1/chat/completions", chatBody(i, tokens))
				if a := send(t, client, req); a.err != nil || a.status != http.StatusOK {
					t.Errorf("prompt %d: status %d, error %v: %s", i, a.status, a.err, a.body)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// scrape is /metrics by sample name, summed over labels, with those at zero.
func scrape(t *testing.T, url string) map[string]float64 {
	t.Helper()
	a := get(t, url+"/metrics")
	if a.err != nil || a.status != http.StatusOK {
		t.Fatalf("/metrics: status %d, error %v", a.status, a.err)
	}
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(a.body))
	if err != nil {
		t.Fatalf("/metrics does not parse: %v", err)
	}
	sums := map[string]float64{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			sums[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			if h := m.GetHistogram(); h != nil {
				sums[name+"_count"] += float64(h.GetSampleCount())
				sums[name+"_sum"] += h.GetSampleSum()
			}
		}
	}
	return sums
}

func decode(t *testing.T, b []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %q", err, b)
	}
	return v
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shape is the JSON type of every path of a value.
func shape(v any) map[string]string {
	out := map[string]string{}
	addShape(out, "", v)
	return out
}

func addShape(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		out[path] = "object"
		for k, e := range v {
			addShape(out, path+"."+k, e)
		}
	case []any:
		out[path] = "array"
		for i, e := range v {
			addShape(out, fmt.Sprintf("%s[%d]", path, i), e)
		}
	default:
		out[path] = fmt.Sprintf("%T", v)
	}
}
