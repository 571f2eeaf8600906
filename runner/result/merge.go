package result

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Merged is several run-sets of one plan as one, in memory. The folders that it was
// read from are never changed.
type Merged struct {
	Rows     []Row    // by run_index, each run once
	Manifest Manifest // with Shards, Missing and Notes

	parts []part
	from  map[string]int // run_id → the part that its row is of
}

// part is one run-set of a merge.
type part struct {
	dir      string
	manifest Manifest
	rows     []Row // until they are taken
	count    int   // of the rows
	problems []string
	dropped  bool // another part's row counts for one of its runs
}

// MismatchError says that two run-sets are not of one plan: their rows are no answers to
// the same question.
type MismatchError struct {
	What   string // that differs, for people
	DirA   string
	A      string
	DirB   string
	B      string
	Advice string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s and %s cannot be merged: %s is %s in the first and %s in the second; %s", e.DirA, e.DirB, e.What, e.A, e.B, e.Advice)
}

// Merge reads run-sets of one plan and makes one of them: rows by run_id, an ok row
// before one with an error, then the one that was started later. What it had to decide
// and what it could not read is in Manifest.Notes, what no run-set has a row of in
// Manifest.Missing. Run-sets of different plans are a MismatchError; a run-set without
// rows is none. Doubts that come from differences between the run-sets are warnings of
// the rows, with code CodeShardsDiffer.
func Merge(ctx context.Context, dirs []string) (*Merged, error) {
	if len(dirs) == 0 {
		return nil, errors.New("no run-set to merge")
	}
	m := &Merged{from: map[string]int{}}
	var err error
	if m.parts, err = readParts(ctx, dirs); err != nil {
		return nil, err
	}
	if err := samePlan(m.parts); err != nil {
		return nil, err
	}
	m.take()
	m.describe()
	m.mark()
	return m, nil
}

// samePlan refuses run-sets of different plans.
func samePlan(parts []part) error {
	for i := range parts {
		a, b := &parts[0], &parts[i]
		mismatch := func(what, va, vb, advice string) error {
			return &MismatchError{what, a.dir, va, b.dir, vb, advice}
		}
		const together = "merge only what one plan has made"
		switch {
		case a.manifest.Plan != b.manifest.Plan:
			return mismatch("the plan", a.manifest.Plan, b.manifest.Plan, together)
		case a.manifest.PlanSHA256 != b.manifest.PlanSHA256:
			return mismatch("plan_sha256 of plan "+a.manifest.Plan, a.manifest.PlanSHA256, b.manifest.PlanSHA256,
				"the plan was changed in between: run the shards of one version of it")
		}
	}
	whole := firstWhole(parts)
	for i := range parts {
		if w := parts[i].manifest.Whole; w != nil && w.RunsSHA256 != whole.manifest.Whole.RunsSHA256 {
			text := func(p *part) string {
				return fmt.Sprintf("%s (%d runs)", p.manifest.Whole.RunsSHA256, p.manifest.Whole.Runs)
			}
			return &MismatchError{"the hash of the plan's runs", whole.dir, text(whole), parts[i].dir, text(&parts[i]),
				"give every shard the same --only and workload flags"}
		}
	}
	return nil
}

// firstWhole is the first part that knows the whole plan; nil: none does.
func firstWhole(parts []part) *part {
	for i := range parts {
		if parts[i].manifest.Whole != nil {
			return &parts[i]
		}
	}
	return nil
}

// take picks the row of each run.
func (m *Merged) take() {
	total := 0
	for i := range m.parts {
		total += m.parts[i].count
	}
	m.Rows = make([]Row, 0, total)
	at := make(map[string]int, total) // run_id → position in Rows
	twice := map[[2]int]int{}
	for i := range m.parts {
		p := &m.parts[i]
		for _, row := range p.rows {
			j, ok := at[row.RunID]
			if !ok {
				at[row.RunID] = len(m.Rows)
				m.from[row.RunID] = i
				m.Rows = append(m.Rows, row)
				continue
			}
			other := m.from[row.RunID]
			if row.OK() && m.Rows[j].OK() {
				twice[[2]int{other, i}]++
			}
			if !later(&row, &m.Rows[j]) {
				p.dropped = true
				continue
			}
			m.parts[other].dropped = true
			m.Rows[j], m.from[row.RunID] = row, i
		}
		p.rows = nil
	}
	order := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
	for _, pair := range slices.SortedFunc(maps.Keys(twice), order) {
		m.note("%d runs have an ok row in %s and in %s: the one that was started later counts", twice[pair], m.parts[pair[0]].dir, m.parts[pair[1]].dir)
	}
	slices.SortStableFunc(m.Rows, func(a, b Row) int { return a.RunIndex - b.RunIndex })
}

// later tells whether a row counts before another of the same run.
func later(r, than *Row) bool {
	if r.OK() != than.OK() {
		return r.OK()
	}
	return r.StartedAt.After(than.StartedAt)
}

func (m *Merged) note(format string, args ...any) {
	m.Manifest.Notes = append(m.Manifest.Notes, fmt.Sprintf(format, args...))
}
