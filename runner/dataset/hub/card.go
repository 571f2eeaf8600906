package hub

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// cardConfig is a configuration as a dataset's card declares it
// (huggingface.co/docs/hub/datasets-manual-configuration).
type cardConfig struct {
	Name    string          `json:"config_name"`
	Default bool            `json:"default"`
	DataDir string          `json:"data_dir"`
	Files   json.RawMessage `json:"data_files"` // a pattern, a list of them, or of {split, path}
}

// patterns is the file patterns of one split.
type patterns struct {
	split string
	globs []string
}

// repository sorts a commit's files into configurations: as its card declares
// them, else by their names into one that is called default. What the card says in
// a shape that is not known counts as not said.
func repository(in info, files []File) *catalogue {
	c := &catalogue{Revision: in.SHA}
	for _, d := range declaredConfigs(in) {
		k := config{Name: d.Name, Splits: d.splits(files)}
		if k.Name == "" {
			k.Name = defaultConfig
		}
		if len(k.Splits) == 0 {
			continue
		}
		if d.Default {
			c.Default = k.Name
		}
		c.Configs = append(c.Configs, k)
	}
	if len(c.Configs) == 0 {
		if splits := bySplit(dataFiles(files)); len(splits) > 0 {
			c.Configs = []config{{Name: defaultConfig, Splits: splits}}
		}
	}
	c.sort()
	return c
}

func declaredConfigs(in info) []cardConfig {
	var declared []cardConfig
	if json.Unmarshal(in.CardData.Configs, &declared) != nil {
		return nil
	}
	return declared
}

func (d cardConfig) splits(files []File) []split {
	root := path.Clean("/" + d.DataDir)[1:]
	declared := dataPatterns(d.Files)
	if len(declared) == 0 {
		var inside []File
		for _, f := range files {
			if root == "" || strings.HasPrefix(f.Path, root+"/") {
				inside = append(inside, f)
			}
		}
		return bySplit(dataFiles(inside))
	}
	var splits []split
	for _, p := range declared {
		var found []File
		for _, g := range p.globs { // the order of the patterns is that of the rows
			expr := globExpr(path.Clean("/" + path.Join(root, g))[1:])
			var matched []File
			for _, f := range files {
				if expr.MatchString(f.Path) && !slices.Contains(found, f) {
					matched = append(matched, f)
				}
			}
			found = append(found, dataFiles(matched)...)
		}
		if len(found) > 0 {
			splits = append(splits, split{Name: p.split, Files: found})
		}
	}
	sortSplits(splits)
	return splits
}

// dataPatterns reads data_files in each of its shapes.
func dataPatterns(raw json.RawMessage) []patterns {
	if globs := texts(raw); len(globs) > 0 {
		return []patterns{{trainSplit, globs}}
	}
	var list []struct {
		Split string          `json:"split"`
		Path  json.RawMessage `json:"path"`
	}
	var found []patterns
	if json.Unmarshal(raw, &list) == nil {
		for _, e := range list {
			if globs := texts(e.Path); e.Split != "" && len(globs) > 0 {
				found = append(found, patterns{e.Split, globs})
			}
		}
		return found
	}
	var mapping map[string]json.RawMessage
	if json.Unmarshal(raw, &mapping) == nil {
		for name, value := range mapping {
			if globs := texts(value); len(globs) > 0 {
				found = append(found, patterns{name, globs})
			}
		}
	}
	return found
}

// texts is a JSON text or list of texts.
func texts(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	var many []string
	if json.Unmarshal(raw, &many) == nil {
		return many
	}
	return nil
}

// globExpr is a file pattern as an expression: * and ? stay within a folder, **
// does not, [ab] and {a,b} are choices.
func globExpr(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	depth := 0
	for i := 0; i < len(glob); i++ {
		switch ch := glob[i]; {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(".*")
			i++
		case ch == '*':
			b.WriteString("[^/]*")
		case ch == '?':
			b.WriteString("[^/]")
		case ch == '[' && strings.IndexByte(glob[i:], ']') > 1:
			end := i + strings.IndexByte(glob[i:], ']')
			set := strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(glob[i+1 : end])
			if set[0] == '!' {
				set = "^" + set[1:]
			}
			b.WriteString("[" + set + "]")
			i = end
		case ch == '{':
			depth++
			b.WriteString("(?:")
		case ch == '}' && depth > 0:
			depth--
			b.WriteString(")")
		case ch == ',' && depth > 0:
			b.WriteString("|")
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	expr, err := regexp.Compile(b.String() + "$")
	if err != nil { // an open brace, a backward range: then it is a plain name
		return regexp.MustCompile("^" + regexp.QuoteMeta(glob) + "$")
	}
	return expr
}
