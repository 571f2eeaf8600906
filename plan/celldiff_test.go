package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiffCells(t *testing.T) {
	was := `{"concurrency":8,"dataset":{"name":"d","split":"train"},"server":"a","top_k":1}`
	is := `{"concurrency":8,"dataset":{"name":"d","split":"test"},"extra_body":{"x":[1,"<"]},"server":"a"}`
	got, err := DiffCells([]byte(was), []byte(is))
	want := []string{`- dataset.split: "train"`, `+ dataset.split: "test"`, `+ extra_body.x: [1,"<"]`, `- top_k: 1`}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err := DiffCells([]byte(was), []byte(was)); err != nil || len(got) != 0 {
		t.Errorf("a cell differs from itself: %v %v", got, err)
	}
	if _, err := DiffCells([]byte("{"), []byte(was)); err == nil {
		t.Error("no error for half a cell")
	}
}

func TestCellPlace(t *testing.T) {
	a, err := CellPlace([]byte(`{"concurrency":8,"dataset":{"name":"d"},"max_new_tokens":4,"num_prompts":2,"server":"s","temperature":0.5,"top_p":0.9}`))
	want := "server s, dataset d, concurrency 8, max_new_tokens 4, temperature 0.5, num_prompts 2"
	if err != nil || a != want {
		t.Errorf("CellPlace = %q, %v, want %q", a, err, want)
	}
	if b, err := CellPlace([]byte(`{"dataset":{"name":"d"},"request_rate":2}`)); err != nil || b == a {
		t.Errorf("a cell at a rate stands at %q, %v", b, err)
	}
	if _, err := CellPlace([]byte(`[]`)); err == nil {
		t.Error("no error for a list")
	}
}
