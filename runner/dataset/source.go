package dataset

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// source is a dataset's files by split.
type source struct {
	path   string
	single bool     // a file, not a folder
	splits []string // their names, the default ones first
	files  map[string][]file

	revision string   // of the Hub: the commit; empty: the files are local
	warnings []string // for the user
}

// openSource finds the files of a dataset and, for a folder, which split each
// belongs to. It does not read them.
func openSource(name string) (*source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("reading prompts: %w", err)
	}
	if info.IsDir() {
		return openFolder(name)
	}
	f, err := fileAt(name)
	if err != nil {
		return nil, fmt.Errorf("reading prompts: %w", err)
	}
	return &source{
		path:   name,
		single: true,
		splits: []string{trainSplit},
		files:  map[string][]file{trainSplit: {f}},
	}, nil
}

// openFolder finds the parquet files of a folder, at any depth.
func openFolder(name string) (*source, error) {
	var found, others []string // slash-separated, relative to the folder
	err := fs.WalkDir(os.DirFS(name), ".", func(rel string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case rel != "." && hidden(d):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
		case strings.EqualFold(path.Ext(rel), parquetEnding):
			found = append(found, rel)
		default:
			others = append(others, rel)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading prompts: listing the folder %s: %w", name, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("reading prompts: the folder %s has no %s file; to read another, name the file%s",
			name, parquetEnding, listed(" (there is ", others, ")"))
	}
	slices.Sort(found)
	s := &source{path: name, files: map[string][]file{}}
	byName, order := splitFiles(found)
	s.splits = order
	for split, rels := range byName {
		for _, rel := range rels {
			s.files[split] = append(s.files[split], file{path: filepath.Join(name, filepath.FromSlash(rel)), format: parquetFormat()})
		}
	}
	return s, nil
}

// hidden files and folders are not data: .git, .cache, __pycache__.
func hidden(d fs.DirEntry) bool {
	return strings.HasPrefix(d.Name(), ".") || d.IsDir() && strings.HasPrefix(d.Name(), "__")
}

// split is the files of a split, in order.
func (s *source) split(name string) ([]file, error) {
	if files, ok := s.files[name]; ok {
		return files, nil
	}
	if s.single {
		return nil, fmt.Errorf("reading prompts: %s: a single file has only the split %s, not %s: name the file of the wanted split, or leave split out",
			s.path, trainSplit, name)
	}
	return nil, fmt.Errorf("reading prompts: the folder %s has no split %s%s", s.path, name, listed(" (it has ", s.splits, ")"))
}

// shownNames is how many names an error lists.
const shownNames = 20

// listed joins names for an error, with before and after around them; it is empty
// when there are none.
func listed(before string, names []string, after string) string {
	if len(names) == 0 {
		return ""
	}
	text := strings.Join(names[:min(len(names), shownNames)], ", ")
	if more := len(names) - shownNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return before + text + after
}
