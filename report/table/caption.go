package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/runner/result"
)

// caption is the facts that hold for the whole table.
func caption(rows []*result.Row, ls []line, o Options) []string {
	ok, part := 0, 0
	for _, l := range ls {
		switch len(l.ok) {
		case len(l.rows):
			ok++
		case 0:
		default:
			part++
		}
	}
	cells := fmt.Sprintf("%d of %s ok", ok, count(max(len(ls), o.Cells), "cell"))
	if part > 0 {
		cells += fmt.Sprintf(", %d in part", part)
	}
	parts := []string{cells}
	switch {
	case o.Status == result.StatusInterrupted, o.Status == result.StatusFailed, o.Status == result.StatusRunning:
		parts = append(parts, strings.TrimSpace(o.Status+missingRuns(len(rows), o.Runs)))
	case len(rows) < o.Runs:
		parts = append(parts, "not complete"+missingRuns(len(rows), o.Runs))
	}
	if sum := total(column("failed"), rows); sum != nil && *sum > 0 {
		parts = append(parts, count(int(*sum), "failed request"))
	}
	for _, fact := range []string{
		listOf(distinct(rows, column("model")), 3), labels(rows), versions(rows), repeats(ls),
	} {
		if fact != "" {
			parts = append(parts, fact)
		}
	}
	return append(parts, arrivals(rows))
}

// arrivals is how requests came in.
func arrivals(rows []*result.Row) string {
	switch rates := distinct(rows, column("request_rate")); {
	case len(rates) == 0, len(rates) == 1 && rates[0] == "inf":
		return "closed loop"
	default:
		return "request_rate " + listOf(rates, 6)
	}
}

func missingRuns(have, want int) string {
	if want <= 0 {
		return ""
	}
	return fmt.Sprintf(": %d of %s made", have, count(want, "run"))
}

// distinct is the column's texts, in order of appearance, without n/a.
func distinct(rows []*result.Row, c Column) []string {
	var texts []string
	for _, r := range rows {
		if s := c.cell(r); s != NotAvailable && !slices.Contains(texts, s) {
			texts = append(texts, s)
		}
	}
	return texts
}

// labels is those that every row has with one value.
func labels(rows []*result.Row) string {
	if len(rows) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(rows[0].Labels)) {
		value := rows[0].Labels[name]
		if !slices.ContainsFunc(rows, func(r *result.Row) bool {
			v, ok := r.Labels[name]
			return !ok || v != value
		}) {
			parts = append(parts, Clean(name+" "+value, maxText))
		}
	}
	return strings.Join(parts, ", ")
}

// versions is each engine with the versions of it that were measured.
func versions(rows []*result.Row) string {
	var parts []string
	for _, r := range rows {
		s := Clean(r.Engine+" "+r.ServerVersion, maxText)
		if s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	// A server that could not be asked adds no "vllm" beside "vllm 0.32.0".
	all := slices.Clone(parts)
	parts = slices.DeleteFunc(parts, func(s string) bool {
		return slices.ContainsFunc(all, func(t string) bool { return strings.HasPrefix(t, s+" ") })
	})
	return listOf(parts, 4)
}

func repeats(ls []line) string {
	if len(ls) == 0 {
		return ""
	}
	least, most := len(ls[0].rows), len(ls[0].rows)
	for _, l := range ls {
		least, most = min(least, len(l.rows)), max(most, len(l.rows))
	}
	if least < most {
		return fmt.Sprintf("%d to %s", least, count(most, "repeat"))
	}
	return count(most, "repeat")
}

// maxOther is how many means without a dataset of another engine are named.
const maxOther = 5

// remarks say how to read the main table.
func remarks(ls []line, hs []headline, axes []Column, least float64) []string {
	var out []string
	single, several := 0, 0
	for _, l := range ls {
		switch {
		case len(l.ok) == 1:
			single++
		case len(l.ok) > 1:
			several++
		}
	}
	if several > 0 {
		out = append(out, ratioRemarks(ls, least)...)
		out = append(out, "n repeats in a line: throughput is Σ tokens / Σ seconds, acceptance the ratio of summed counts or, where there are none, the mean; failed is summed")
		if timed(ls) {
			out = append(out, "n repeats of a latency: the mean of the repeats' means and quantiles; goodput_req_s is Σ good requests / Σ seconds")
		}
	}
	if single > 0 {
		out = append(out, "n = 1: one run, so nothing is known of how much the value changes from run to run")
	}
	if slices.ContainsFunc(hs, func(h headline) bool { return h.doubt }) && len(ls) > 1 {
		out = append(out, doubtful+" a mean over speedups of which some carry a footnote")
	}
	if slices.ContainsFunc(hs, func(h headline) bool { return h.speedup != nil && len(h.without)+len(h.other) > 0 }) {
		out = append(out, incomplete+" a mean without the datasets that have no speedup there, so not over the same ones as its neighbours")
	}
	other := 0
	for _, h := range hs {
		if len(h.other) == 0 {
			continue
		}
		if other++; other <= maxOther {
			out = append(out, fmt.Sprintf("left out of geometric means (baseline of another engine): %s at %s on %s",
				Clean(h.Server, maxText), h.where(axes), listOf(h.other, 4)))
		}
	}
	if more := other - maxOther; more > 0 {
		out = append(out, fmt.Sprintf("left out of geometric means in the same way: %d more", more))
	}
	return out
}

// timed tells whether any cell with several repeats has a latency or a goodput to show.
func timed(ls []line) bool {
	for _, name := range latencyShown() {
		c := column(name)
		if slices.ContainsFunc(ls, func(l line) bool { return len(l.ok) > 1 && l.value(c) != nil }) {
			return true
		}
	}
	return false
}
