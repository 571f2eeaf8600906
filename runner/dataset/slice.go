package dataset

import (
	"context"
	"iter"
)

// rows gives the slice's rows out of the files of its split, which count as one
// long file. It counts rows only where the slice's place depends on it, and opens
// no file that the slice does not reach.
func (s Slice) rows(ctx context.Context, files []file, columns []string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		from, to, err := s.place(ctx, files)
		if err != nil {
			yield(row{}, err)
			return
		}
		before := 0 // rows of the files so far
		for i, f := range files {
			if before >= to || from >= to {
				return
			}
			first := max(from-before, 0)
			if first > 0 && i < len(files)-1 {
				n, err := f.format.count(ctx, f)
				if err != nil {
					yield(row{}, err)
					return
				}
				if n <= first {
					before += n
					continue
				}
			}
			end := before + first
			for r, err := range f.format.read(ctx, f, columns, first) {
				if err != nil {
					yield(row{}, err)
					return
				}
				r.number = before + r.index
				end = r.number + 1
				// Stop at the slice's last row: the next may be broken.
				if !yield(r, nil) || end >= to {
					return
				}
			}
			before = end
		}
	}
}

// place is the slice's first row and the one after its last.
func (s Slice) place(ctx context.Context, files []file) (from, to int, err error) {
	total := 0
	if s.needsTotal() {
		for _, f := range files {
			n, err := f.format.count(ctx, f)
			if err != nil {
				return 0, 0, err
			}
			total += n
		}
	}
	from, to = s.bounds(total)
	return from, to, nil
}
