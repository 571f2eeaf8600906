package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/report/gate"
	"github.com/specsweep/specsweep/report/table"
)

// metrics is the columns that a threshold may name: those that are numbers.
func metrics() []string {
	var names []string
	for _, c := range table.Columns() {
		if c.Value != nil {
			names = append(names, c.Name)
		}
	}
	return names
}

// limitsOf is the plan's thresholds as report/gate judges them: those that speak of any
// of the runs. --only may have left the others without a cell.
func limitsOf(p *plan.Plan, runs []plan.Run) []gate.Limit {
	var limits []gate.Limit
	for _, t := range p.Thresholds {
		if !slices.ContainsFunc(runs, func(r plan.Run) bool { return t.Where.Matches(&r) }) {
			continue
		}
		w := gate.Where{
			Servers: t.Where.Servers, Datasets: t.Where.Datasets, Concurrency: t.Where.Concurrency,
			MaxNewTokens: t.Where.MaxNewTokens, Temperature: t.Where.Temperature, Labels: t.Where.Labels,
		}
		for _, n := range t.Where.NumPrompts {
			prompts := gate.Prompts{N: n.N, PerSlot: n.PerSlot}
			if n.PerSlot {
				prompts.Least = plan.MinPerSlot
			}
			w.NumPrompts = append(w.NumPrompts, prompts)
		}
		for _, rate := range t.Where.RequestRate {
			if math.IsInf(rate, 0) {
				rate = 0
			}
			w.RequestRate = append(w.RequestRate, rate)
		}
		limits = append(limits, gate.Limit{Metric: t.Metric, Min: t.Min, Max: t.Max, Where: w})
	}
	return limits
}

// encodeLimits is the thresholds as the manifest keeps them, so that they can be judged
// again without the plan.
func encodeLimits(limits []gate.Limit) json.RawMessage {
	if len(limits) == 0 {
		return nil
	}
	text, err := json.Marshal(limits)
	if err != nil {
		panic(fmt.Sprintf("thresholds that are no JSON: %v", err)) // plan lets finite numbers through only
	}
	return text
}

// missed is the error of limits that were missed; nil for none.
func missed(misses []gate.Miss) error {
	if len(misses) == 0 {
		return nil
	}
	lines := make([]string, len(misses))
	for i, m := range misses {
		lines[i] = m.String()
	}
	return &codeError{exitMissed, fmt.Errorf("%s", strings.Join(lines, "\n"))}
}

// missedAbove is the same for a command that has put the list of them on stdout.
func missedAbove(misses []gate.Miss) error {
	switch n := len(misses); n {
	case 0:
		return nil
	case 1:
		return &codeError{exitMissed, errors.New("1 limit missed")}
	default:
		return &codeError{exitMissed, fmt.Errorf("%d limits missed", n)}
	}
}
