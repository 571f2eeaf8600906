package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/specsweep/specsweep/report/table"
)

// otherPrompts names the datasets of which the sets sent other prompts where they were
// asked for as many: their numbers are not of the same thing.
func otherPrompts(sets []Set, names []string) []string {
	type work struct {
		dataset string
		asked   int
	}
	type sent struct{ prompts, set string }
	var order []work
	by := map[work][]sent{}
	for i, s := range sets {
		for _, r := range s.Rows {
			w, x := work{r.Dataset, r.PromptsAsked}, sent{r.PromptSet, names[i]}
			if r.PromptSet == "" || slices.Contains(by[w], x) {
				continue
			}
			if len(by[w]) == 0 {
				order = append(order, w)
			}
			by[w] = append(by[w], x)
		}
	}
	var out []string
	for _, w := range order {
		var parts []string
		other := false
		for _, x := range by[w] {
			other = other || x.prompts != by[w][0].prompts
			parts = append(parts, fmt.Sprintf("%s in %s", table.Clean(x.prompts, 20), table.Clean(x.set, 80)))
		}
		if other {
			out = append(out, fmt.Sprintf("other prompts: the sets did not send the same %d prompts of %s, so their numbers do not compare (prompt_set %s)",
				w.asked, table.Clean(w.dataset, 80), firstOf(parts)))
		}
	}
	return out
}

// sameRuns names the sets that hold the very runs of another one, as a copy does.
func sameRuns(sets []Set, names []string) []string {
	type id struct {
		run     string
		started time.Time
	}
	first := map[id]int{}
	var out []string
	for i, s := range sets {
		twice := map[int]int{}
		for _, r := range s.Rows {
			k := id{r.RunID, r.StartedAt.UTC()}
			if r.RunID == "" || r.StartedAt.IsZero() {
				continue // nothing tells such a run from another
			}
			if j, ok := first[k]; ok && j != i {
				twice[j]++
			} else {
				first[k] = i
			}
		}
		for j := range i {
			if n := twice[j]; n > 0 {
				out = append(out, fmt.Sprintf("%s and %s hold the same runs, %d of them: they are counted twice",
					table.Clean(names[j], 80), table.Clean(names[i], 80), n))
			}
		}
	}
	return out
}

// firstOf is the first few of the texts, and how many more there are.
func firstOf(parts []string) string {
	if more := len(parts) - maxNamed; more > 0 {
		return strings.Join(parts[:maxNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(parts, ", ")
}
