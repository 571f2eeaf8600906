package table

import (
	"slices"
	"strings"

	"github.com/specsweep/specsweep/runner/result"
)

// Own says which axes a dataset replaces by a value of its own.
type Own struct{ MaxNewTokens, NumPrompts bool }

// Point is a server at one point of the plan's axes, with the rows of every
// dataset that belong there.
type Point struct {
	Server       string
	Concurrency  int
	Temperature  float64
	RequestRate  *float64 // requests per second; nil: a closed loop
	MaxNewTokens *int     // nil: every dataset has its own
	NumPrompts   *int     // asked for; nil: every dataset has its own
	Rows         []*result.Row
}

// Points groups rows by server and point of the axes, in the order of their
// run_index. A dataset with its own max_new_tokens or num_prompts stands in every
// point that it would otherwise be in, so a row may be in several.
func Points(rows []*result.Row, own map[string]Own) []Point {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b *result.Row) int { return a.RunIndex - b.RunIndex })
	var points []Point
	// Only points of one server, concurrency and so on can be one: the others are not
	// asked, or a thousand servers would take a million questions.
	alike := map[pointKey][]int{}
	// Rows with all axes make the points; the others then find theirs.
	for _, free := range []bool{false, true} {
		for _, r := range sorted {
			p := pointOf(r, own[r.Dataset])
			if (p.MaxNewTokens == nil || p.NumPrompts == nil) != free {
				continue
			}
			k := pointKey{server: p.Server, concurrency: p.Concurrency, temperature: p.Temperature, rate: p.rate()}
			found := false
			for _, i := range alike[k] {
				if points[i].takes(p) {
					points[i].Rows = append(points[i].Rows, r)
					found = true
				}
			}
			if !found {
				p.Rows = []*result.Row{r}
				alike[k] = append(alike[k], len(points))
				points = append(points, p)
			}
		}
	}
	for _, p := range points {
		slices.SortStableFunc(p.Rows, func(a, b *result.Row) int { return a.RunIndex - b.RunIndex })
	}
	slices.SortStableFunc(points, func(a, b Point) int { return a.Rows[0].RunIndex - b.Rows[0].RunIndex })
	return points
}

// pointKey is the axes that no dataset has a value of its own for.
type pointKey struct {
	server      string
	concurrency int
	temperature float64
	rate        float64
}

func pointOf(r *result.Row, own Own) Point {
	p := Point{Server: r.Server, Concurrency: r.Concurrency, Temperature: r.Temperature, RequestRate: r.RequestRate}
	if !own.MaxNewTokens {
		p.MaxNewTokens = &r.MaxNewTokens
	}
	if !own.NumPrompts {
		p.NumPrompts = &r.PromptsAsked
	}
	return p
}

// takes tells whether a row's point q is this one; an axis that q leaves open
// fits every value.
func (p Point) takes(q Point) bool {
	fits := func(a, b *int) bool { return b == nil || a != nil && *a == *b }
	return p.Server == q.Server && p.Concurrency == q.Concurrency && p.Temperature == q.Temperature && p.rate() == q.rate() &&
		fits(p.MaxNewTokens, q.MaxNewTokens) && fits(p.NumPrompts, q.NumPrompts)
}

// datasets is the point's datasets, in order.
func (p Point) datasets() []string {
	var names []string
	for _, r := range p.Rows {
		if !slices.Contains(names, r.Dataset) {
			names = append(names, r.Dataset)
		}
	}
	return names
}

// values is the point's value of an axis; several where datasets have their own.
func (p Point) values(c Column) string { return strings.Join(distinct(p.Rows, c), ", ") }

// axisCells are the point's values of the columns that identify a line.
func (p Point) axisCells(axes []Column) ([]Header, []Cell) {
	var hs []Header
	var cells []Cell
	for _, c := range axes {
		var text string
		switch c.Name {
		case "dataset":
			continue
		case "max_new_tokens":
			text = p.values(c)
		case "num_prompts":
			text = p.values(column("prompts_asked"))
		default:
			text = (line{rows: p.Rows, ok: p.Rows}).text(c)
		}
		h := c.header()
		if c.Name == "num_prompts" {
			h.Name = "prompts_asked" // of the axis: what was sent is the rows'
		}
		hs = append(hs, h)
		cells = append(cells, Cell{Text: text})
	}
	return hs, cells
}
