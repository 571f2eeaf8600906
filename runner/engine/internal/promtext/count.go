package promtext

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// maxCount is the largest number up to which a float64 holds every whole number.
const maxCount = 1 << 53

// Count is a counter's value for one label set.
type Count struct {
	Labels map[string]string
	N      int64
}

// Counts is a counter's values, one a label set, in the order of their keys; none
// when the exposition lacks it. Nothing but whole numbers is a count, and a label
// set that comes twice does not say which of its values holds: both make the
// scrape unreadable.
func (m Metrics) Counts(name string) ([]Count, error) {
	counts := make([]Count, 0, len(m[name]))
	seen := map[string]bool{}
	for _, s := range m[name] {
		key := Key(s.Labels)
		if v := s.Value; math.IsNaN(v) || v < 0 || v > maxCount || v != math.Trunc(v) {
			return nil, fmt.Errorf("metrics unreadable: %s{%s}: %v is not a count", name, key, v)
		}
		if seen[key] {
			return nil, fmt.Errorf("metrics unreadable: %s{%s} stands there twice", name, key)
		}
		seen[key] = true
		counts = append(counts, Count{Labels: s.Labels, N: int64(s.Value)})
	}
	slices.SortFunc(counts, func(a, b Count) int { return cmp.Compare(Key(a.Labels), Key(b.Labels)) })
	return counts, nil
}

// Key is a label set as one text that can be compared: sorted by name, without
// those of leaveOut.
func Key(labels map[string]string, leaveOut ...string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !slices.Contains(leaveOut, name) {
			parts = append(parts, fmt.Sprintf("%s=%q", name, labels[name]))
		}
	}
	return strings.Join(parts, ",")
}
