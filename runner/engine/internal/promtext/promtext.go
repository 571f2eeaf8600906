// Package promtext reads the counters that the engines publish at /metrics in
// Prometheus' text format. A body is either read whole or refused whole: there
// are no numbers from the readable half of a broken one.
//
// It knows counts only, no gauges' meaning, no histograms, and no metric by name.
package promtext

import (
	"bytes"
	"fmt"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Accept is the request header that gets this format. With one that allows
// OpenMetrics some client libraries rename the metrics.
const Accept = "text/plain;version=0.0.4"

// Sample is one line of an exposition.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Metrics is the samples of an exposition by their exact names: a counter's own
// name, and not that of its family, so `x_created` is no part of `x_total`.
type Metrics map[string][]Sample

// Parse reads an exposition. Line ends may be CRLF, the last one may be missing,
// and metadata may be repeated, as in files that are several put together.
func Parse(body []byte) (Metrics, error) {
	// The zero value of the parser panics, and beside an error it returns what it
	// has read so far.
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(samplesOnly(body)))
	if err != nil {
		return nil, fmt.Errorf("metrics unreadable: %w", err)
	}
	m := make(Metrics, len(families))
	for name, f := range families {
		for _, s := range f.GetMetric() {
			m[name] = append(m[name], Sample{Labels: labels(s), Value: s.GetUntyped().GetValue()})
		}
	}
	return m, nil
}

// samplesOnly blanks every comment and ends every line with a single \n. The
// types in comments tell nothing that is needed here; without them each sample is
// by itself, so their repetition is no error, and blank lines keep the line
// numbers of errors right.
func samplesOnly(body []byte) []byte {
	out := make([]byte, 0, len(body)+1)
	for line := range bytes.Lines(body) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("#")) {
			out = append(out, line...)
		}
		out = append(out, '\n')
	}
	return out
}

func labels(m *dto.Metric) map[string]string {
	l := make(map[string]string, len(m.GetLabel()))
	for _, pair := range m.GetLabel() {
		l[pair.GetName()] = pair.GetValue()
	}
	return l
}

// HasPrefix tells whether any sample's name begins with one of the prefixes.
func (m Metrics) HasPrefix(prefixes ...string) bool {
	for name := range m {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
	}
	return false
}
