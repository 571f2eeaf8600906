package dataset

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// trainSplit is the split of a single file, and the one that is read when none is
// named.
const trainSplit = "train"

// Split says which rows to read: the slices one after the other.
type Split []Slice

// Slice is a part of a named split. Rows count from 0; From is in the slice, To is
// not. A nil bound is open.
type Slice struct {
	Name     string
	From, To *Bound
}

// Bound is one end of a slice, counted from the end of the split when it is
// negative.
type Bound struct {
	N       int // rows or, from -100 to 100, percent of the split's rows
	Percent bool
}

// splitSyntax ends the error of a split that cannot be read.
const splitSyntax = "write name, name[10:20], name[:10%], name[-5:], or a sum of these such as train[:10]+test[20:30]"

// slicePattern is one slice as the Hugging Face datasets library writes it: the
// name, then both ends with their percent signs.
var slicePattern = regexp.MustCompile(
	`^([\pL\pN_]+(?:\.[\pL\pN_]+)*)(\[(?:(-?[0-9]+(?:_[0-9]+)*)(%)?)?:(?:(-?[0-9]+(?:_[0-9]+)*)(%)?)?\])?$`)

// ParseSplit reads a split as the Hugging Face datasets library spells it. A slice
// with one bound in percent and one in rows, which that library silently takes for
// percent both, is refused.
func ParseSplit(text string) (Split, error) {
	var split Split
	for part := range strings.SplitSeq(text, "+") {
		slice, err := parseSlice(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("split %q: %w; %s", text, err, splitSyntax)
		}
		split = append(split, slice)
	}
	return split, nil
}

func parseSlice(text string) (Slice, error) {
	m := slicePattern.FindStringSubmatch(text)
	if m == nil {
		return Slice{}, fmt.Errorf("%q is no split", text)
	}
	from, err := parseBound(m[3], m[4])
	if err != nil {
		return Slice{}, err
	}
	to, err := parseBound(m[5], m[6])
	if err != nil {
		return Slice{}, err
	}
	if from != nil && to != nil && from.Percent != to.Percent && from.N != 0 {
		return Slice{}, fmt.Errorf("%q has one bound in percent and one in rows", text)
	}
	return Slice{Name: m[1], From: from, To: to}, nil
}

func parseBound(digits, percent string) (*Bound, error) {
	if digits == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(strings.ReplaceAll(digits, "_", ""))
	if err != nil {
		return nil, fmt.Errorf("bound %s: %w", digits, err)
	}
	if percent != "" && (n < -100 || n > 100) {
		return nil, fmt.Errorf("bound %s%% is not between -100%% and 100%%", digits)
	}
	return &Bound{N: n, Percent: percent != ""}, nil
}

// String is the split as ParseSplit reads it.
func (s Split) String() string {
	parts := make([]string, len(s))
	for i, p := range s {
		parts[i] = p.String()
	}
	return strings.Join(parts, "+")
}

// String is the slice as ParseSplit reads it.
func (s Slice) String() string {
	if s.From == nil && s.To == nil {
		return s.Name
	}
	return s.Name + "[" + s.From.String() + ":" + s.To.String() + "]"
}

// String is the bound as ParseSplit reads it; an open one is empty.
func (b *Bound) String() string {
	switch {
	case b == nil:
		return ""
	case b.Percent:
		return strconv.Itoa(b.N) + "%"
	}
	return strconv.Itoa(b.N)
}

// needsTotal says whether the slice's place depends on how many rows there are.
func (s Slice) needsTotal() bool {
	return s.From.needsTotal() || s.To.needsTotal()
}

func (b *Bound) needsTotal() bool { return b != nil && (b.Percent || b.N < 0) }

// bounds is the slice in rows, from at the first and to after the last. What is
// out of range is cut off. total, the rows of the split, is used only when
// needsTotal.
func (s Slice) bounds(total int) (from, to int) {
	from, to = 0, math.MaxInt
	if s.From != nil {
		from = s.From.at(total)
	}
	if s.To != nil {
		to = s.To.at(total)
	}
	return from, max(from, to)
}

// at is the bound in rows. A percentage is rounded to the nearest row and, half
// way, to the even one, as Python's round does.
func (b *Bound) at(total int) int {
	n := b.N
	if b.Percent {
		n = int(math.RoundToEven(float64(b.N) * float64(total) / 100))
	}
	// A negative percentage that rounds to nothing is row 0, not the end:
	// Python's -0 is 0.
	if n < 0 {
		n = max(total+n, 0)
	}
	return n
}
