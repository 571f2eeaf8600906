package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// badPlan is a file of testdata/bad and all that is said about it.
type badPlan struct{ name, want string }

// TestBadPlans has one file for each rule, and the whole of what is said about it.
func TestBadPlans(t *testing.T) {
	tests := []badPlan{
		{"accept_sources_empty", "accept_sources_empty.yaml:8: accept_sources: an empty list: give at least one value"},
		{"accept_sources_twice", "accept_sources_twice.yaml:8: accept_sources[1]: flush is in the list twice"},
		{"accept_sources_unknown", `accept_sources_unknown.yaml:8: accept_sources[0]: unknown source "requests" (did you mean request?)`},
		{"accept_sources_word", `accept_sources_word.yaml:8: accept_sources: want a list (have the string "flush")`},
		{"alias_bomb", "alias_bomb.yaml:1: the aliases stand for more than 100000 values when written out"},
		{"alias_cycle", "alias_cycle.yaml:3: alias *l stands inside its own anchor"},
		{"api_key_both", "api_key_both.yaml:8: api_key_env: give one of api_key_env and api_key_file"},
		{"api_key_env_expanded", "api_key_env_expanded.yaml:8: api_key_env: want the name of a variable, as in api_key_env: MY_KEY, and no value and no ${}"},
		{"api_key_env_is_a_value", "api_key_env_is_a_value.yaml:8: api_key_env: want the name of a variable, as in api_key_env: MY_KEY, and no value and no ${}"},
		{"api_key_file_empty", "api_key_file_empty.yaml:8: api_key_file: must not be empty"},
		{"api_key_file_missing", "api_key_file_missing.yaml:8: api_key_file: no such file or folder: DIR/nosuch.key"},
		{"baseline_mapping_url", "baseline_mapping_url.yaml:8: baseline_server.server: required"},
		{"baseline_url", `baseline_url.yaml:8: baseline_server: no scheme in "b:1": want http://host:port, as in http://b:1`},
		{"colon_in_value", "colon_in_value.yaml:2: not YAML: mapping values are not allowed in this context"},
		{"command_number", "command_number.yaml:7: servers[0].launch.command[2]: want a string (have 8000, a number to YAML: put it in quotes)"},
		{"comments_only", "comments_only.yaml:1: the file is empty: want a mapping (key: value)"},
		{"concurrency_empty", "concurrency_empty.yaml:8: concurrency: an empty list: give at least one value"},
		{"concurrency_twice", "concurrency_twice.yaml:8: concurrency[2]: 1 is in the list twice"},
		{"concurrency_zero", "concurrency_zero.yaml:8: concurrency[1]: must be at least 1 (have 0)"},
		{"config_both_columns", "suite/both_columns.yaml:2: datasets[0].messages_column: give one of messages_column and prompt_column"},
		{"config_empty", "suite/empty.yaml:1: the file is empty: want a mapping (key: value)"},
		{"config_empty_list", "suite/empty_list.yaml:1: datasets: an empty list: give at least one dataset"},
		{"config_name_twice", `suite/name_twice.yaml:3: datasets[1].name: "d" is the name of datasets[0] already`},
		{"config_no_column", "suite/no_column.yaml:2: datasets[0]: give one of messages_column and prompt_column"},
		{"config_no_datasets", "" +
			"suite/no_datasets.yaml:1: suite: unknown key (have datasets)" + "\n" +
			"suite/no_datasets.yaml:1: datasets: required"},
		{"config_nosuch", "config_nosuch.yaml:6: datasets_config: no such file or folder: DIR/suite/nosuch.yaml"},
		{"config_own_zipped", "suite/own_zipped.yaml:2: datasets[0].max_new_tokens: max_new_tokens is zipped with other axes: a dataset cannot have its own"},
		{"config_path_empty", "config_path_empty.yaml:6: datasets_config: must not be empty"},
		{"config_unknown_key", "" +
			"suite/unknown_key.yaml:2: datasets[0].prompt_colum: unknown key (did you mean prompt_column?)" + "\n" +
			"suite/unknown_key.yaml:2: datasets[0]: give one of messages_column and prompt_column"},
		{"control_character", "control_character.yaml:2: not YAML: control characters are not allowed"},
		{"dataset_both_columns", "dataset_both_columns.yaml:9: datasets[0].messages_column: give one of messages_column and prompt_column"},
		{"dataset_context_alone", "dataset_context_alone.yaml:9: datasets[0].prompt_context_column: goes with prompt_column only"},
		{"dataset_input_empty", "dataset_input_empty.yaml:7: datasets[0].input_data: must not be empty"},
		{"dataset_input_missing", "dataset_input_missing.yaml:7: datasets[0].input_data: required"},
		{"dataset_max_new_tokens_list", "dataset_max_new_tokens_list.yaml:9: datasets[0].max_new_tokens: want an integer in plain decimal digits (have a list)"},
		{"dataset_name_missing", "dataset_name_missing.yaml:7: datasets[0].name: required"},
		{"dataset_name_twice", `dataset_name_twice.yaml:8: datasets[1].name: "d" is the name of datasets[0] already`},
		{"dataset_no_file_dotted", "dataset_no_file_dotted.yaml:7: datasets[0].input_data: no such file or folder: DIR/org/data"},
		{"dataset_num_prompts_zero", "dataset_num_prompts_zero.yaml:9: datasets[0].num_prompts: must be at least 1 (have 0)"},
		{"dataset_split_empty", "dataset_split_empty.yaml:9: datasets[0].split: must not be empty: leave the key out"},
		{"datasets_and_config", "datasets_and_config.yaml:8: datasets_config: give one of datasets and datasets_config"},
		{"datasets_empty", "datasets_empty.yaml:6: datasets: an empty list: give at least one dataset"},
		{"duplicate_key", "duplicate_key.yaml:9: repeats: duplicate key (first on line 8)"},
		{"duplicate_key_other_case", "" +
			"duplicate_key_other_case.yaml:8: Repeats: unknown key (did you mean repeats?)" + "\n" +
			"duplicate_key_other_case.yaml:9: repeats: duplicate key: differs from Repeats on line 8 in case only"},
		{"duplicate_label", "duplicate_label.yaml:10: labels.a: duplicate key (first on line 9)"},
		{"duplicate_merge", `duplicate_merge.yaml:10: labels["<<"]: duplicate key (first on line 9); merge several with <<: [*a, *b]`},
		{"empty", "empty.yaml:1: the file is empty: want a mapping (key: value)"},
		{"engine_missing", "" +
			"engine_missing.yaml:4: servers[0].engine: required, here or at the top of the plan (have sglang, vllm)" + "\n" +
			"engine_missing.yaml:7: baseline_server.engine: required, here or at the top of the plan (have sglang, vllm)"},
		{"engine_unknown", `engine_unknown.yaml:3: engine: unknown engine "vlm" (have sglang, vllm)`},
		{"engine_unknown_server", `engine_unknown_server.yaml:7: servers[0].engine: unknown engine "trt" (have sglang, vllm)`},
		{"env_name", `env_name.yaml:7: servers[0].launch.env["a=b"]: a variable's name must not be empty and not hold =`},
		{"exclude_everything", "exclude_everything.yaml:8: exclude: everything is excluded: there is nothing to run"},
		{"exclude_list_empty", "exclude_list_empty.yaml:9: exclude[0].server: an empty list: give at least one value"},
		{"exclude_nothing", "exclude_nothing.yaml:12: exclude[1]: matches no cell of the matrix"},
		{"exclude_unknown_dataset", `exclude_unknown_dataset.yaml:9: exclude[0].dataset: there is no "dd" (did you mean d?)`},
		{"exclude_unknown_server", `exclude_unknown_server.yaml:9: exclude[0].server: there is no "t" (did you mean s?)`},
		{"extra_body_deep", "extra_body_deep.yaml:8: extra_body.a[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: nested more than 100 deep"},
		{"extra_body_large", "extra_body_large.yaml:8: extra_body.seed: 99999999999999999999 is out of range"},
		{"extra_body_list", "extra_body_list.yaml:8: extra_body: want a mapping (key: value) (have a list)"},
		{"extra_body_nan", "extra_body_nan.yaml:8: extra_body.a[0]: want something that JSON can say, numbers in plain decimal digits (have .nan, a number to YAML)"},
		{"extra_body_octal", "extra_body_octal.yaml:8: extra_body.a: want something that JSON can say, numbers in plain decimal digits (have 010, a number to YAML)"},
		{"extra_body_reserved", "" +
			"extra_body_reserved.yaml:8: extra_body.stream: specsweep sets this field itself (from stream)" + "\n" +
			"extra_body_reserved.yaml:8: extra_body.temperature: specsweep sets this field itself (from temperature)"},
		{"extra_body_reserved_dataset", "extra_body_reserved_dataset.yaml:9: datasets[0].extra_body.max_tokens: specsweep sets this field itself (from max_new_tokens)"},
		{"extra_body_reserved_top_k", "extra_body_reserved_top_k.yaml:9: extra_body.top_k: specsweep sets this field itself (from top_k)"},
		{"extra_body_tagged", "extra_body_tagged.yaml:8: extra_body.a: want something that JSON can say, numbers in plain decimal digits (have aGk= with the tag !!binary)"},
		{"header_line_break", "header_line_break.yaml:8: headers.X-A: the value holds a line break or another control character; does the variable end in one?"},
		{"header_own", `header_own.yaml:8: headers.Content-Length: specsweep sets this header itself`},
		{"command_nul", `command_nul.yaml:7: servers[0].launch.command[1]: a word of a command cannot hold a NUL character`},
		{"header_name", `header_name.yaml:8: headers["a b"]: not the name of an HTTP header`},
		{"header_secret", "header_secret.yaml:8: headers.Authorization: a secret must not stand in a plan: use ${VAR}"},
		{"header_secret_default", "header_secret_default.yaml:8: headers.Cookie: a secret must not stand in a plan: use ${VAR}"},
		{"header_secret_number", "header_secret_number.yaml:8: headers.X-Api-Key: a secret must not stand in a plan: use ${VAR}"},
		{"header_twice", "header_twice.yaml:8: headers.x-a: the same header as X-A"},
		{"include_nothing", "include_nothing.yaml:11: include[0]: adds nothing: its cells are in the matrix already"},
		{"include_part_of_zip", "include_part_of_zip.yaml:12: include[0]: names some of the zipped axes only: name all of concurrency, num_prompts, or none"},
		{"include_unknown", `include_unknown.yaml:9: include[0].dataset: there is no "e" (did you mean d?)`},
		{"include_zip_unequal", "include_zip_unequal.yaml:12: include[0]: zipped axes must be equally long: concurrency has 2, num_prompts has 1"},
		{"integer_exponent", "integer_exponent.yaml:8: concurrency: want an integer in plain decimal digits (have 1e3, a number to YAML)"},
		{"integer_fraction", "integer_fraction.yaml:8: concurrency: want an integer in plain decimal digits (have 2.9, a number to YAML)"},
		{"integer_hex", "integer_hex.yaml:8: concurrency: want an integer in plain decimal digits (have 0x10, a number to YAML)"},
		{"integer_in_quotes", `integer_in_quotes.yaml:8: concurrency: want an integer in plain decimal digits (have the string "16": drop the quotes)`},
		{"integer_list", "integer_list.yaml:8: repeats: want an integer in plain decimal digits (have a list)"},
		{"integer_mapping", "integer_mapping.yaml:8: repeats: want an integer in plain decimal digits (have a mapping)"},
		{"integer_octal", "integer_octal.yaml:8: concurrency: want an integer in plain decimal digits (have 010, a number to YAML)"},
		{"integer_round_float", "integer_round_float.yaml:8: concurrency: want an integer in plain decimal digits (have 2.0, a number to YAML)"},
		{"integer_tagged", "integer_tagged.yaml:8: concurrency: want an integer in plain decimal digits (have 3 with the tag !mine)"},
		{"integer_too_large", "integer_too_large.yaml:8: concurrency: 3000000000 is out of range"},
		{"integer_true", "integer_true.yaml:8: concurrency: want an integer in plain decimal digits (have true, a truth value to YAML)"},
		{"integer_underscore", "integer_underscore.yaml:8: concurrency: want an integer in plain decimal digits (have 1_000, a number to YAML)"},
		{"integer_variable", `integer_variable.yaml:8: concurrency: want an integer in plain decimal digits (have the string "${C:-8}": variables are expanded in strings only)`},
		{"invalid_utf8", "invalid_utf8.yaml:2: not YAML: invalid leading UTF-8 octet"},
		{"key_is_a_list", "key_is_a_list.yaml:9: labels: a key must be a word (have a list)"},
		{"label_is_a_list", "label_is_a_list.yaml:8: labels.a: want a string (have a list)"},
		{"label_without_name", `label_without_name.yaml:8: labels[""]: a label's name must not be empty`},
		{"label_without_value", "label_without_value.yaml:8: labels.a: want a string (have nothing)"},
		{"labels_list", "labels_list.yaml:8: labels: want a mapping (key: value) (have a list)"},
		{"launch_command_blank", "launch_command_blank.yaml:7: servers[0].launch.command: the program's name is empty"},
		{"launch_command_empty", "launch_command_empty.yaml:7: servers[0].launch.command: an empty list: give a program and its arguments"},
		{"launch_command_missing", "launch_command_missing.yaml:7: servers[0].launch.command: required"},
		{"launch_ready_timeout", "launch_ready_timeout.yaml:7: servers[0].launch.ready_timeout_s: must be above 0 (have 0)"},
		{"launch_restart", `launch_restart.yaml:7: servers[0].launch.restart: unknown restart "always" (have never, per_dataset, per_run)`},
		{"list_at_top", "list_at_top.yaml:1: want a mapping (key: value) at the top (have a list)"},
		{"list_is_a_mapping", "list_is_a_mapping.yaml:4: servers: want a list (have a mapping)"},
		{"list_of_mixed_types", "" +
			`list_of_mixed_types.yaml:8: concurrency[1]: want an integer in plain decimal digits (have the string "2": drop the quotes)` + "\n" +
			"list_of_mixed_types.yaml:8: concurrency[2]: want an integer in plain decimal digits (have 4.9, a number to YAML)" + "\n" +
			"list_of_mixed_types.yaml:8: concurrency[3]: want an integer in plain decimal digits (have true, a truth value to YAML)"},
		{"many_problems", "" +
			"many_problems.yaml:2: name: want a string (have 1, a number to YAML: put it in quotes)" + "\n" +
			"many_problems.yaml:5: servers[0].api_key_evn: unknown key (did you mean api_key_env?)" + "\n" +
			`many_problems.yaml:5: servers[0].server: no scheme in "h:1": want http://host:port, as in http://h:1` + "\n" +
			"many_problems.yaml:7: datasets[0].num_promts: unknown key (did you mean num_prompts?)" + "\n" +
			"many_problems.yaml:7: datasets[0].input_data: no such file or folder: DIR/p.jsonl" + "\n" +
			"many_problems.yaml:8: max_new_token: unknown key (did you mean max_new_tokens?)" + "\n" +
			"many_problems.yaml:9: concurrency[0]: must be at least 1 (have 0)" + "\n" +
			`many_problems.yaml:9: concurrency[1]: want an integer in plain decimal digits (have the string "2": drop the quotes)` + "\n" +
			"many_problems.yaml:10: top_p: must be above 0 and at most 1 (have 2)" + "\n" +
			`many_problems.yaml:11: order: unknown order "x" (have by_block, by_server)`},
		{"mapping_is_a_word", `mapping_is_a_word.yaml:5: servers[0]: want a mapping (key: value) (have the string "s")`},
		{"matrix_too_large", "matrix_too_large.yaml:1: the matrix has more than 100000 runs"},
		{"max_new_tokens_zero", "max_new_tokens_zero.yaml:8: max_new_tokens: must be at least 1 (have 0)"},
		{"max_retries_negative", "max_retries_negative.yaml:8: max_retries: must be at least 0 (have -1)"},
		{"merge_of_a_word", `merge_of_a_word.yaml:9: labels["<<"]: want a mapping to merge, or a list of them (have the string "word")`},
		{"merged_key_unknown", "merged_key_unknown.yaml:5: baseline_server.name: unknown key (have accept_sources, api_key_env, api_key_file, engine, extra_body, headers, labels, launch, model, proxy, server, tls)"},
		{"model_empty", "model_empty.yaml:8: model: must not be empty: leave it out to use the only model that the server lists"},
		{"name_dot", `name_dot.yaml:2: name: ".a" cannot name a folder: want at most 100 ASCII letters, digits, dots, _ and -, and neither . nor - first`},
		{"name_long", `name_long.yaml:2: name: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" cannot name a folder: want at most 100 ASCII letters, digits, dots, _ and -, and neither . nor - first`},
		{"name_missing", "name_missing.yaml:1: name: required"},
		{"name_slash", `name_slash.yaml:2: name: "a/b" cannot name a folder: want at most 100 ASCII letters, digits, dots, _ and -, and neither . nor - first`},
		{"no_value", "no_value.yaml:8: concurrency: no value: give one, or leave the key out"},
		{"no_value_in_list", "no_value_in_list.yaml:8: concurrency[1]: want an integer in plain decimal digits (have nothing)"},
		{"null_document", "null_document.yaml:1: the file is empty: want a mapping (key: value)"},
		{"num_prompts_huge_per_slot", "num_prompts_huge_per_slot.yaml:8: num_prompts: 9999999999x is out of range"},
		{"num_prompts_negative", "num_prompts_negative.yaml:8: num_prompts: must be at least 1 (have -3)"},
		{"num_prompts_twice", "num_prompts_twice.yaml:8: num_prompts[2]: 10x is in the list twice"},
		{"num_prompts_word", `num_prompts_word.yaml:8: num_prompts: want a number, or a number and x for so many per slot of concurrency: 10x (have the string "many")`},
		{"num_prompts_zero", "num_prompts_zero.yaml:8: num_prompts: must be at least 1 (have 0)"},
		{"num_prompts_zero_per_slot", "num_prompts_zero_per_slot.yaml:8: num_prompts: must be at least 1 (have 0)"},
		{"num_steps_zero", "num_steps_zero.yaml:8: num_steps: must be at least 1 (have 0)"},
		{"number_in_quotes", `number_in_quotes.yaml:8: temperature: want a number (have the string "0.5": drop the quotes)`},
		{"number_infinite", "number_infinite.yaml:8: temperature: want a number (have .inf, a number to YAML)"},
		{"number_nan", "number_nan.yaml:8: temperature: want a number (have .nan, a number to YAML)"},
		{"number_too_large", "number_too_large.yaml:8: temperature: 1e999 is out of range"},
		{"order_unknown", `order_unknown.yaml:8: order: unknown order "by_blok" (did you mean by_block?)`},
		{"repeats_zero", "repeats_zero.yaml:8: repeats: must be at least 1 (have 0)"},
		{"prefix_cache_unknown", `prefix_cache_unknown.yaml:8: prefix_cache: unknown prefix_cache "warm" (have as_is, cold)`},
		{"second_document", "second_document.yaml:2: a second document starts here: a file holds one only"},
		{"second_document_broken", "second_document_broken.yaml:3: not YAML: did not find expected node content"},
		{"server_name_blank_at_end", "server_name_blank_at_end.yaml:5: servers[0].name: must not begin or end with a blank"},
		{"server_name_control", `server_name_control.yaml:5: servers[0].name: must not hold line breaks or other control characters (have "a\nb")`},
		{"server_name_empty", "server_name_empty.yaml:5: servers[0].name: must not be empty"},
		{"server_name_missing", "server_name_missing.yaml:5: servers[0].name: required"},
		{"server_name_twice", `server_name_twice.yaml:6: servers[1].name: "s" is the name of servers[0] already`},
		{"server_url_missing", "server_url_missing.yaml:5: servers[0].server: required"},
		{"server_wait_negative", "server_wait_negative.yaml:8: server_wait_s: must be at least 0 (have -1)"},
		{"servers_empty", "servers_empty.yaml:4: servers: an empty list: give at least one server"},
		{"servers_missing", "servers_missing.yaml:1: servers: required"},
		{"string_date", "string_date.yaml:8: model: want a string (have 2025-01-02, a date to YAML: put it in quotes)"},
		{"string_float", "string_float.yaml:8: model: want a string (have 1.10, a number to YAML: put it in quotes)"},
		{"string_list", "string_list.yaml:8: model: want a string (have a list)"},
		{"string_number", "string_number.yaml:2: name: want a string (have 0123, a number to YAML: put it in quotes)"},
		{"string_tagged", "string_tagged.yaml:8: model: want a string (have a with the tag !mine: put it in quotes)"},
		{"string_truth_value", "string_truth_value.yaml:8: model: want a string (have true, a truth value to YAML: put it in quotes)"},
		{"strict_word", `strict_word.yaml:8: strict: want true or false (have the string "yes")`},
		{"syntax", "syntax.yaml:1: not YAML: did not find expected ',' or ']'"},
		{"tab_after_dash", "tab_after_dash.yaml:3: a tab as indentation: YAML takes blanks only"},
		{"tab_indentation", "tab_indentation.yaml:3: a tab as indentation: YAML takes blanks only"},
		{"temperature_negative", "temperature_negative.yaml:8: temperature[1]: must be at least 0 (have -1)"},
		{"temperature_twice", "temperature_twice.yaml:8: temperature[1]: 0.0 is in the list twice"},
		{"timeout_huge", "timeout_huge.yaml:8: timeout_s: must be at most 3153600000 (have 1e300)"},
		{"timeout_too_small", "timeout_too_small.yaml:8: timeout_s: must be above 0 (have 1e-12)"},
		{"timeout_zero", "timeout_zero.yaml:8: timeout_s: must be above 0 (have 0)"},
		{"top_k_zero", "top_k_zero.yaml:8: top_k: must be at least 1, or -1 for no limit (have 0)"},
		{"top_p_above_one", "top_p_above_one.yaml:8: top_p: must be above 0 and at most 1 (have 1.1)"},
		{"top_p_zero", "top_p_zero.yaml:8: top_p: must be above 0 and at most 1 (have 0)"},
		{"unknown_anchor", "unknown_anchor.yaml:2: not YAML: unknown anchor 'nobody' referenced"},
		{"unknown_key_baseline", "unknown_key_baseline.yaml:8: baseline_server.num_steps: unknown key (have accept_sources, api_key_env, api_key_file, engine, extra_body, headers, labels, launch, model, proxy, server, tls)"},
		{"unknown_key_dataset", "unknown_key_dataset.yaml:8: datasets[1].prompt_colum: unknown key (did you mean prompt_column?)"},
		{"unknown_key_exclude", "unknown_key_exclude.yaml:9: exclude[0].datset: unknown key (did you mean dataset?)"},
		{"unknown_key_launch", "unknown_key_launch.yaml:7: servers[0].launch.comand: unknown key (did you mean command?)"},
		{"unknown_key_server", "unknown_key_server.yaml:7: servers[0].api_key_evn: unknown key (did you mean api_key_env?)"},
		{"unknown_key_top", "unknown_key_top.yaml:8: max_new_token: unknown key (did you mean max_new_tokens?)"},
		{"unknown_key_without_likeness", "unknown_key_without_likeness.yaml:8: frobnicate: unknown key (have abort_after_failures, accept_sources, api_key_env, api_key_file, arrivals, baseline_server, concurrency, datasets, datasets_config, description, engine, exclude, extra_body, headers, include, labels, max_duration_s, max_new_tokens, max_retries, min_effect, model, name, num_prompts, num_steps, order, prefix_cache, proxy, repeats, request_rate, save_outputs, save_requests, seed, server_wait_s, servers, shuffle_seed, slo, stream, strict, temperature, thresholds, timeout_s, top_k, top_p, version, warmup_prompts, zip)"},
		{"url_bad_with_password_of_a_variable", `url_bad_with_password_of_a_variable.yaml:5: servers[0].server: not a URL: "http://…@h:x"`},
		{"url_blank", `url_blank.yaml:5: servers[0].server: not a URL: invalid character " " in host name in "http://a b:1"`},
		{"url_empty", "url_empty.yaml:5: servers[0].server: must not be empty"},
		{"url_fragment", `url_fragment.yaml:5: servers[0].server: want a root URL without ? and # (have "http://h:1/#a")`},
		{"url_ipv6_without_brackets", "url_ipv6_without_brackets.yaml:5: servers[0].server: an IPv6 address needs brackets: http://[::1]:8000"},
		{"url_ipv6_without_port", "url_ipv6_without_port.yaml:5: servers[0].server: an IPv6 address needs brackets: http://[::1]"},
		{"url_ipv6_without_scheme", `url_ipv6_without_scheme.yaml:5: servers[0].server: no scheme in "::1:8000": want http://host:port, as in http://[::1]:8000`},
		{"url_password", "url_password.yaml:5: servers[0].server: a password must not stand in a plan: use ${VAR}"},
		{"url_password_default", "url_password_default.yaml:5: servers[0].server: a password must not stand in a plan: use ${VAR}"},
		{"url_port_empty", `url_port_empty.yaml:5: servers[0].server: no port after the colon in "http://h:"`},
		{"url_port_large", "url_port_large.yaml:5: servers[0].server: no such port: 70000"},
		{"url_port_only", `url_port_only.yaml:5: servers[0].server: no host in "http://:8000"`},
		{"url_port_variable", "url_port_variable.yaml:5: servers[0].server: {port} is chosen when launch starts the server: give launch, or a port"},
		{"url_port_word", `url_port_word.yaml:5: servers[0].server: not a URL: invalid port ":x" after host in "http://h:x"`},
		{"url_port_zero", "url_port_zero.yaml:5: servers[0].server: no such port: 0"},
		{"url_query", `url_query.yaml:5: servers[0].server: want a root URL without ? and # (have "http://h:1?a=b")`},
		{"url_scheme", `url_scheme.yaml:5: servers[0].server: want http or https (have "ftp://h:1")`},
		{"url_without_host", `url_without_host.yaml:5: servers[0].server: no host in "http:///v1"`},
		{"url_without_scheme", `url_without_scheme.yaml:5: servers[0].server: no scheme in "localhost:8000": want http://host:port, as in http://localhost:8000`},
		{"variable_in_extra_body", `variable_in_extra_body.yaml:8: extra_body.a[0]["b.c"]: variable NOBODY is not set: set it, or write ${NOBODY:-default}`},
		{"variable_malformed", "variable_malformed.yaml:8: model: ${A B} is not understood: want ${VAR} or ${VAR:-default} (a literal ${ is written $${)"},
		{"variable_nested", "variable_nested.yaml:8: model: ${A:-${B} is not understood: want ${VAR} or ${VAR:-default} (a literal ${ is written $${)"},
		{"variable_unclosed", "variable_unclosed.yaml:8: model: a ${ without its } (a literal ${ is written $${)"},
		{"variable_unset", "" +
			"variable_unset.yaml:8: model: variable NOBODY is not set: set it, or write ${NOBODY:-default}" + "\n" +
			"variable_unset.yaml:8: model: variable NOBODY_ELSE is not set: set it, or write ${NOBODY_ELSE:-default}"},
		{"version_missing", "version_missing.yaml:1: version: required"},
		{"version_unknown", "version_unknown.yaml:1: version: unknown version 2 (have 1)"},
		{"warmup_negative", "warmup_negative.yaml:8: warmup_prompts: must be at least 0 (have -1)"},
		{"warmup_fraction", "warmup_fraction.yaml:8: warmup_prompts: want an integer in plain decimal digits (have 2.5, a number to YAML)"},
		{"warmup_word", `warmup_word.yaml:8: warmup_prompts: want auto or a number of requests (have the string "automatic")`},
		{"word_at_top", `word_at_top.yaml:1: want a mapping (key: value) at the top (have the string "hello")`},
		{"zip_axis_left_out", "zip_axis_left_out.yaml:9: zip[1]: the plan gives no num_prompts to go together with the others"},
		{"zip_groups", "zip_groups.yaml:10: zip[0]: want a string (have a list)"},
		{"zip_one", "zip_one.yaml:10: zip: want at least two axes that go together"},
		{"zip_own", "zip_own.yaml:9: datasets[0].num_prompts: num_prompts is zipped with other axes: a dataset cannot have its own"},
		{"zip_twice", "zip_twice.yaml:10: zip[1]: concurrency is in the list twice"},
		{"zip_unequal", "zip_unequal.yaml:10: zip: zipped axes must be equally long: concurrency has 3, num_prompts has 2"},
		{"zip_unknown", `zip_unknown.yaml:10: zip[1]: unknown axis "num_promts" (did you mean num_prompts?)`},
		{"dataset_no_file_empty_part", "dataset_no_file_empty_part.yaml:7: datasets[0].input_data: no such file or folder: DIR/openai/gsm8k"},
		{"mapping_tagged", "mapping_tagged.yaml:8: labels: want a mapping (key: value) (have a mapping with the tag !mine)"},
		{"include_too_large", "include_too_large.yaml:1: the matrix has more than 100000 runs"},
		{"dataset_home", "dataset_home.yaml:7: datasets[0].input_data: no such file or folder: ~/prompts.jsonl (~ is not expanded: write ${HOME} or the whole path)"},
		{"dataset_no_file", "dataset_no_file.yaml:7: datasets[0].input_data: no such file or folder: DIR/data/nosuch.jsonl; not looked for on the Hub either, since .jsonl is the ending of a file"},
		{"dataset_hub_three_parts", "dataset_hub_three_parts.yaml:7: datasets[0].input_data: no such file or folder: DIR/org/data/main"},
		{"dataset_hub_fields_empty", "" +
			"dataset_hub_fields_empty.yaml:7: datasets[0].dataset_name: must not be empty: leave the key out" + "\n" +
			"dataset_hub_fields_empty.yaml:7: datasets[0].revision: must not be empty: leave the key out" + "\n" +
			"dataset_hub_fields_empty.yaml:7: datasets[0].category_column: must not be empty: leave the key out"},
		{"dataset_nearby", "dataset_nearby.yaml:7: datasets[0].input_data: no such file or folder: DIR/suite/dataset_nmae.yaml (nearby: suite/dataset_name.yaml); not looked for on the Hub either, since .yaml is the ending of a file"},
		{"dataset_preset", `dataset_preset.yaml:7: datasets[0]: no preset "gsm8kk" (did you mean gsm8k?); a dataset of your own is a mapping with name and input_data`},
		{"dataset_preset_and_own", `dataset_preset_and_own.yaml:8: datasets[1].name: "gsm8k" is the name of datasets[0] already`},
		{"dataset_preset_excluded", "dataset_preset_excluded.yaml:8: exclude: everything is excluded: there is nothing to run"},
		{"dataset_preset_number", "dataset_preset_number.yaml:7: datasets[0]: want a string (have 8, a number to YAML: put it in quotes)"},
		{"dataset_preset_twice", `dataset_preset_twice.yaml:8: datasets[1]: "gsm8k" is the name of datasets[0] already`},
		{"dataset_revision_of_a_file", "" +
			"dataset_revision_of_a_file.yaml:9: datasets[0].revision: goes with a dataset on the Hub only, and DIR/prompts.jsonl is a file or folder here" + "\n" +
			"dataset_revision_of_a_file.yaml:10: datasets[0].dataset_name: goes with a dataset on the Hub only, and DIR/prompts.jsonl is a file or folder here"},
		{"dataset_turns_of_messages", "dataset_turns_of_messages.yaml:7: datasets[0].turns: all goes with prompt_column only: a list of messages holds its answers already"},
		{"dataset_turns_unknown", `dataset_turns_unknown.yaml:7: datasets[0].turns: unknown value "last" (have all, first)`},
		{"config_dataset_name", "suite/dataset_name.yaml:2: datasets[0].dataset_name: goes with a dataset on the Hub only, and DIR/prompts.jsonl is a file or folder here"},
		{"shuffle_seed_fraction", "shuffle_seed_fraction.yaml:8: shuffle_seed: want an integer in plain decimal digits (have 1.5, a number to YAML)"},
		{"shuffle_seed_in_quotes", `shuffle_seed_in_quotes.yaml:8: shuffle_seed: want an integer in plain decimal digits (have the string "1": drop the quotes)`},
		{"shuffle_seed_list", "shuffle_seed_list.yaml:8: shuffle_seed: want an integer in plain decimal digits (have a list)"},
		{"shuffle_seed_negative", "shuffle_seed_negative.yaml:8: shuffle_seed: must be from 0 to 18446744073709551615 (have -1)"},
		{"shuffle_seed_too_large", "shuffle_seed_too_large.yaml:8: shuffle_seed: must be from 0 to 18446744073709551615 (have 18446744073709551616)"},
	}
	tests = slices.Concat(tests, badServers(), badTraffic(), badVerdicts())
	known := map[string]bool{}
	for _, tt := range tests {
		known[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			p, err := Load(filepath.Join("testdata", "bad", tt.name+".yaml"), options())
			if diff := cmp.Diff(tt.want, message(t, err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if p != nil {
				t.Error("a plan beside the error")
			}
			if err != nil && strings.Contains(err.Error(), "secret") && !strings.Contains(err.Error(), "a secret must not") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
	files, err := os.ReadDir(filepath.Join("testdata", "bad"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".yaml"); ok && !known[name] {
			t.Errorf("testdata/bad/%s has no row in the table", f.Name())
		}
	}
}
