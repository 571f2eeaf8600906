package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/result"
)

// sameOverrides compares the workload flags; --only may differ: it chooses among
// the same cells.
func sameOverrides(was, is map[string]string) error {
	a, b := maps.Clone(was), maps.Clone(is)
	delete(a, "only")
	delete(b, "only")
	if maps.Equal(a, b) {
		return nil
	}
	shown := func(m map[string]string) string {
		if len(m) == 0 {
			return "no workload flags"
		}
		var words []string
		for _, name := range slices.Sorted(maps.Keys(m)) {
			words = append(words, "--"+strings.ReplaceAll(name, "_", "-")+" "+m[name])
		}
		return strings.Join(words, " ")
	}
	return fmt.Errorf("the run-set was made with %s, now there is %s: give the same", shown(a), shown(b))
}

// unchangedCells refuses a plan with another cell at the place of one that has ok rows.
// Rows with an error block nothing: nothing was measured that could be mixed.
func unchangedCells(was map[string]json.RawMessage, rows []result.Row, runs []plan.Run) error {
	measured := map[string]bool{}
	for i := range rows {
		if rows[i].OK() {
			measured[rows[i].CellID] = true
		}
	}
	placed := map[string]string{} // place → id of the cell that has ok rows there
	for id, cell := range was {
		place, err := plan.CellPlace(cell)
		if err != nil {
			return err
		}
		if measured[id] {
			placed[place] = id
		}
	}
	for i := range runs {
		place, err := plan.CellPlace(runs[i].Cell)
		if err != nil {
			return err
		}
		id, ok := placed[place]
		if !ok || id == runs[i].CellID || measured[runs[i].CellID] {
			continue
		}
		diff, err := plan.DiffCells(was[id], runs[i].Cell)
		if err != nil {
			return err
		}
		return fmt.Errorf("the plan has changed: %s was cell %s and is %s:\n  %s\nstart a new run-set, or undo the change",
			place, id, runs[i].CellID, strings.Join(diff, "\n  "))
	}
	return nil
}
