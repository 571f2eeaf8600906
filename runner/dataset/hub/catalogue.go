package hub

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// catalogue is all data files of a commit, sorted into configurations and splits.
// It is kept in the cache as JSON, so that a later run finds the same files with
// no network.
type catalogue struct {
	Revision string   `json:"revision"`          // the commit, 40 hexadecimal digits
	Default  string   `json:"default,omitempty"` // the configuration to take when none is named; may be empty
	Configs  []config `json:"configs"`           // sorted by name
}

type config struct {
	Name   string  `json:"name"`
	Splits []split `json:"splits"`
}

type split struct {
	Name    string `json:"name"`
	Files   []File `json:"files"`
	Partial bool   `json:"partial,omitempty"` // converted in part only
}

// choose picks the configuration and the split. The errors are *ConfigError and
// *SplitError.
func (c *catalogue) choose(q Query) (Listing, error) {
	name := q.Config
	if name == "" {
		name = c.Default
	}
	if name == "" && len(c.Configs) == 1 {
		name = c.Configs[0].Name
	}
	i := slices.IndexFunc(c.Configs, func(k config) bool { return k.Name == name })
	if i < 0 {
		return Listing{}, &ConfigError{ID: q.ID, Config: q.Config, Have: c.names()}
	}
	k := c.Configs[i]
	for _, s := range k.Splits {
		if s.Name != q.Split {
			continue
		}
		l := Listing{ID: q.ID, Config: k.Name, Split: s.Name, Revision: c.Revision, Files: s.Files, Partial: s.Partial}
		if s.Partial {
			l.Warnings = append(l.Warnings, fmt.Sprintf(
				"dataset %s, configuration %s, split %s: the Hub has converted only its first part to parquet, so rows after it are not seen",
				q.ID, k.Name, s.Name))
		}
		return l, nil
	}
	return Listing{}, &SplitError{ID: q.ID, Config: k.Name, Split: q.Split, Have: k.splitNames()}
}

func (c *catalogue) names() []string {
	names := make([]string, len(c.Configs))
	for i, k := range c.Configs {
		names[i] = k.Name
	}
	return names
}

func (k config) splitNames() []string {
	names := make([]string, len(k.Splits))
	for i, s := range k.Splits {
		names[i] = s.Name
	}
	return names
}

// sort also takes a configuration of the name default for the default one,
// as that library does.
func (c *catalogue) sort() {
	slices.SortFunc(c.Configs, func(a, b config) int { return strings.Compare(a.Name, b.Name) })
	if c.Default == "" && slices.Contains(c.names(), defaultConfig) {
		c.Default = defaultConfig
	}
}

// partPattern splits the folders that a split's converted files are in: those of
// a partial conversion, and the parts that more than 10,000 files are divided into.
var partPattern = regexp.MustCompile(`^(partial-)?(.+?)(?:-part([0-9]+))?$`)

// converted sorts the files of the conversion's branch, <config>/<split>/0000.parquet,
// into what the listing names. A split of the listing without files is left out.
func converted(p parquetListing, files []File) []config {
	var configs []config
	for name, splits := range p {
		k := config{Name: name}
		for splitName := range splits {
			if s := convertedSplit(name, splitName, files); len(s.Files) > 0 {
				k.Splits = append(k.Splits, s)
			}
		}
		if len(k.Splits) > 0 {
			sortSplits(k.Splits)
			configs = append(configs, k)
		}
	}
	return configs
}

func convertedSplit(configName, splitName string, files []File) split {
	s := split{Name: strings.TrimPrefix(splitName, "partial-")}
	part := map[string]int{}
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Path, configName+"/")
		dir, base := path.Split(rest)
		dir = strings.TrimSuffix(dir, "/")
		if !ok || !(family{".parquet"}).has(base) || strings.Contains(dir, "/") {
			continue
		}
		m := partPattern.FindStringSubmatch(dir)
		switch {
		case dir == splitName: // even one that looks like a part
		case m == nil || m[2] != s.Name:
			continue
		default:
			part[f.Path], _ = strconv.Atoi(m[3]) // none is the first
		}
		s.Partial = s.Partial || strings.HasPrefix(dir, "partial-")
		s.Files = append(s.Files, f)
	}
	slices.SortFunc(s.Files, func(a, b File) int {
		if d := part[a.Path] - part[b.Path]; d != 0 {
			return d
		}
		return strings.Compare(path.Base(a.Path), path.Base(b.Path))
	})
	return s
}
