package plan

// badServers are the rules about for, tls and proxy.
func badServers() []badPlan {
	return []badPlan{
		{"for_bad_name", `for_bad_name.yaml:7: servers[0].for["a b"]: not a name: want ASCII letters, digits and _`},
		{"for_baseline", "for_baseline.yaml:8: baseline_server.for: unknown key (have accept_sources, api_key_env, api_key_file, engine, extra_body, headers, labels, launch, model, proxy, server, tls)"},
		{"for_empty", "for_empty.yaml:7: servers[0].for: an empty mapping: give at least one name and its values"},
		{"for_name_of_another", `for_name_of_another.yaml:6: servers[1].name: "s-4" is the name of servers[0] already`},
		{"for_name_without", `for_name_without.yaml:5: servers[0].name: for makes several servers with the name "s": put {k} into it, with values that differ`},
		{"for_port", "for_port.yaml:7: servers[0].for.port: {port} is the port that launch finds: take another name"},
		{"for_problem_once", "for_problem_once.yaml:8: servers[0].nosuch: unknown key (have accept_sources, api_key_env, api_key_file, baseline_server, engine, extra_body, for, headers, labels, launch, model, name, num_steps, proxy, server, tls)"},
		{"for_steps_no_name", `for_steps_no_name.yaml:8: servers[0].num_steps: want an integer in plain decimal digits (have the string "{kk}")`},
		{"for_steps_no_number", `for_steps_no_number.yaml:8: servers[0].num_steps: want an integer in plain decimal digits (have the string "x")`},
		{"for_steps_unquoted", "for_steps_unquoted.yaml:8: servers[0].num_steps: want an integer in plain decimal digits (have a mapping: to YAML, {k} without quotes is one)"},
		{"for_steps_without", `for_steps_without.yaml:7: servers[0].num_steps: want an integer in plain decimal digits (have the string "{k}")`},
		{"for_steps_zero", "for_steps_zero.yaml:8: servers[0].num_steps: must be at least 1 (have 0)"},
		{"for_two_problems", "" +
			"for_two_problems.yaml:7: servers[0].for.k: want a list (have 4, a number to YAML)" + "\n" +
			"for_two_problems.yaml:9: servers[0].labels: want a mapping (key: value) (have a list)"},
		{"for_unequal", "for_unequal.yaml:7: servers[0].for: names that go together must have equally many values: k has 3, step has 2"},
		{"for_url", "" +
			`for_url.yaml:6: servers[0].server: no scheme in "h2:1": want http://host:port, as in http://h2:1` + "\n" +
			`for_url.yaml:6: servers[0].server: no scheme in "h4:1": want http://host:port, as in http://h4:1`},
		{"for_value_list", "for_value_list.yaml:7: servers[0].for.k[1]: want a string (have a list)"},
		{"for_value_twice", `for_value_twice.yaml:5: servers[0].name: for makes several servers with the name "s-2": put {k} into it, with values that differ`},
		{"for_values_empty", "for_values_empty.yaml:7: servers[0].for.k: an empty list: give at least one value"},
		{"for_values_word", "for_values_word.yaml:7: servers[0].for.k: want a list (have 4, a number to YAML)"},
		{"for_variable_unset", "" +
			"for_variable_unset.yaml:5: servers[0].name: variable NOSUCH is not set: set it, or write ${NOSUCH:-default}" + "\n" +
			"for_variable_unset.yaml:6: servers[0].server: variable NOSUCH is not set: set it, or write ${NOSUCH:-default}"},
		{"for_word", "" +
			`for_word.yaml:6: servers[0].server: not a URL: invalid character "{" in host name in "http://h{k}:1"` + "\n" +
			`for_word.yaml:7: servers[0].for: want a mapping of names to lists, as in {k: [2, 4, 6]} (have the string "k")`},
		{"proxy_empty", "proxy_empty.yaml:7: servers[0].proxy: must not be empty"},
		{"proxy_no_scheme", `proxy_no_scheme.yaml:8: baseline_server.proxy: no scheme in "p:3128": want http://host:port, as in http://p:3128`},
		{"proxy_password", "proxy_password.yaml:8: proxy: a password must not stand in a plan: use ${VAR}"},
		{"proxy_password_server", "proxy_password_server.yaml:7: servers[0].proxy: a password must not stand in a plan: use ${VAR}"},
		{"proxy_scheme", `proxy_scheme.yaml:8: proxy: want http or https or socks5 (have "ftp://p:1")`},
		{"tls_ca_empty", "tls_ca_empty.yaml:7: servers[0].tls.ca_file: must not be empty"},
		{"tls_ca_missing", "tls_ca_missing.yaml:7: servers[0].tls.ca_file: no such file or folder: DIR/nosuch.pem"},
		{"tls_cert_alone", "tls_cert_alone.yaml:7: servers[0].tls.cert_file: goes with key_file: give both or neither"},
		{"tls_empty", "tls_empty.yaml:7: servers[0].tls: an empty mapping: give at least one key, or leave tls out"},
		{"tls_http", "tls_http.yaml:7: servers[0].tls: goes with an https URL only"},
		{"tls_http_baseline", "tls_http_baseline.yaml:8: baseline_server.tls: goes with an https URL only"},
		{"tls_key_alone", "tls_key_alone.yaml:7: servers[0].tls.key_file: goes with cert_file: give both or neither"},
		{"tls_skip_word", `tls_skip_word.yaml:7: servers[0].tls.insecure_skip_verify: want true or false (have the string "yes")`},
		{"tls_top", "tls_top.yaml:8: tls: unknown key (have abort_after_failures, accept_sources, api_key_env, api_key_file, arrivals, baseline_server, concurrency, datasets, datasets_config, description, engine, exclude, extra_body, headers, include, labels, max_duration_s, max_new_tokens, max_retries, min_effect, model, name, num_prompts, num_steps, order, prefix_cache, proxy, repeats, request_rate, save_outputs, save_requests, seed, server_wait_s, servers, shuffle_seed, slo, stream, strict, temperature, thresholds, timeout_s, top_k, top_p, version, warmup_prompts, zip)"},
		{"tls_unknown", "tls_unknown.yaml:7: servers[0].tls.ca_fil: unknown key (did you mean ca_file?)"},
	}
}

