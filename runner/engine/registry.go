package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Registry is a set of engines by name. It is built once, where all engines are
// listed, and never changes.
type Registry struct{ byName map[string]Engine }

// NewRegistry lists engines. Two of one name are a programming error: it panics.
func NewRegistry(engines ...Engine) *Registry {
	r := &Registry{byName: make(map[string]Engine, len(engines))}
	for _, e := range engines {
		if _, ok := r.byName[e.Name()]; ok {
			panic(fmt.Sprintf("engine %q is listed twice", e.Name()))
		}
		r.byName[e.Name()] = e
	}
	return r
}

// Get is the engine of that name; the error for an unknown one lists the known.
func (r *Registry) Get(name string) (Engine, error) {
	e, ok := r.byName[name]
	if !ok {
		return nil, fmt.Errorf("unknown engine %q (have %s)", name, strings.Join(r.Names(), ", "))
	}
	return e, nil
}

// Names is every engine's name, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.byName)) }
