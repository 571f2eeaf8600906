package sglang

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/engine/internal/promtext"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// The counters that are read (SGLang's metrics collector). They are counted by the
// tokenizer manager for all data-parallel ranks, when an answer ends.
const (
	metricVerify    = "sglang:spec_verify_calls_total" // since 0.5.15
	metricGenerated = "sglang:generation_tokens_total" // the prefill's token of each answer included
	metricRequests  = "sglang:num_requests_total"      // finished
	metricsAdvice   = "start the server with --enable-metrics to have it"
)

// counts is the counters at one moment, summed over their label sets.
type counts struct {
	verify, generated, requests int64
	hasVerify                   bool // the server counts verify steps
}

// scrape reads GET /metrics. It is an error when that is not there or lacks the
// generated tokens.
func scrape(ctx context.Context, c *openai.Client) (counts, error) {
	body, err := engine.Fetch(ctx, c, "/metrics", promtext.Accept)
	var status *openai.HTTPError
	if errors.As(err, &status) && status.Status == http.StatusNotFound {
		return counts{}, fmt.Errorf("%w (%s)", err, metricsAdvice)
	}
	if err != nil {
		return counts{}, err
	}
	k, err := readCounts(body)
	if err != nil {
		return counts{}, fmt.Errorf("GET %s/metrics: %w", c.URL(), err)
	}
	return k, nil
}

func readCounts(body []byte) (counts, error) {
	m, err := promtext.Parse(body)
	if err != nil {
		return counts{}, err
	}
	var k counts
	for _, x := range []struct {
		name string
		to   *int64
	}{{metricVerify, &k.verify}, {metricGenerated, &k.generated}, {metricRequests, &k.requests}} {
		list, err := m.Counts(x.name)
		if err != nil {
			return counts{}, err
		}
		for _, c := range list {
			*x.to += c.N
		}
		if len(list) == 0 && x.name == metricGenerated && !m.HasPrefix("sglang:") {
			return counts{}, errors.New("no sglang: series: no metrics of an SGLang server")
		}
	}
	k.hasVerify = len(m[metricVerify]) > 0
	return k, nil
}

// since is what was counted after before, or specdec.ErrCountersFell.
func (k counts) since(before counts) (counts, error) {
	d := counts{k.verify - before.verify, k.generated - before.generated, k.requests - before.requests, k.hasVerify}
	for _, x := range []struct {
		name string
		diff int64
	}{{metricVerify, d.verify}, {metricGenerated, d.generated}, {metricRequests, d.requests}} {
		if x.diff < 0 {
			return counts{}, fmt.Errorf("%w (%s by %d)", specdec.ErrCountersFell, x.name, -x.diff)
		}
	}
	return d, nil
}

// stats is the acceptance of the source counters, or why there is none:
//
//	accept_length = (generated tokens - requests) / verify steps
//
// since one token of each answer comes from its prefill. Tokens that the end of an
// answer cuts off are not generated, so it is a little low for short answers.
func (k counts) stats(numSteps *int) (specdec.Stats, *specdec.Note) {
	reason := func(code, text string) (specdec.Stats, *specdec.Note) {
		return specdec.Stats{}, &specdec.Note{Code: code, Text: text}
	}
	switch {
	case !k.hasVerify:
		return reason(specdec.CodeNotReported, "/metrics has no "+metricVerify+" (it came with SGLang 0.5.15, and is there only with speculation)")
	case k.verify == 0:
		return reason(specdec.CodeNothingDrafted, metricVerify+" did not move: nothing was drafted")
	}
	length := float64(k.generated-k.requests) / float64(k.verify)
	if length < 1 {
		return reason(specdec.CodeInconsistent, fmt.Sprintf("%d tokens of %d requests in %d verify steps, but every step yields a token",
			k.generated, k.requests, k.verify))
	}
	s := specdec.FromAverage(specdec.SourceCounters, length, numSteps)
	s.NumDrafts, s.TokensPerStep = &k.verify, &length
	return s, nil
}
