package dataset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
)

// maxAhead is how many rows are read together at most to make up for skipped ones.
const maxAhead = 1024

// shuffled takes rows in the order of a seed until there are n prompts. A plain
// slice, name[a:b], is a part of the shuffled split; of every other form of split
// the rows are shuffled that it selects, which is how the reference tools differ.
//
// Rows are read in batches, sorted by where they lie: as many as prompts are
// missing, and more only after rows were skipped.
func (l *loader) shuffled(ctx context.Context, src *source, split Split, seed uint64) error {
	d := &deck{columns: l.conv.wants(), tables: map[string]table{}}
	defer d.close()
	for _, part := range split {
		files, err := src.split(part.Name)
		if err != nil {
			return err
		}
		if split.plain() {
			part = Slice{Name: part.Name}
		}
		if err := d.add(ctx, files, part); err != nil {
			return err
		}
	}
	order, err := permutation(ctx, seed, d.rows)
	if err != nil {
		return fmt.Errorf("shuffling %s: %w", src.path, err)
	}
	if split.plain() {
		from, to := split[0].bounds(d.rows)
		order = order[min(from, len(order)):min(to, len(order))]
	}
	for len(order) > 0 && l.missing() > 0 {
		ahead := min(l.missing()+l.set.Rows-len(l.set.Prompts), maxAhead)
		n := min(max(l.missing(), ahead), len(order))
		rows, err := d.deal(ctx, order[:n])
		if err != nil && n > l.missing() {
			// A fault in a row that may not be needed is none yet.
			n = l.missing()
			rows, err = d.deal(ctx, order[:n])
		}
		if err != nil {
			return err
		}
		for _, r := range rows {
			if l.missing() == 0 {
				break
			}
			if err := l.take(r); err != nil {
				return err
			}
		}
		order = order[n:]
	}
	return nil
}

// plain says whether a split is shuffled before it is sliced: one name, and bounds
// without signs.
func (s Split) plain() bool { return len(s) == 1 && !s[0].needsTotal() }

// deck is the rows of a split in order, readable in any.
type deck struct {
	columns []string
	tables  map[string]table // by path: the parts of a sum may share files
	spans   []span
	rows    int
}

// span is rows of one file that follow each other in the deck.
type span struct {
	path   string
	table  table
	at     int // the deck's number of the first row
	index  int // the file's number of it
	number int // the split's number of it
	rows   int
}

// add appends a part of a split to the deck.
func (d *deck) add(ctx context.Context, files []file, part Slice) error {
	total := 0
	for _, f := range files {
		t, err := d.table(ctx, f)
		if err != nil {
			return err
		}
		total += t.count()
	}
	from, to := part.bounds(total)
	before := 0
	for _, f := range files {
		t := d.tables[f.path]
		first, end := max(from, before), min(to, before+t.count())
		if first < end {
			d.spans = append(d.spans, span{path: f.path, table: t, at: d.rows, index: first - before, number: first, rows: end - first})
			d.rows += end - first
		}
		before += t.count()
	}
	return nil
}

func (d *deck) table(ctx context.Context, f file) (table, error) {
	if t, ok := d.tables[f.path]; ok {
		return t, nil
	}
	t, err := f.format.index(ctx, f, d.columns)
	if err != nil {
		return nil, err
	}
	d.tables[f.path] = t
	return t, nil
}

// wanted is a row to read: where it lies, and which place it has in the answer.
type wanted struct {
	span         *span
	index, place int
}

// deal gives the deck's rows of these numbers, in the order of the numbers.
func (d *deck) deal(ctx context.Context, numbers []int) ([]row, error) {
	want := make([]wanted, len(numbers))
	for place, number := range numbers {
		s := d.spanOf(number)
		want[place] = wanted{s, s.index + number - s.at, place}
	}
	slices.SortFunc(want, func(a, b wanted) int {
		return cmp.Or(cmp.Compare(a.span.path, b.span.path), cmp.Compare(a.index, b.index))
	})
	rows := make([]row, len(numbers))
	for len(want) > 0 {
		n := 1
		for n < len(want) && want[n].span.path == want[0].span.path {
			n++
		}
		if err := readInto(ctx, rows, want[:n]); err != nil {
			return nil, err
		}
		want = want[n:]
	}
	return rows, nil
}

// readInto reads rows of one file to their places.
func readInto(ctx context.Context, rows []row, want []wanted) error {
	indexes := make([]int, len(want))
	for i, w := range want {
		indexes[i] = w.index
	}
	next := 0
	for r, err := range want[0].span.table.pick(ctx, slices.Compact(indexes)) {
		if err != nil {
			return err
		}
		for ; next < len(want) && want[next].index == r.index; next++ {
			s := want[next].span
			r.number = s.number + r.index - s.index
			rows[want[next].place] = r
		}
	}
	return nil
}

// spanOf finds the span that holds a row of the deck.
func (d *deck) spanOf(number int) *span {
	i := sort.Search(len(d.spans), func(i int) bool { return d.spans[i].at > number })
	return &d.spans[i-1]
}

func (d *deck) close() {
	for _, t := range d.tables {
		t.close()
	}
}