// badTraffic are the rules about how requests arrive and when to give up.
func badTraffic() []badPlan {
	return []badPlan{
		{"abort_fraction", "abort_fraction.yaml:8: abort_after_failures: want an integer in plain decimal digits (have 0.1, a number to YAML)"},
		{"abort_zero", "abort_zero.yaml:8: abort_after_failures: must be at least 1 (have 0)"},
		{"arrivals_unknown", `arrivals_unknown.yaml:8: arrivals: unknown arrivals "poison" (did you mean poisson?)`},
		{"max_duration_empty", "max_duration_empty.yaml:8: max_duration_s: give at least one of run and sweep"},
		{"max_duration_unknown", "" +
			"max_duration_unknown.yaml:8: max_duration_s.runs: unknown key (did you mean run?)" + "\n" +
			"max_duration_unknown.yaml:8: max_duration_s.sweep: must be above 0 (have -1)"},
		{"max_duration_word", `max_duration_word.yaml:8: max_duration_s: want seconds of one pass, or a mapping with run and sweep (have the string "1h")`},
		{"max_duration_zero", "max_duration_zero.yaml:8: max_duration_s: must be above 0 (have 0)"},
		{"request_rate_dot_inf", "request_rate_dot_inf.yaml:8: request_rate: want requests per second, or inf (have .inf, a number to YAML)"},
		{"request_rate_empty", "request_rate_empty.yaml:8: request_rate: an empty list: give at least one value"},
		{"request_rate_exclude", "request_rate_exclude.yaml:8: exclude[0]: matches no cell of the matrix"},
		{"request_rate_negative", "request_rate_negative.yaml:8: request_rate: must be above 0 (have -2)"},
		{"request_rate_twice", "request_rate_twice.yaml:8: request_rate[2]: 2.0 is in the list twice"},
		{"request_rate_word", `request_rate_word.yaml:8: request_rate[1]: want requests per second, or inf (have the string "infinite")`},
		{"request_rate_zero", "request_rate_zero.yaml:8: request_rate[1]: must be above 0 (have 0)"},
		{"request_rate_zip", "request_rate_zip.yaml:8: zip: zipped axes must be equally long: concurrency has 3, request_rate has 2"},
		{"save_outputs_alone", "save_outputs_alone.yaml:8: save_requests: save_outputs: true wants the requests too: leave save_requests out"},
		{"save_requests_word", "save_requests_word.yaml:8: save_requests: want true or false (have 1, a number to YAML)"},
		{"seed_negative", "seed_negative.yaml:8: seed: must be from 0 to 18446744073709551615 (have -1)"},
		{"slo_empty", "slo_empty.yaml:8: slo: give at least one of ttft_ms, tpot_ms and e2e_latency_ms"},
		{"slo_unknown", "slo_unknown.yaml:9: slo.tftt_ms: unknown key (did you mean ttft_ms?)"},
		{"slo_without_stream", "" +
			"slo_without_stream.yaml:8: slo.ttft_ms: can only be told of a streamed answer: give stream: true" + "\n" +
			"slo_without_stream.yaml:8: slo.tpot_ms: can only be told of a streamed answer: give stream: true"},
		{"slo_word", `slo_word.yaml:8: slo.e2e_latency_ms: want a number (have the string "1s")`},
		{"slo_zero", "slo_zero.yaml:8: slo.e2e_latency_ms: must be above 0 (have 0)"},
		{"stream_in_body", "stream_in_body.yaml:9: extra_body.stream_options: specsweep sets this field itself (from stream)"},
		{"stream_word", `stream_word.yaml:8: stream: want true or false (have the string "true")`},
	}
}

