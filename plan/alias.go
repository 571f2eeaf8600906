package plan

import "go.yaml.in/yaml/v3"

// maxAliased is how many values aliases may add to a file when they are written
// out. A plan has hundreds; a few lines of nested aliases can stand for billions.
const maxAliased = 100_000

// target is the node that an alias stands for, or the node itself.
func target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// checkAliases refuses what no decoder should follow: an alias inside its own
// anchor, and aliases that multiply.
func (d *document) checkAliases(root *yaml.Node) {
	w := weigher{sizes: map[*yaml.Node]int{}, open: map[*yaml.Node]bool{}}
	size := w.size(root)
	switch {
	case w.cycle != nil:
		d.addAt(w.cycle.Line, "", "alias *%s stands inside its own anchor", w.cycle.Value)
	case size-len(w.sizes) > maxAliased:
		d.addAt(root.Line, "", "the aliases stand for more than %d values when written out", maxAliased)
	}
}

type weigher struct {
	sizes map[*yaml.Node]int // with every alias below written out
	open  map[*yaml.Node]bool
	cycle *yaml.Node
}

func (w *weigher) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		if w.open[n.Alias] {
			w.cycle = n
			return 1
		}
		return w.size(n.Alias)
	}
	if size, ok := w.sizes[n]; ok {
		return size
	}
	w.open[n] = true
	size := 1
	for _, c := range n.Content {
		size = min(size+w.size(c), 1<<40) // far from overflow, far above the limit
	}
	delete(w.open, n)
	w.sizes[n] = size
	return size
}
