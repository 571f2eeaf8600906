package dataset

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// defaultSplit is a split that a file's or folder's name stands for when it holds
// one of the words.
type defaultSplit struct {
	name  string
	words []string
}

// defaultSplits are the splits and words of the Hugging Face datasets library
// (huggingface.co/docs/datasets/repository_structure), in its order.
func defaultSplits() []defaultSplit {
	return []defaultSplit{
		{trainSplit, []string{"train", "training"}},
		{"validation", []string{"validation", "valid", "dev", "val"}},
		{"test", []string{"test", "testing", "eval", "evaluation"}},
	}
}

// shardName is a shard as that library pushes it; its split may have any name.
var shardName = regexp.MustCompile(`^data/([^/]+)-[0-9]{5}-of-[0-9]{5}[^/]*\.[^/]*$`)

// splitFiles sorts a folder's files into splits as the Hugging Face datasets
// library does for a folder without metadata. The first of these that fits any
// file decides: data/<split>-00000-of-00001…; a folder with a split's word in its
// name; a file with one; else all files are train. Files that do not fit are left
// out. files are slash-separated and sorted; order lists the splits, the default
// ones first.
func splitFiles(files []string) (splits map[string][]string, order []string) {
	splits = map[string][]string{}
	for _, f := range files {
		if m := shardName.FindStringSubmatch(f); m != nil {
			splits[m[1]] = append(splits[m[1]], f)
		}
	}
	for _, inFolder := range []bool{true, false} {
		if len(splits) > 0 {
			break
		}
		for _, s := range defaultSplits() {
			for _, f := range files {
				if s.names(f, inFolder) {
					splits[s.name] = append(splits[s.name], f)
				}
			}
		}
	}
	if len(splits) == 0 {
		splits[trainSplit] = files
	}
	return splits, splitOrder(splits)
}

// names says whether a folder above the file, or the file itself, has one of the
// split's words in its name.
func (s defaultSplit) names(file string, inFolder bool) bool {
	dir, base := path.Split(file)
	if !inFolder {
		return hasWord(base, s.words)
	}
	return slices.ContainsFunc(strings.Split(dir, "/"), func(folder string) bool { return hasWord(folder, s.words) })
}

// hasWord says whether one of the words stands in the name between separators or
// its ends. A digit separates, too: test2 is a test.
func hasWord(name string, words []string) bool {
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-._ 0123456789", r) })
	return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(words, p) })
}

func splitOrder(splits map[string][]string) []string {
	var order, rest []string
	for _, s := range defaultSplits() {
		if len(splits[s.name]) > 0 {
			order = append(order, s.name)
		}
	}
	for name := range splits {
		if !slices.Contains(order, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return append(order, rest...)
}
