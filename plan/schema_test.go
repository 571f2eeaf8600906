package plan

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate holds a plan against the schema as an editor would: YAML as JSON.
func validate(t *testing.T, s *jsonschema.Schema, file string) error {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(textKeys(v))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// textKeys turns keys that YAML takes for numbers into text, as JSON has them.
func textKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			v[k] = textKeys(inner)
		}
	case map[any]any:
		out := map[string]any{}
		for k, inner := range v {
			out[fmt.Sprint(k)] = textKeys(inner)
		}
		return out
	case []any:
		for i := range v {
			v[i] = textKeys(v[i])
		}
	}
	return v
}

func TestSchemaAcceptsGoodPlans(t *testing.T) {
	s := compileSchema(t)
	files, err := filepath.Glob(filepath.Join("testdata", "good", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		if err := validate(t, s, f); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestSchemaRefusesBadPlans(t *testing.T) {
	s := compileSchema(t)
	for _, name := range []string{
		"unknown_key_top", "unknown_key_server", "unknown_key_dataset", "unknown_key_launch", "unknown_key_baseline", "unknown_key_exclude",
		"version_missing", "version_unknown", "name_missing", "servers_missing", "servers_empty", "server_url_missing", "dataset_input_missing",
		"dataset_preset", "dataset_preset_number", "dataset_turns_unknown", "shuffle_seed_negative", "shuffle_seed_fraction",
		"shuffle_seed_in_quotes", "shuffle_seed_list", "integer_fraction", "integer_in_quotes", "integer_true", "list_of_mixed_types", "concurrency_zero", "concurrency_empty",
		"concurrency_twice", "num_prompts_word", "num_prompts_zero", "num_prompts_zero_per_slot", "temperature_negative", "string_number",
		"command_number", "top_p_zero", "top_p_above_one", "top_k_zero", "max_retries_negative", "timeout_zero", "server_wait_negative",
		"order_unknown", "launch_restart", "launch_command_empty", "label_is_a_list", "extra_body_list", "zip_one", "exclude_list_empty",
		"for_port", "for_word", "for_empty", "for_values_empty", "for_values_word", "for_value_list", "for_steps_unquoted", "for_baseline",
		"threshold_no_metric", "threshold_min_word", "threshold_unknown_key", "threshold_where_labels_list", "thresholds_mapping",
		"min_effect_negative", "min_effect_percent", "stream_word", "slo_zero", "slo_unknown", "slo_word", "request_rate_zero",
		"request_rate_word", "request_rate_empty", "arrivals_unknown", "seed_negative", "save_requests_word", "tls_unknown", "tls_top",
		"abort_zero", "abort_fraction", "max_duration_zero", "max_duration_word", "max_duration_unknown",
		"no_value", "mapping_is_a_word", "list_is_a_mapping",
	} {
		if err := validate(t, s, filepath.Join("testdata", "bad", name+".yaml")); err == nil {
			t.Errorf("%s.yaml passes", name)
		}
	}
}

// Each key of a plan says in the schema what it is for.
func TestSchemaDescribesEveryKey(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]struct {
			Description string
			OneOf       []struct{ Description string }
		}
	}
	var root struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	root.Defs["plan"] = root.object
	keys := 0
	for name, def := range root.Defs {
		for key, p := range def.Properties {
			keys++
			if p.Description == "" && (len(p.OneOf) == 0 || p.OneOf[0].Description == "") {
				t.Errorf("%s.%s has no description", name, key)
			}
		}
	}
	if keys < 60 {
		t.Errorf("only %d keys in the schema", keys)
	}
}