// badVerdicts are the rules about thresholds and min_effect.
func badVerdicts() []badPlan {
	return []badPlan{
		{"min_effect_negative", "min_effect_negative.yaml:8: min_effect: must be at least 0 (have -0.1)"},
		{"min_effect_percent", `min_effect_percent.yaml:8: min_effect: want a number (have the string "1%")`},
		{"threshold_max_inf", "threshold_max_inf.yaml:9: thresholds[0].max: want a number (have .inf, a number to YAML)"},
		{"threshold_metric_empty", "threshold_metric_empty.yaml:9: thresholds[0].metric: must not be empty"},
		{"threshold_metric_unknown", `threshold_metric_unknown.yaml:9: thresholds[0].metric: no column "speedupp" that holds a number (did you mean speedup?)`},
		{"threshold_min_above_max", "threshold_min_above_max.yaml:9: thresholds[0].min: above max: nothing can be both"},
		{"threshold_min_word", `threshold_min_word.yaml:9: thresholds[0].min: want a number (have the string "fast")`},
		{"threshold_no_limit", "threshold_no_limit.yaml:9: thresholds[0]: give at least one of min and max"},
		{"threshold_no_metric", "threshold_no_metric.yaml:9: thresholds[0].metric: required"},
		{"threshold_unknown_key", "threshold_unknown_key.yaml:9: thresholds[0].mn: unknown key (did you mean min?)"},
		{"threshold_where_dataset", `threshold_where_dataset.yaml:9: thresholds[0].where.dataset: there is no "e" (did you mean d?)`},
		{"threshold_where_excluded", "threshold_where_excluded.yaml:11: thresholds[0].where: matches no cell of the matrix"},
		{"threshold_where_label", `threshold_where_label.yaml:10: thresholds[0].where.labels.stp: no server has the label "stp" (did you mean step?)`},
		{"threshold_where_label_value", "threshold_where_label_value.yaml:10: thresholds[0].where: matches no cell of the matrix"},
		{"threshold_where_labels_list", "threshold_where_labels_list.yaml:9: thresholds[0].where.labels: want a mapping (key: value) (have a list)"},
		{"threshold_where_nothing", "threshold_where_nothing.yaml:11: thresholds[1].where: matches no cell of the matrix"},
		{"threshold_where_server", `threshold_where_server.yaml:9: thresholds[0].where.server: there is no "t" (did you mean s?)`},
		{"threshold_where_zero", "threshold_where_zero.yaml:9: thresholds[0].where.concurrency: must be at least 1 (have 0)"},
		{"thresholds_mapping", "thresholds_mapping.yaml:8: thresholds: want a list (have a mapping)"},
	}
}
