package result

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func ptr[T any](v T) *T { return &v }

// fullRow has a value in every field, so that a field that is forgotten
// somewhere is noticed.
func fullRow(t *testing.T) Row {
	t.Helper()
	var r Row
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		fill(t, v.Type().Field(i).Name, v.Field(i), i)
	}
	r.SchemaVersion = SchemaVersion
	return r
}

func fill(t *testing.T, name string, f reflect.Value, i int) {
	t.Helper()
	switch f.Interface().(type) {
	case string:
		f.SetString(strings.ToLower(name))
	case int:
		f.SetInt(int64(i + 1))
	case float64:
		f.SetFloat(float64(i) + 0.1)
	case *int:
		f.Set(reflect.ValueOf(ptr(i)))
	case *int64:
		f.Set(reflect.ValueOf(ptr(int64(i) << 33)))
	case *float64:
		f.Set(reflect.ValueOf(ptr(1.0 / float64(i+1))))
	case Floats:
		f.Set(reflect.ValueOf(Floats{0.8, 1.0 / 3, 0}))
	case []Category:
		f.Set(reflect.ValueOf([]Category{{"math", 2, 10, 20}}))
	case map[string]string:
		f.Set(reflect.ValueOf(map[string]string{"gpu": "1xH100", "note": "=1+1"}))
	case Warnings:
		f.Set(reflect.ValueOf(Warnings{{Code: "a_b", Columns: []string{"speedup"}, Text: "one: two"}, {Code: "c", Text: "three"}}))
	case time.Time:
		f.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)))
	default:
		t.Fatalf("field %s has a type that the tests do not know: %s", name, f.Type())
	}
}
