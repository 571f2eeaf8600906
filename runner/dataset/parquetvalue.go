package dataset

import (
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"
)

// jsonColumns makes JSON of a row's values.
func jsonColumns(value any) (map[string]json.RawMessage, error) {
	if value == nil {
		return nil, nil
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a row is a %T, not a record", value)
	}
	columns := make(map[string]json.RawMessage, len(fields))
	for name, v := range fields {
		raw, err := jsonValue(v)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
		columns[name] = raw
	}
	return columns, nil
}

// jsonValue is a parquet value as JSON. A null field of a struct is left out: in
// parquet every row of a column has the fields of all of them, so a null says
// that this row has no such field (tool_calls of a plain message, say). NaN, which
// is how pandas stores a missing number, counts as null.
func jsonValue(v any) (json.RawMessage, error) {
	clean, err := cleanValue(v)
	if err != nil {
		return nil, err
	}
	raw, err := marshal(clean)
	if err != nil {
		return nil, fmt.Errorf("as JSON: %w", err)
	}
	return raw, nil
}

// cleanValue makes values that are encoded right and whole.
func cleanValue(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, field := range v {
			clean, err := cleanValue(field)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", name, err)
			}
			if clean != nil {
				fields[name] = clean
			}
		}
		return fields, nil
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			clean, err := cleanValue(item)
			if err != nil {
				return nil, fmt.Errorf("item %d: %w", i, err)
			}
			list[i] = clean
		}
		return list, nil
	case string:
		return cleanText(v)
	case []byte: // a binary column, and the values of a map
		return cleanText(string(v))
	case float64:
		if math.IsNaN(v) {
			return nil, nil
		}
	case float32:
		if math.IsNaN(float64(v)) {
			return nil, nil
		}
	}
	return v, nil
}

// cleanText refuses what encoding/json would quietly change.
func cleanText(s string) (any, error) {
	if !utf8.ValidString(s) {
		return nil, errNotUTF8
	}
	return s, nil
}
