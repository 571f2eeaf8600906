package main

import (
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// nearness is how far a measured acceptance may be from the simulated one.
const nearness = 0.03

// cmdNear checks a column of results.csv by dataset, within 3 %:
// near results.csv accept_length gsm8k=2.8 chat=1.9.
func cmdNear(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: near results.csv column dataset=value…")
	}
	rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[0]))).ReadAll()
	ts.Check(err)
	column, dataset := slices.Index(rows[0], args[1]), slices.Index(rows[0], "dataset")
	if column < 0 || dataset < 0 {
		ts.Fatalf("%s has no column %s", args[0], args[1])
	}
	for _, arg := range args[2:] {
		name, text, _ := strings.Cut(arg, "=")
		want, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		found := 0
		for _, row := range rows[1:] {
			if row[dataset] != name {
				continue
			}
			found++
			got, err := strconv.ParseFloat(row[column], 64)
			if err != nil || math.Abs(got/want-1) > nearness {
				ts.Fatalf("%s of %s is %q, want %v within %v", args[1], name, row[column], want, nearness)
			}
		}
		if found == 0 {
			ts.Fatalf("%s has no row of dataset %s", args[0], name)
		}
	}
}
