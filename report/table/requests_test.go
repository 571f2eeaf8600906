package table

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/result"
)

func texts(g Grid) [][]string {
	var out [][]string
	for _, l := range g.Lines {
		var cells []string
		for _, c := range l {
			cells = append(cells, c.Text)
		}
		out = append(out, cells)
	}
	return out
}

func TestRequestAndCategoryGrids(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	told := func(repeat int, mean float64, drafts int64) result.Row {
		return result.Row{
			CellID: "a", Server: "a", Repeat: repeat, AcceptLengthReqMean: f(mean), AcceptLengthReqP10: f(1.5), AcceptLengthReqP50: f(2), AcceptLengthReqP90: f(3),
			Categories: []result.Category{{Name: "math", Requests: 2, Drafts: drafts, Accepted: 20}, {Name: "chat", Requests: 1}},
		}
	}
	failed := told(2, 9, 1)
	failed.Error = "strict: retries"
	rows := []result.Row{told(0, 2, 10), told(1, 3, 30), failed, {CellID: "b", Server: "b", RunIndex: 3}}
	var refs []*result.Row
	for i := range rows {
		refs = append(refs, &rows[i])
	}
	axes := []Column{column("server")}
	ls := lines(refs)
	if diff := cmp.Diff([][]string{{"a", "2.500", "1.500", "2.000", "3.000"}}, texts(requestGrid(ls, axes, &footnotes{}))); diff != "" {
		t.Errorf("over requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"a", "math", "4", "2.000"}, {"a", "chat", "2", "n/a"}}, texts(categoryGrid(ls, axes))); diff != "" {
		t.Errorf("by category (-want +got):\n%s", diff)
	}
	if a, b := requestGrid(ls[1:], axes, &footnotes{}), categoryGrid(ls[1:], axes); a.Title != "" || b.Title != "" {
		t.Errorf("grids without a line: %q, %q", a.Title, b.Title)
	}
}
