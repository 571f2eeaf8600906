package hub

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	trainSplit    = "train"
	defaultConfig = "default"
)

// splitWord is a split and the words that stand for it in a name.
type splitWord struct {
	split string
	words []string
}

// splitWords are those of Hugging Face's datasets library, in its order
// (huggingface.co/docs/datasets/repository_structure).
func splitWords() []splitWord {
	return []splitWord{
		{trainSplit, []string{"train", "training"}},
		{"validation", []string{"validation", "valid", "dev", "val"}},
		{"test", []string{"test", "testing", "eval", "evaluation"}},
	}
}

var shardPattern = regexp.MustCompile(`^data/([^/]+)-[0-9]{5}-of-[0-9]{5}[^/]*\.[^/]*$`)

// bySplit sorts files into splits by their names as that library does for a
// repository that declares none: data/<split>-00000-of-00001… decides when any file
// is named so, else a word in a folder's name, else one in a file's, else all are
// train. The order within a split is kept.
func bySplit(files []File) []split {
	groups := map[string][]File{}
	for _, f := range files {
		if m := shardPattern.FindStringSubmatch(f.Path); m != nil {
			groups[m[1]] = append(groups[m[1]], f)
		}
	}
	folder := func(f File) []string { return strings.Split(path.Dir(f.Path), "/") }
	base := func(f File) []string { return []string{path.Base(f.Path)} }
	for _, names := range []func(File) []string{folder, base} {
		if len(groups) > 0 {
			break
		}
		for _, s := range splitWords() {
			for _, f := range files {
				if slices.ContainsFunc(names(f), func(n string) bool { return hasWord(n, s.words) }) {
					groups[s.split] = append(groups[s.split], f)
				}
			}
		}
	}
	if len(groups) == 0 && len(files) > 0 {
		groups[trainSplit] = files
	}
	splits := make([]split, 0, len(groups))
	for name, files := range groups {
		splits = append(splits, split{Name: name, Files: files})
	}
	sortSplits(splits)
	return splits
}

// hasWord: between separators, digits or the name's ends, as in test2.jsonl.
func hasWord(name string, words []string) bool {
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-._ 0123456789", r) })
	return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(words, p) })
}

// sortSplits puts the default splits first, then the others by name.
func sortSplits(splits []split) {
	rank := func(name string) int {
		i := slices.IndexFunc(splitWords(), func(s splitWord) bool { return s.split == name })
		if i < 0 {
			return len(splitWords())
		}
		return i
	}
	slices.SortFunc(splits, func(a, b split) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), strings.Compare(a.Name, b.Name))
	})
}

// family is file endings that hold the same kind of data. That library reads a
// repository with one reader only.
type family []string

// families are in the order that decides between equally many files.
func families() []family {
	return []family{{".parquet"}, {".jsonl", ".ndjson", ".json"}, {".csv"}, {".tsv"}}
}

func (f family) has(p string) bool {
	return slices.Contains(f, strings.ToLower(path.Ext(p)))
}

// notData are files that lie beside the data with an ending of data.
func notData(p string) bool {
	switch path.Base(p) {
	case "config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json":
		return true
	}
	return slices.ContainsFunc(strings.Split(p, "/"), func(n string) bool {
		return strings.HasPrefix(n, ".") || strings.HasPrefix(n, "__")
	})
}

// dataFiles are the files of the most frequent family, sorted by path.
func dataFiles(files []File) []File {
	var best []File
	for _, fam := range families() {
		var found []File
		for _, f := range files {
			if fam.has(f.Path) && !notData(f.Path) {
				found = append(found, f)
			}
		}
		if len(found) > len(best) {
			best = found
		}
	}
	slices.SortFunc(best, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return best
}
