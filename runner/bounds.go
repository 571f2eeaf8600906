package runner

import (
	"context"
	"errors"
	"fmt"
)

// ErrMaxSweep says that a sweep ended because its plan's max_duration_s for the sweep
// had passed; the runs that are left have no row.
var ErrMaxSweep = errors.New("the sweep reached max_duration_s")

// bounded makes the runs in the time that the plan gives the sweep. When it is up, a
// pass that is under way ends at once, as by an interrupt: it could take hours more.
func (s *sweep) bounded(ctx context.Context) error {
	limit := s.Plan.MaxSweepDuration
	if limit <= 0 {
		return s.run(ctx, "interrupted before the baseline")
	}
	own, stop := context.WithTimeoutCause(ctx, limit, ErrMaxSweep)
	defer stop()
	err := s.run(own, "ended before the baseline")
	if !errors.Is(err, ErrMaxSweep) || ctx.Err() != nil {
		return err
	}
	if s.left == 0 {
		return nil // it struck behind the last row
	}
	return fmt.Errorf("%w (sweep: %g s) with %d of %d runs left; --resume makes them", ErrMaxSweep, limit.Seconds(), s.left, len(s.Runs))
}

// flush writes what an early end left waiting for its baseline.
func (s *sweep) flush(cut string) error {
	for r := range s.Runs {
		if p, ok := s.pending[r]; ok {
			base, _ := s.baselineOf(r)
			if err := s.write(r, p, base, cut); err != nil {
				return err
			}
		}
	}
	return nil
}
