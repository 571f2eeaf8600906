package sim

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		in, want Config
	}{
		{"zero value", Config{}, Config{Engine: "vllm", Model: "sim", Version: "0.32.0", IdleTimeout: 5 * time.Second}},
		{"sglang", Config{Engine: "sglang"}, Config{Engine: "sglang", Model: "sim", Version: "0.5.23", IdleTimeout: 5 * time.Second}},
		{
			"what is set stays",
			Config{Engine: "sglang", Model: "m", Version: "0.4.6", IdleTimeout: time.Minute},
			Config{Engine: "sglang", Model: "m", Version: "0.4.6", IdleTimeout: time.Minute},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tc.want, tc.in.Defaults()); d != "" {
				t.Errorf("Defaults (-want +got):\n%s", d)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		c    Config
		want []string
	}{
		{"engine", Config{Engine: "tgi"}, []string{`unknown engine "tgi" (have llamacpp, sglang, vllm)`}},
		{"rate above 1", Config{Accept: []float64{1.5}}, []string{"accept: position 0: 1.5 is not between 0 and 1"}},
		{"negative rate", Config{Accept: []float64{0.5, -0.1}}, []string{"accept: position 1: -0.1"}},
		{"rate that is no number", Config{Accept: []float64{math.NaN()}}, []string{"accept: position 0: NaN"}},
		{"rates that increase", Config{Accept: []float64{0.5, 0.6}}, []string{"accept: position 1: 0.6 is above the 0.5 before it"}},
		{"fail rate", Config{FailRate: 2}, []string{"fail rate: 2 is not"}},
		{"drop rate", Config{DropRate: math.NaN()}, []string{"drop rate: NaN is not"}},
		{"step time", Config{StepTime: -1}, []string{"step time: -1ns is negative"}},
		{"step time per request", Config{StepTimePerRequest: -1}, []string{"step time per request: -1ns"}},
		{"latency", Config{Latency: -1}, []string{"latency: -1ns"}},
		{"idle timeout", Config{IdleTimeout: -1}, []string{"idle timeout: -1ns"}},
		{"restart after", Config{RestartAfter: -1}, []string{"restart after: -1"}},
		{"all at once", Config{Engine: "x", FailRate: -1, Latency: -1}, []string{"engine", "fail rate", "latency"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(tc.c)
			if err == nil {
				t.Fatal("New has no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want it to hold %q", err, want)
				}
			}
		})
	}
}

func TestAcceptLength(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		c    Config
		want float64
	}{
		{"1 + sum", Config{Accept: []float64{0.75, 0.5, 0.25}}, 2.5},
		{"no positions", Config{}, 1},
		{"no speculation", Config{Accept: []float64{0.75}, NoSpec: true}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.c.AcceptLength(); got != tc.want {
				t.Errorf("AcceptLength() = %v, want %v", got, tc.want)
			}
		})
	}
}
