package plan

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRequestRateIsAnAxis(t *testing.T) {
	p, err := Load(filepath.Join("testdata", "good", "latency.yaml"), options())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range p.Expand() {
		got = append(got, fmt.Sprint(r.Concurrency, " ", r.RequestRate))
	}
	if diff := cmp.Diff([]string{"1 0.5", "8 2", "8 0.5", "8 0", "64 16", "64 0"}, got); diff != "" {
		t.Errorf("concurrency and rate (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{2, 0.5, math.Inf(1)}, p.Axes.RequestRate); diff != "" {
		t.Errorf("axis (-want +got):\n%s", diff)
	}
	if p.Seed != math.MaxUint64 || p.Arrivals != ArrivalsConstant || !p.Stream || !p.SaveRequests || !p.SaveOutputs || *p.SLO.TPOTMs != 12.5 {
		t.Errorf("seed %d, arrivals %s, stream %v, save_requests %v, slo %v", p.Seed, p.Arrivals, p.Stream, p.SaveRequests, p.SLO)
	}
}

func TestRequestRateZips(t *testing.T) {
	p := parse(t, head+oneServer+oneDataset+"zip: [request_rate, concurrency]\nrequest_rate: [2, inf]\nconcurrency: [1, 8]\ninclude: [{request_rate: 4, concurrency: 1}]\n")
	var got []string
	for _, r := range p.Expand() {
		got = append(got, fmt.Sprint(r.Concurrency, " ", r.RequestRate))
	}
	if diff := cmp.Diff([]string{"1 2", "8 0", "1 4"}, got); diff != "" {
		t.Errorf("concurrency and rate (-want +got):\n%s", diff)
	}
}

// What is said of stream holds for the body too.
func TestStreamOptionsAreTheUsersWithoutStream(t *testing.T) {
	p := parse(t, head+oneServer+oneDataset+"extra_body: {stream_options: {}}\n")
	if p.Stream || len(p.Servers[0].ExtraBody) != 1 {
		t.Errorf("extra_body %v", p.Servers[0].ExtraBody)
	}
}

func TestProxyAndTLS(t *testing.T) {
	p, err := Load(filepath.Join("testdata", "good", "guarded.yaml"), options())
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(p.Dir, "key.txt")
	s := p.Servers[0]
	if diff := cmp.Diff(&TLS{CAFile: key}, s.TLS); diff != "" || s.Proxy != "http://proxy.example:3128" {
		t.Errorf("proxy %q, tls (-want +got):\n%s", s.Proxy, diff)
	}
	if diff := cmp.Diff(&TLS{CertFile: key, KeyFile: key}, s.Baseline.TLS); diff != "" || s.Baseline.Proxy != "" {
		t.Errorf("baseline: proxy %q, tls (-want +got):\n%s", s.Baseline.Proxy, diff)
	}
	if p.AbortAfterFailures != 1 || p.MaxRunDuration != 500*time.Millisecond || p.MaxSweepDuration != 0 {
		t.Errorf("abort_after_failures %d, max_duration_s %v and %v", p.AbortAfterFailures, p.MaxRunDuration, p.MaxSweepDuration)
	}
}

// A proxy is inherited by baselines, unlike headers and keys, and turned off where
// it is not wanted. TLS belongs to the one host that it is given for.
func TestProxyIsInherited(t *testing.T) {
	for _, tt := range []struct{ name, text, server, baseline string }{
		{"none anywhere", "servers: [{name: s, server: \"https://h:1\", tls: {insecure_skip_verify: false}}]\nbaseline_server: https://b:1\n", "", ""},
		{"the plan's", "proxy: \"http://p:1/\"\n" + oneServer + "baseline_server: http://b:1\n", "http://p:1", "http://p:1"},
		{"a server's own", "proxy: http://p:1\nservers: [{name: s, server: \"http://h:1\", proxy: \"https://q:2\"}]\nbaseline_server: http://b:1\n", "https://q:2", "http://p:1"},
		{"off for a server", "proxy: http://p:1\nservers: [{name: s, server: \"http://h:1\", proxy: none}]\nbaseline_server: http://b:1\n", "", "http://p:1"},
		{"off at the top", "proxy: none\n" + oneServer + "baseline_server: {server: \"http://b:1\", proxy: \"socks5://q:2\"}\n", "", "socks5://q:2"},
		{"a password from a variable", "proxy: http://me:${PASSWORD}@p:1\n" + oneServer + "baseline_server: http://b:1\n", "http://me:pw@p:1", "http://me:pw@p:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := parse(t, head+oneDataset+tt.text).Servers[0]
			if s.Proxy != tt.server || s.Baseline.Proxy != tt.baseline || s.Baseline.TLS != nil {
				t.Errorf("server %q, baseline %q", s.Proxy, s.Baseline.Proxy)
			}
		})
	}
}
