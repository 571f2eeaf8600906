package gate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/report/table"
	"github.com/specsweep/specsweep/runner/result"
)

// maxNamed is how many lost runs or lines a miss names.
const maxNamed = 5

// JudgeRows returns what a run-set has lost of what its manifest says it was asked
// for: runs without a row, and lines of its files that could not be read (problems, as
// result.Read gives them). A threshold over the rows that are left cannot see either.
// Rows of cells that the manifest does not know make up for none. A manifest that
// does not say what was asked for judges the problems alone.
func JudgeRows(rows []result.Row, m result.Manifest, problems []string) []Miss {
	misses := []Miss{}
	if miss := lostRuns(rows, m); miss != nil {
		misses = append(misses, *miss)
	}
	if n := len(problems); n > 0 {
		misses = append(misses, Miss{Rule: "every line can be read", Reason: fmt.Sprintf("%d cannot: %s", n, named(problems))})
	}
	return misses
}

func lostRuns(rows []result.Row, m result.Manifest) *Miss {
	have, haveCells := map[string]bool{}, map[string]bool{}
	for i := range rows {
		if _, asked := m.Cells[rows[i].CellID]; asked || len(m.Cells) == 0 {
			have[rows[i].RunID], haveCells[rows[i].CellID] = true, true
		}
	}
	asked, lost := m.Runs, m.Runs-len(have)
	var names []string
	if len(m.RunIDs) > 0 {
		asked, lost = len(m.RunIDs), 0
		for _, id := range m.RunIDs {
			if !have[id] {
				lost++
				names = append(names, id)
			}
		}
	}
	var cells []string
	for _, id := range slices.Sorted(maps.Keys(m.Cells)) {
		if !haveCells[id] {
			cells = append(cells, cellName(id, m.Cells[id]))
		}
	}
	// A manifest may count fewer runs than it has cells, but each cell has one.
	lost = max(lost, len(cells))
	if lost <= 0 {
		return nil
	}
	reason := fmt.Sprintf("%d of %d runs have no row", lost, max(asked, lost))
	switch {
	case len(cells) > 0:
		reason += fmt.Sprintf("; %d of %d cells have none at all: %s", len(cells), len(m.Cells), named(cells))
	case len(names) > 0:
		reason += ": " + named(names)
	}
	return &Miss{Rule: "every run has a row", Reason: reason + "; run --resume makes them up"}
}

// cellName is a cell that has no row, by what its canonical JSON says of it.
func cellName(id string, config json.RawMessage) string {
	var c struct {
		Server      string          `json:"server"`
		Dataset     json.RawMessage `json:"dataset"`
		Concurrency int             `json:"concurrency"`
	}
	if json.Unmarshal(config, &c) != nil || c.Server == "" {
		return id
	}
	var dataset struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(c.Dataset, &dataset) != nil || dataset.Name == "" {
		return fmt.Sprintf("%s (%s)", id, c.Server)
	}
	return fmt.Sprintf("%s (%s on %s at concurrency %d)", id, c.Server, dataset.Name, c.Concurrency)
}

// named is the first of the texts, and how many more there are.
func named(texts []string) string {
	var shown []string
	for _, t := range texts[:min(len(texts), maxNamed)] {
		shown = append(shown, table.Clean(t, 200))
	}
	s := strings.Join(shown, ", ")
	if more := len(texts) - len(shown); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
