package sim

// sglangMetrics is the body of /metrics with --enable-metrics: the counters that
// say something about speculation and load. SGLang counts an answer when it ends,
// this at every step; between two passes it is the same.
func sglangMetrics(c Config, k *counters) string {
	t, _ := k.told()
	e := &exposition{labels: []string{label("engine_type", "unified"), label("model_name", c.Model)}}
	counter := func(name, help string, n int64) {
		e.head(name, help, "counter")
		e.sample(name, "", float(float64(n)))
	}
	counter("sglang:prompt_tokens_total", "Prompt tokens.", t.prompt)
	counter("sglang:generation_tokens_total", "Generated tokens.", t.generated)
	counter("sglang:num_requests_total", "Finished requests.", t.finished[reasonStop]+t.finished[reasonLength])
	if !c.NoSpec && since(c.Version, 15) {
		counter("sglang:spec_verify_calls_total", "Verify steps.", t.drafts)
	}
	return e.String()
}
