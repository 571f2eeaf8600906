package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/runner/result"
)

func TestJudgeRows(t *testing.T) {
	rows := func(ids ...string) []result.Row { // cell-repeat
		var out []result.Row
		for _, id := range ids {
			cell, _, _ := strings.Cut(id, "-")
			out = append(out, result.Row{RunID: id, CellID: cell})
		}
		return out
	}
	cells := map[string]json.RawMessage{
		"a": json.RawMessage(`{"concurrency":8,"dataset":{"name":"gsm8k"},"server":"s"}`),
		"b": json.RawMessage(`{"concurrency":32,"dataset":{"name":"gsm8k"},"server":"s"}`),
	}
	whole := result.Manifest{Cells: cells, Runs: 4}
	shard := whole
	shard.RunIDs = []string{"a-r0", "a-r1", "b-r0", "b-r1"}
	for _, tt := range []struct {
		name     string
		rows     []result.Row
		manifest result.Manifest
		problems []string
		want     []string // in the misses, in order
	}{
		{"all there", rows("a-r0", "a-r1", "b-r0", "b-r1"), whole, nil, nil},
		{"a repeat is lost", rows("a-r0", "a-r1", "b-r0"), whole, nil, []string{"every run has a row is missed: 1 of 4 runs have no row; run --resume makes them up"}},
		{"a cell is lost", rows("a-r0", "a-r1"), whole, nil, []string{"2 of 4 runs have no row; 1 of 2 cells have none at all: b (s on gsm8k at concurrency 32)"}},
		{"no row at all", nil, whole, nil, []string{"4 of 4 runs have no row; 2 of 2 cells"}},
		{"a row twice makes up for none", rows("a-r0", "a-r0", "a-r1", "b-r0"), whole, nil, []string{"1 of 4 runs have no row"}},
		{"a strange row makes up for none", rows("a-r0", "a-r1", "b-r0", "z-r0"), whole, nil, []string{"1 of 4 runs have no row"}},
		{"the cells tell where the number of runs is not known", rows("a-r0"), result.Manifest{Cells: cells}, nil, []string{"1 of 1 runs have no row; 1 of 2 cells"}},
		{"a shard names the run", rows("a-r0", "a-r1", "b-r1"), shard, nil, []string{"1 of 4 runs have no row: b-r0"}},
		{"a line is garbled", rows("a-r0", "a-r1", "b-r0", "b-r1"), whole, []string{"rows.jsonl:3: not a row"}, []string{"every line can be read is missed: 1 cannot: rows.jsonl:3: not a row"}},
		{"lost and garbled", rows("a-r0", "a-r1", "b-r0"), whole, []string{"x"}, []string{"have no row", "1 cannot: x"}},
		{"nothing is known", rows("a-r0"), result.Manifest{}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			misses := JudgeRows(tt.rows, tt.manifest, tt.problems)
			if len(misses) != len(tt.want) {
				t.Fatalf("misses %v, want %d", misses, len(tt.want))
			}
			for i, m := range misses {
				if !strings.Contains(m.String(), tt.want[i]) {
					t.Errorf("%s\nwant one that says %q", m, tt.want[i])
				}
			}
		})
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprint("line ", i))
	}
	if got := JudgeRows(nil, result.Manifest{}, many)[0].String(); !strings.HasSuffix(got, "and 95 more") || !slices.Contains(strings.Split(got, ", "), "line 4 and 95 more") {
		t.Errorf("%s\nwant the first five and how many more", got)
	}
}
