package plan

import (
	"slices"
	"strings"
)

// unknown says of a word that is not one of known which it may have meant, or
// which there are.
func unknown(word string, known []string) string {
	if best := nearest(word, known); best != "" {
		return "(did you mean " + best + "?)"
	}
	return have(known)
}

// nearest is the one of known that looks most like word, or empty when none does.
func nearest(word string, known []string) string {
	if part := partOf(word, known); part != "" {
		return part
	}
	best, distance := "", 1+max(1, len(word)/3)
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// shortestPart is how long a word must be to be taken for a part of another.
const shortestPart = 4

// partOf is the one of known that word is a part of, or that is a part of word: the
// words that _ joins at its beginning or end (ttft for ttft_ms, wait_s for
// server_wait_s). Empty: none is, or several are.
func partOf(word string, known []string) string {
	word = strings.ToLower(word)
	if len(word) < shortestPart {
		return ""
	}
	found := ""
	for _, k := range known {
		lower := strings.ToLower(k)
		if !joins(lower, word) && (len(k) < shortestPart || !joins(word, lower)) {
			continue
		}
		if found != "" && found != k {
			return ""
		}
		found = k
	}
	return found
}

// joins tells whether long is short with further words before or behind it.
func joins(long, short string) bool {
	return strings.HasPrefix(long, short+"_") || strings.HasSuffix(long, "_"+short)
}

// have lists what there is, in alphabetical order.
func have(known []string) string {
	if len(known) == 0 {
		return "(there are none)"
	}
	return "(have " + strings.Join(slices.Sorted(slices.Values(known)), ", ") + ")"
}

// editDistance is how many letters to insert, drop, replace or swap with their
// neighbour turn a into b.
func editDistance(a, b string) int {
	var older, old []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row = old, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := old[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, old[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
