package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// positions is how many tokens a draft has.
func (c Config) positions() int {
	n := len(c.Accept)
	for _, rates := range c.AcceptFor {
		n = max(n, len(rates))
	}
	return n
}

// ratesFor is the rates that are in force for a prompt, one a position.
func (c Config) ratesFor(messages []json.RawMessage) []float64 {
	if c.NoSpec {
		return nil
	}
	for _, word := range slices.Sorted(maps.Keys(c.AcceptFor)) {
		has := func(m json.RawMessage) bool { return bytes.Contains(m, []byte(word)) }
		if slices.ContainsFunc(messages, has) {
			return padded(c.AcceptFor[word], c.positions())
		}
	}
	return c.drafting()
}

// padded is rates with zeros up to n positions.
func padded(rates []float64, n int) []float64 {
	if len(rates) >= n {
		return rates
	}
	return append(slices.Clone(rates), make([]float64, n-len(rates))...)
}

// checkRates reports what rates by position cannot be.
func checkRates(name string, rates []float64) []error {
	var errs []error
	last := 1.0
	for i, rate := range rates {
		if err := share(rate); err != nil {
			errs = append(errs, fmt.Errorf("%s: position %d: %w", name, i, err))
			continue
		}
		if rate > last {
			errs = append(errs, fmt.Errorf("%s: position %d: %v is above the %v before it: a draft is accepted from its start, so rates must not increase", name, i, rate, last))
		}
		last = rate
	}
	return errs
}
