package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// CellPlace names the place of a cell in the matrix: its server, its dataset's name and
// the axes. Two plans may have different cells, with different ids, at one place. The
// cell is the canonical JSON of Run.Cell; the error is about JSON that is none.
func CellPlace(cell []byte) (string, error) {
	var c struct {
		Server  string `json:"server"`
		Dataset struct {
			Name string `json:"name"`
		} `json:"dataset"`
		Concurrency  int      `json:"concurrency"`
		MaxNewTokens int      `json:"max_new_tokens"`
		NumPrompts   int      `json:"num_prompts"`
		Temperature  float64  `json:"temperature"`
		RequestRate  *float64 `json:"request_rate"`
	}
	if err := json.Unmarshal(cell, &c); err != nil {
		return "", fmt.Errorf("reading a cell: %w", err)
	}
	place := fmt.Sprintf("server %s, dataset %s, concurrency %d, max_new_tokens %d, temperature %v, num_prompts %d",
		c.Server, c.Dataset.Name, c.Concurrency, c.MaxNewTokens, c.Temperature, c.NumPrompts)
	if c.RequestRate != nil {
		place += fmt.Sprintf(", request_rate %v", *c.RequestRate)
	}
	return place, nil
}

// DiffCells is how two cells' canonical JSON differs, a line a field in the order of
// the names: `- name: was` and `+ name: is`, one of them alone where the other cell
// lacks it.
func DiffCells(was, is []byte) ([]string, error) {
	a, b := map[string]string{}, map[string]string{}
	for _, side := range []struct {
		cell []byte
		into map[string]string
	}{{was, a}, {is, b}} {
		var v any
		if err := json.Unmarshal(side.cell, &v); err != nil {
			return nil, fmt.Errorf("reading a cell: %w", err)
		}
		flatten(side.into, "", v)
	}
	names := maps.Clone(a)
	maps.Copy(names, b)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, had := a[name]
		y, has := b[name]
		if had == has && x == y {
			continue
		}
		if had {
			out = append(out, "- "+name+": "+x)
		}
		if has {
			out = append(out, "+ "+name+": "+y)
		}
	}
	return out, nil
}

// flatten names every leaf of v by its path.
func flatten(into map[string]string, path string, v any) {
	if m, ok := v.(map[string]any); ok && (len(m) > 0 || path == "") {
		for name, x := range m {
			flatten(into, join(path, name), x)
		}
		return
	}
	into[path] = string(canonical(v))
}
