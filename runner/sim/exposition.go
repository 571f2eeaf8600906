package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// exposition writes the Prometheus text format as Python's prometheus_client
// does: counters end in _total and have a gauge _created beside them, labels are
// sorted, numbers are floats.
type exposition struct {
	strings.Builder
	labels  []string // of every series
	created string
}

// point is one series of a family.
type point struct {
	label string // beside those of every series; may be empty
	value int64
}

func newExposition(model string, created time.Time) *exposition {
	return &exposition{
		labels:  []string{label("engine", "0"), label("model_name", model)},
		created: strconv.FormatFloat(float64(created.UnixNano())/1e9, 'e', -1, 64),
	}
}

func label(name, value string) string {
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// positions is one point a position in the draft.
func positions(counts []int64) []point {
	points := make([]point, len(counts))
	for i, n := range counts {
		points[i] = point{label("position", strconv.Itoa(i)), n}
	}
	return points
}

func (e *exposition) counter(name, help string, points ...point) {
	e.head(name+"_total", help, "counter")
	for _, p := range points {
		e.sample(name+"_total", p.label, float(float64(p.value)))
	}
	e.head(name+"_created", help, "gauge")
	for _, p := range points {
		e.sample(name+"_created", p.label, e.created)
	}
}

// histogram has the one bucket that the format asks for.
func (e *exposition) histogram(name, help string, count int64, sum time.Duration) {
	e.head(name, help, "histogram")
	e.sample(name+"_bucket", label("le", "+Inf"), float(float64(count)))
	e.sample(name+"_count", "", float(float64(count)))
	e.sample(name+"_sum", "", float(sum.Seconds()))
	e.head(name+"_created", help, "gauge")
	e.sample(name+"_created", "", e.created)
}

func (e *exposition) head(name, help, kind string) {
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (e *exposition) sample(name, extra, value string) {
	labels := e.labels
	if extra != "" {
		labels = append(slices.Clone(labels), extra)
		slices.Sort(labels)
	}
	fmt.Fprintf(e, "%s{%s} %s\n", name, strings.Join(labels, ","), value)
}

// float writes whole numbers with their .0.
func float(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
