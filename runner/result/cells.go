package result

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// formulaStarts are the characters with which a spreadsheet starts to calculate.
const formulaStarts = "=+-@\t"

// neutralise puts an apostrophe before a text that a spreadsheet would take for
// a formula, and before one that restore would otherwise shorten.
func neutralise(cell string) string {
	if cell = visible(newlines(cell)); cell == "" {
		return cell
	}
	if strings.IndexByte(formulaStarts, cell[0]) >= 0 || quoted(cell) {
		return "'" + cell
	}
	return cell
}

// visible spells out what a terminal would obey when somebody prints the file, and
// what turns the reading direction: control characters but line breaks and tabs, and
// the bidirectional controls of Unicode (UAX #9).
func visible(cell string) string {
	if !strings.ContainsFunc(cell, obeyed) {
		return strings.ToValidUTF8(cell, "\ufffd")
	}
	var b strings.Builder
	for _, r := range cell { // a byte that is no UTF-8 comes as U+FFFD
		if !obeyed(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}

func obeyed(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// newlines turns every line break into \n: a CSV reader does so with \r\n, which
// would make a text differ after each round.
func newlines(cell string) string {
	return strings.ReplaceAll(strings.ReplaceAll(cell, "\r\n", "\n"), "\r", "\n")
}

// restore undoes neutralise.
func restore(cell string) string {
	if quoted(cell) {
		return cell[1:]
	}
	return cell
}

func quoted(cell string) bool {
	return len(cell) > 1 && cell[0] == '\'' && strings.IndexByte(formulaStarts+"'", cell[1]) >= 0
}

// columnTypes is what each column of a header holds; nil where Row has no such
// field. Label columns hold text.
func columnTypes(header []string) []reflect.Type {
	fields := map[string]reflect.Type{}
	t := reflect.TypeFor[Row]()
	for i := range t.NumField() {
		ft := t.Field(i).Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		fields[columnName(t.Field(i))] = ft
	}
	types := make([]reflect.Type, len(header))
	for i, name := range header {
		types[i] = fields[name]
		if strings.HasPrefix(name, labelPrefix) {
			types[i] = reflect.TypeFor[string]()
		}
	}
	return types
}

// isText tells whether cells of that type are protected by neutralise. Numbers
// are not, or -1 would become '-1.
func isText(t reflect.Type) bool {
	return t != nil && (t.Kind() == reflect.String || t == reflect.TypeFor[Warnings]())
}

// readCell checks a cell and gives it the form that gocsv reads rightly. On its
// own gocsv takes 2.9 for the integer 2, 010 for 8, a blank for 0 and 1,5 for
// 1.5.
func readCell(cell string, t reflect.Type) (string, error) {
	if isText(t) {
		return restore(visible(newlines(cell))), nil
	}
	if t == nil {
		return cell, nil
	}
	cell = strings.TrimSpace(cell)
	switch {
	case t == reflect.TypeFor[time.Time]():
		if cell == "" {
			cell = time.Time{}.Format(time.RFC3339Nano)
		}
		// Stricter than time.Time itself, which reads years that it cannot write.
		at, err := time.Parse(time.RFC3339Nano, cell)
		if err == nil {
			_, err = at.MarshalText()
		}
		if err != nil {
			return "", fmt.Errorf("%q is not a time like 2026-01-02T15:04:05Z", cell)
		}
	case cell == "":
	case t.Kind() == reflect.Float64:
		if v, err := strconv.ParseFloat(cell, 64); err != nil || !finite(v) {
			return "", fmt.Errorf("%q is not a number (n/a is an empty cell)", cell)
		}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		v, err := strconv.ParseInt(cell, 10, 64)
		if err != nil {
			return "", fmt.Errorf("%q is not a whole number (n/a is an empty cell)", cell)
		}
		return strconv.FormatInt(v, 10), nil
	}
	return cell, nil
}

// columnName is the name of a field in every format.
func columnName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("csv"), ",")
	return name
}

// checkNumbers refuses NaN and infinities: what is not available is nil.
func (r *Row) checkNumbers() error {
	var errs []error
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.Pointer && !f.IsNil() {
			f = f.Elem()
		}
		if f.Kind() == reflect.Float64 && !finite(f.Float()) {
			errs = append(errs, fmt.Errorf("column %s holds %v, which is not a number", columnName(v.Type().Field(i)), f.Float()))
		}
	}
	for i, p := range r.PerPosition {
		if !finite(p) {
			errs = append(errs, fmt.Errorf("column acceptance_per_position holds %v at position %d, which is not a number", p, i+1))
		}
	}
	return errors.Join(errs...)
}

func finite(v float64) bool { return v >= -maxFloat && v <= maxFloat }
