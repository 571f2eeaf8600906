package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/runner/result"
)

// Merge is the rows of several run-sets as one set, in the order given, so that a
// label can be tabled over all of them. A server name that several sets have is told
// apart by the set's name, or by its number where it has none of its own. Baselines
// stay each set's own, since speedups are in the rows; that start-to-start spread
// lies between the sets is for the reader to know.
func Merge(sets []Set) Set {
	if len(sets) == 1 {
		return sets[0]
	}
	var out Set
	var plans, statuses []string
	names := setNames(sets)
	shared := sharedServers(sets)
	known, knownCells := len(sets) > 0, len(sets) > 0
	for i, s := range sets {
		rename := func(server string) string {
			if shared[server] {
				return fmt.Sprintf("%s (%s)", server, names[i])
			}
			return server
		}
		for _, r := range s.Rows {
			r.Server, r.RunIndex = rename(r.Server), len(out.Rows)
			out.Rows = append(out.Rows, r)
		}
		for _, srv := range s.Manifest.Servers {
			srv.Name = rename(srv.Name)
			out.Manifest.Servers = append(out.Manifest.Servers, srv)
		}
		plans = appendNew(plans, s.plan())
		statuses = appendNew(statuses, s.Manifest.Status)
		out.MinEffect = max(out.MinEffect, s.MinEffect)
		out.Manifest.Runs += s.Manifest.Runs
		known = known && s.Manifest.Runs > 0
		out.cells += s.cells
		knownCells = knownCells && s.cells > 0
	}
	out.Manifest.Plan = strings.Join(plans, ", ")
	out.Manifest.DatasetAxes = mergedAxes(sets)
	if !known {
		out.Manifest.Runs = 0
	}
	if !knownCells {
		out.cells = 0
	}
	out.remarks = append(otherPrompts(sets, names), sameRuns(sets, names)...)
	// What was cut short in one is cut short in all; finished is worth no word.
	for _, status := range []string{result.StatusFailed, result.StatusInterrupted, result.StatusRunning} {
		if slices.Contains(statuses, status) {
			out.Manifest.Status = status
			break
		}
	}
	return out
}

// plan is the name of the set's plan, as the manifest or the rows have it.
func (s Set) plan() string {
	if s.Manifest.Plan == "" && len(s.Rows) > 0 {
		return s.Rows[0].Plan
	}
	return s.Manifest.Plan
}

// setNames is a name for each set, no two alike.
func setNames(sets []Set) []string {
	times := map[string]int{}
	for _, s := range sets {
		times[s.Name]++
	}
	names := make([]string, len(sets))
	for i, s := range sets {
		switch {
		case s.Name == "":
			names[i] = fmt.Sprintf("set %d", i+1)
		case times[s.Name] > 1:
			names[i] = fmt.Sprintf("%s, set %d", s.Name, i+1)
		default:
			names[i] = s.Name
		}
	}
	return names
}

// sharedServers is the names that more than one set has.
func sharedServers(sets []Set) map[string]bool {
	seen, shared := map[string]bool{}, map[string]bool{}
	for _, s := range sets {
		own := map[string]bool{}
		for _, r := range s.Rows {
			own[r.Server] = true
		}
		for _, srv := range s.Manifest.Servers {
			own[srv.Name] = true
		}
		for name := range own {
			shared[name] = shared[name] || seen[name]
			seen[name] = true
		}
	}
	return shared
}

// mergedAxes is every axis that a dataset replaces in any of the sets.
func mergedAxes(sets []Set) map[string][]string {
	axes := map[string][]string{}
	for _, s := range sets {
		for dataset, own := range s.Manifest.DatasetAxes {
			for _, axis := range own {
				axes[dataset] = appendNew(axes[dataset], axis)
			}
		}
	}
	return axes
}

// appendNew appends a text that is not empty and not there yet.
func appendNew(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
