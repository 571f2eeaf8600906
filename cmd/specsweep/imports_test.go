package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/specsweep/specsweep/"

// mayImport is who may import whom within the module, tests aside. Extend it
// together with docs/decisions.md. A package that it lacks may not exist.
var mayImport = map[string][]string{
	"plan":                            nil,
	"runner":                          {"plan", "runner/dataset", "runner/openai", "runner/load", "runner/engine", "runner/specdec", "runner/serve", "runner/secret", "runner/result", "report/stat"},
	"runner/dataset":                  {"plan", "runner/dataset/hub"},
	"runner/dataset/hub":              nil,
	"runner/dataset/hub/hubtest":      nil,
	"runner/openai":                   {"runner/secret"},
	"runner/secret":                   nil,
	"runner/load":                     {"runner/openai"},
	"runner/load/internal/bench":      nil, // tests only
	"runner/specdec":                  nil,
	"runner/engine":                   {"runner/openai", "runner/specdec"},
	"runner/engine/internal/promtext": nil,
	"runner/engine/vllm":              {"runner/engine", "runner/openai", "runner/specdec", "runner/engine/internal/promtext"},
	"runner/engine/sglang":            {"runner/engine", "runner/openai", "runner/specdec", "runner/engine/internal/promtext"},
	"runner/engine/llamacpp":          {"runner/engine", "runner/openai", "runner/specdec", "runner/engine/internal/promtext"},
	"runner/engine/all":               {"runner/engine", "runner/engine/vllm", "runner/engine/sglang", "runner/engine/llamacpp"},
	"runner/engine/enginetest":        {"runner/engine", "runner/sim", "runner/openai", "runner/specdec"},
	"runner/serve":                    {"runner/secret"},
	"runner/result":                   nil,
	"runner/sim":                      nil,
	"runner/faulttest":                nil,
	"report":                          {"report/table", "report/stat", "report/compare", "report/gate", "report/plot", "runner/result"},
	"report/compare":                  {"report/table", "report/stat", "runner/result"},
	"report/gate":                     {"report/compare", "report/table", "report/stat", "runner/result"},
	"report/table":                    {"runner/result", "report/stat"},
	"report/plot":                     nil,
	"report/stat":                     nil,
	"cmd/specsweep":                   {"*"},
}

// testOnly are packages that no program code may import.
var testOnly = []string{"runner/faulttest", "runner/engine/enginetest", "runner/dataset/hub/hubtest"}

func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		allowed, known := mayImport[pkg]
		if !known {
			t.Errorf("%s: package %s is not in the table of who may import whom", path, pkg)
			return nil
		}
		seen[pkg] = true
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			ours, ok := strings.CutPrefix(name, module)
			if !ok {
				continue
			}
			if slices.Contains(testOnly, ours) || !slices.Contains(allowed, ours) && !slices.Contains(allowed, "*") {
				t.Errorf("%s: %s may not import %s", path, pkg, ours)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range mayImport {
		if !seen[pkg] {
			t.Errorf("the table names %s, which does not exist", pkg)
		}
	}
}

// TestLibrariesHaveOneHome keeps each library where it belongs.
func TestLibrariesHaveOneHome(t *testing.T) {
	homes := map[string]string{
		"github.com/spf13/viper":            "cmd/specsweep/settings.go",
		"github.com/spf13/cobra":            "cmd/specsweep/",
		"go.yaml.in/yaml":                   "plan/",
		"github.com/olekukonko/tablewriter": "report/",
		"github.com/gocarina/gocsv":         "runner/result/",
		"github.com/google/renameio":        "runner/result/",
		"github.com/parquet-go/parquet-go":  "runner/dataset/",
		"github.com/prometheus/":            "runner/engine/internal/promtext/",
		"github.com/vbauerster/mpb":         "cmd/specsweep/progress.go",
		"golang.org/x/perf/benchmath":       "report/stat/",
		"golang.org/x/perf/benchfmt":        "report/",
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			name := strings.Trim(imp.Path.Value, `"`)
			for lib, home := range homes {
				if strings.HasPrefix(name, lib) && !strings.HasPrefix(filepath.ToSlash(rel), home) {
					t.Errorf("%s imports %s, whose home is %s", rel, name, home)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
