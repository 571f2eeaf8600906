package dataset

import (
	"encoding/json"
	"maps"
	"slices"
)

// turnsOf are a conversation's turns: the elements of a list, or, where the cell is
// an object of lists, what the lists hold at the same place. A sequence of records
// is kept so by the Hugging Face datasets library, as parquet's struct of lists.
func turnsOf(cell json.RawMessage) (turns []json.RawMessage, skip string) {
	if err := json.Unmarshal(cell, &turns); err == nil {
		return turns, ""
	}
	var lists map[string][]json.RawMessage
	if err := json.Unmarshal(cell, &lists); err != nil || len(lists) == 0 {
		return nil, skipNoList
	}
	names := slices.Sorted(maps.Keys(lists))
	n := len(lists[names[0]])
	for _, name := range names {
		if len(lists[name]) != n {
			return nil, skipUneven
		}
	}
	turns = make([]json.RawMessage, n)
	for i := range turns {
		// Every turn has the fields of all of them; a null one is not its own.
		fields := map[string]json.RawMessage{}
		for _, name := range names {
			if !isNull(lists[name][i]) {
				fields[name] = lists[name][i]
			}
		}
		raw, err := marshal(fields)
		if err != nil {
			return nil, skipNoList
		}
		turns[i] = raw
	}
	return turns, ""
}
