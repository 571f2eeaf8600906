package plan

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The values of a plan that have a rule. Each checks it while it is decoded, so
// that the problem stands on the line of the item; the same functions check what
// an Override brings in.

// count is an integer of at least 1.
type count int

func (c *count) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	i, ok := d.int(n, path)
	*c = count(i)
	return ok && d.rule(n, path, checkCount(i))
}

func checkCount(i int) string {
	if i < 1 || i > math.MaxInt32 {
		return fmt.Sprintf("must be at least 1 (have %d)", i)
	}
	return ""
}

// counts, temperatures and promptCounts are axes: a value or a list of values.
type counts []int

func (c *counts) decodeYAML(d *decoder, n *yaml.Node, path string) (ok bool) {
	*c, ok = axis(d, n, path, d.int, checkCount)
	return ok
}

type temperatures []float64

func (t *temperatures) decodeYAML(d *decoder, n *yaml.Node, path string) (ok bool) {
	*t, ok = axis(d, n, path, d.float, checkTemperature)
	return ok
}

func checkTemperature(f float64) string {
	if f < 0 || !finite(f) {
		return fmt.Sprintf("must be at least 0 (have %v)", f)
	}
	return ""
}

type promptCounts []NumPrompts

func (p *promptCounts) decodeYAML(d *decoder, n *yaml.Node, path string) (ok bool) {
	*p, ok = axis(d, n, path, d.numPrompts, checkNumPrompts)
	return ok
}

func checkNumPrompts(n NumPrompts) string { return checkCount(n.N) }

// promptCount is a dataset's own num_prompts.
type promptCount NumPrompts

func (p *promptCount) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	v, ok := d.numPrompts(n, path)
	*p = promptCount(v)
	return ok && d.rule(n, path, checkNumPrompts(v))
}

var perSlotForm = regexp.MustCompile(`^(0|[1-9][0-9]*)x$`)

// numPrompts reads 64 or 10x. Variables are not expanded: how much is measured
// stands in the plan.
func (d *decoder) numPrompts(n *yaml.Node, path string) (NumPrompts, bool) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && perSlotForm.MatchString(n.Value) {
		i, err := strconv.ParseInt(strings.TrimSuffix(n.Value, "x"), 10, 32)
		if err != nil {
			return NumPrompts{}, d.outOfRange(n, path)
		}
		return NumPrompts{N: int(i), PerSlot: true}, true
	}
	if !isNumber(n) {
		return NumPrompts{}, d.wrong(n, path, "a number, or a number and x for so many per slot of concurrency: 10x")
	}
	i, ok := d.int(n, path)
	return NumPrompts{N: i}, ok
}

// axis reads a value or a list of distinct ones.
func axis[T comparable](d *decoder, n *yaml.Node, path string, read func(*yaml.Node, string) (T, bool), check func(T) string) ([]T, bool) {
	if !isList(n) {
		v, ok := read(n, path)
		return []T{v}, ok && d.rule(n, path, check(v))
	}
	if len(n.Content) == 0 {
		d.doc.addAt(n.Line, path, "an empty list: give at least one value")
		return nil, false
	}
	var out []T
	good := true
	for i := range n.Content {
		c, at := target(n.Content[i]), item(path, i)
		v, ok := read(c, at)
		ok = ok && d.rule(c, at, check(v))
		if ok && slices.Contains(out, v) {
			d.doc.addAt(c.Line, at, "%v is in the list twice", c.Value)
			ok = false
		}
		good = good && ok
		if ok {
			out = append(out, v)
		}
	}
	return out, good
}

// rule notes what a check says and reports whether it said nothing.
func (d *decoder) rule(n *yaml.Node, path, problem string) bool {
	if problem != "" {
		d.doc.addAt(n.Line, path, "%s", problem)
	}
	return problem == ""
}

// names is a name or a list of names, in exclude and include.
type names []string

func (s *names) decodeYAML(d *decoder, n *yaml.Node, path string) (ok bool) {
	*s, ok = axis(d, n, path, d.text, func(string) string { return "" })
	return ok
}

// formatVersion is the only version of the plan's format there is.
type formatVersion int

func (v *formatVersion) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	i, ok := d.int(n, path)
	if ok && i != 1 {
		return d.rule(n, path, fmt.Sprintf("unknown version %d (have 1)", i))
	}
	return ok
}

// retries is an integer of at least 0.
type retries int

func (r *retries) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	i, ok := d.int(n, path)
	*r = retries(i)
	if ok && i < 0 {
		return d.rule(n, path, fmt.Sprintf("must be at least 0 (have %d)", i))
	}
	return ok
}

// seed is what numpy takes for one word of entropy: 0 to 2^64 - 1.
type seed uint64

func (s *seed) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if !isNumber(n) || !intForm.MatchString(n.Value) {
		return d.wrong(n, path, "an integer in plain decimal digits")
	}
	v, err := strconv.ParseUint(n.Value, 10, 64)
	*s = seed(v)
	if err != nil {
		return d.rule(n, path, fmt.Sprintf("must be from 0 to %d (have %s)", uint64(math.MaxUint64), clip(n.Value)))
	}
	return true
}

// probability is top_p: above 0 and at most 1.
type probability float64

func (p *probability) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	f, ok := d.float(n, path)
	*p = probability(f)
	if ok && (f <= 0 || f > 1) {
		return d.rule(n, path, fmt.Sprintf("must be above 0 and at most 1 (have %s)", n.Value))
	}
	return ok
}

// topK is an integer of at least 1, or -1, which servers take for no limit.
type topK int

func (k *topK) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	i, ok := d.int(n, path)
	*k = topK(i)
	if ok && i < 1 && i != -1 {
		return d.rule(n, path, fmt.Sprintf("must be at least 1, or -1 for no limit (have %d)", i))
	}
	return ok
}

// seconds is a time above 0, waitSeconds one that may be 0.
type (
	seconds     time.Duration
	waitSeconds time.Duration
)

// maxSeconds is a century: far from what a Duration cannot hold.
const maxSeconds = 100 * 365 * 24 * 3600

func (s *seconds) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	v, ok := d.seconds(n, path)
	*s = seconds(v)
	if ok && v <= 0 {
		return d.rule(n, path, fmt.Sprintf("must be above 0 (have %s)", n.Value))
	}
	return ok
}

func (s *waitSeconds) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	v, ok := d.seconds(n, path)
	*s = waitSeconds(v)
	if ok && v < 0 {
		return d.rule(n, path, fmt.Sprintf("must be at least 0 (have %s)", n.Value))
	}
	return ok
}

func (d *decoder) seconds(n *yaml.Node, path string) (time.Duration, bool) {
	f, ok := d.float(n, path)
	if ok && f > maxSeconds {
		return 0, d.rule(n, path, fmt.Sprintf("must be at most %d (have %s)", maxSeconds, clip(n.Value)))
	}
	return time.Duration(max(f, -1) * float64(time.Second)), ok
}
