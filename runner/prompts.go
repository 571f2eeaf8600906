package runner

import (
	"context"
	"log/slog"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset"
)

// promptCache loads each dataset once for the whole sweep, as far as its
// largest run needs.
type promptCache struct {
	options dataset.Options
	order   []*plan.Dataset
	need    map[*plan.Dataset]int
	sets    map[*plan.Dataset]loaded
	loaded  func(*plan.Dataset, *dataset.Set) // told of each set that was read; may be nil
}

type loaded struct {
	set *dataset.Set
	err error
}

func newPromptCache(runs []plan.Run, o dataset.Options) *promptCache {
	c := &promptCache{options: o, need: map[*plan.Dataset]int{}, sets: map[*plan.Dataset]loaded{}}
	for _, r := range runs {
		if c.need[r.Dataset] == 0 {
			c.order = append(c.order, r.Dataset)
		}
		c.need[r.Dataset] = max(c.need[r.Dataset], r.NumPrompts)
	}
	return c
}

// alsoFor makes sure that a dataset which is loaded anyhow is read as far as one more
// run would need it.
func (c *promptCache) alsoFor(r *plan.Run) {
	if n, ok := c.need[r.Dataset]; ok {
		c.need[r.Dataset] = max(n, r.NumPrompts)
	}
}

// of is a dataset that has been read; nil when it has not, or could not be.
func (c *promptCache) of(d *plan.Dataset) *dataset.Set { return c.sets[d].set }

// load loads every dataset, in the order of the runs, and logs what does not
// load.
func (c *promptCache) load(ctx context.Context, log *slog.Logger) {
	for _, d := range c.order {
		if _, err := c.get(ctx, d); err != nil && ctx.Err() == nil {
			log.Error("dataset cannot be measured", "dataset", d.Name, "error", err)
		}
	}
}

// get returns the dataset's prompts or why there are none; both are kept, except
// for an interrupt.
func (c *promptCache) get(ctx context.Context, d *plan.Dataset) (*dataset.Set, error) {
	if l, ok := c.sets[d]; ok {
		return l.set, l.err
	}
	set, err := dataset.Load(ctx, d, c.need[d], c.options)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	c.sets[d] = loaded{set, err}
	if err == nil && c.loaded != nil {
		c.loaded(d, set)
	}
	return set, err
}

// failed is the error of a dataset that has been tried.
func (c *promptCache) failed(d *plan.Dataset) error { return c.sets[d].err }

// loaded tells the Sink of a dataset and logs what is wrong with it.
func (s *sweep) loaded(d *plan.Dataset, set *dataset.Set) {
	for _, w := range set.Warnings {
		s.Log.Warn("the dataset is not all that was asked for", "dataset", d.Name, "warning", w)
	}
	s.Sink.Loaded(DatasetRecord{
		Dataset: d, Revision: set.Revision, Prompts: len(set.Prompts), PromptSet: dataset.Hash(set.Prompts), Warnings: set.Warnings,
	})
}
