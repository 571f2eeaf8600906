package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Only picks runs by key and value. The zero value keeps all of them.
type Only struct {
	words map[string][]string // by key, as given
}

const (
	onlyServer  = "server"
	onlyDataset = "dataset"
)

// ParseOnly reads arguments of the form key=value. Keys are server, dataset and
// the axes; a,b and the same key again add values. Values of axes are written as in
// a plan.
func ParseOnly(args []string) (Only, error) {
	o := Only{words: map[string][]string{}}
	keys := append([]string{onlyServer, onlyDataset}, axisNames()...)
	var errs []error
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		switch {
		case !ok || value == "":
			errs = append(errs, fmt.Errorf("--only %s: want key=value, as in concurrency=8", arg))
			continue
		case !slices.Contains(keys, key):
			errs = append(errs, fmt.Errorf("--only %s: unknown key %q %s", arg, key, unknown(key, keys)))
			continue
		}
		if key != onlyServer && key != onlyDataset {
			for word := range strings.SplitSeq(value, ",") {
				if _, err := onlyMatcher(key, word); err != nil {
					errs = append(errs, fmt.Errorf("--only %s: %w", arg, err))
				}
			}
		}
		o.words[key] = append(o.words[key], value)
	}
	if len(errs) > 0 {
		return Only{}, errors.Join(errs...)
	}
	return o, nil
}

// Filter keeps the runs that have one of the values of every key, as they are:
// indices and ids stay. A value that no run has is an error that lists what there
// is, and so is a choice that leaves nothing.
func (o Only) Filter(runs []Run) ([]Run, error) {
	kept := slices.Clone(runs)
	var errs []error
	for _, key := range sortedKeys(o.words) {
		have := valuesOf(key, runs)
		var matchers []func(*Run) bool
		for _, word := range splitWords(o.words[key], have) {
			match, err := onlyMatcher(key, word)
			if err != nil {
				return nil, fmt.Errorf("--only %s=%s: %w", key, word, err)
			}
			if !slices.ContainsFunc(runs, func(r Run) bool { return match(&r) }) {
				errs = append(errs, fmt.Errorf("--only %s=%s: no run has it (have %s)", key, word, strings.Join(have, ", ")))
			}
			matchers = append(matchers, match)
		}
		kept = slices.DeleteFunc(kept, func(r Run) bool {
			return !slices.ContainsFunc(matchers, func(match func(*Run) bool) bool { return match(&r) })
		})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if len(kept) == 0 && len(runs) > 0 {
		return nil, errors.New("--only: each value is there, but no run has all of them together")
	}
	return kept, nil
}

// splitWords splits at commas, except a name that has a comma in it.
func splitWords(values, names []string) []string {
	var words []string
	for _, v := range values {
		if slices.Contains(names, v) {
			words = append(words, v)
			continue
		}
		words = append(words, strings.Split(v, ",")...)
	}
	return words
}

// onlyMatcher is the test for one value of a key.
func onlyMatcher(key, word string) (func(*Run) bool, error) {
	bad := fmt.Errorf("%q is no value of %s", word, key)
	number, err := strconv.Atoi(word)
	isInt := err == nil && intForm.MatchString(word)
	switch key {
	case onlyServer:
		return func(r *Run) bool { return r.Server.Name == word }, nil
	case onlyDataset:
		return func(r *Run) bool { return r.Dataset.Name == word }, nil
	case axisTemperature:
		f, err := strconv.ParseFloat(word, 64)
		if err != nil || !floatForm.MatchString(word) {
			return nil, bad
		}
		return func(r *Run) bool { return r.Temperature == f }, nil
	case axisRequestRate:
		f, ok := parseRate(word)
		if !ok {
			return nil, bad
		}
		return func(r *Run) bool { return r.rate() == f }, nil
	case axisNumPrompts:
		n := NumPrompts{N: number}
		if perSlotForm.MatchString(word) {
			n.N, err = strconv.Atoi(strings.TrimSuffix(word, "x"))
			n.PerSlot, isInt = true, err == nil
		}
		if !isInt || checkNumPrompts(n) != "" {
			return nil, bad
		}
		return func(r *Run) bool { return r.asks(n) }, nil
	}
	if !isInt {
		return nil, bad
	}
	return func(r *Run) bool {
		return key == axisConcurrency && r.Concurrency == number || key == axisMaxNewTokens && r.MaxNewTokens == number
	}, nil
}

// valuesOf lists the values of a key that the runs have, in their order.
func valuesOf(key string, runs []Run) []string {
	var out []string
	seen := map[string]bool{}
	for i := range runs {
		r := &runs[i]
		value := map[string]string{
			onlyServer: r.Server.Name, onlyDataset: r.Dataset.Name,
			axisConcurrency: strconv.Itoa(r.Concurrency), axisMaxNewTokens: strconv.Itoa(r.MaxNewTokens),
			axisTemperature: strconv.FormatFloat(r.Temperature, 'g', -1, 64), axisNumPrompts: strconv.Itoa(r.NumPrompts),
			axisRequestRate: rateText(r.rate()),
		}[key]
		if !seen[value] {
			seen[value] = true
			out = append(out, value)
		}
	}
	return out
}
