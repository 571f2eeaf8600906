package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ShardDirs is the folders shard-<i> below dir that hold a manifest, by their number;
// none when dir has no such folder. It is an error when it has some, but none was begun.
func ShardDirs(dir string) ([]string, error) {
	dirs, _, err := lookForShards(dir)
	return dirs, err
}

// LeftOut names, for people, what lies beside the folders that ShardDirs finds below dir,
// hidden files aside: files and folders of others, and shards that have not begun.
func LeftOut(dir string) ([]string, error) {
	_, others, err := lookForShards(dir)
	return others, err
}

func lookForShards(dir string) (dirs, others []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("looking for shards: %w", err)
	}
	begun := true
	for _, e := range entries {
		if _, ok := shardNumber(e.Name()); !ok || !e.IsDir() {
			if !strings.HasPrefix(e.Name(), ".") {
				others = append(others, e.Name())
			}
			continue
		}
		path := filepath.Join(dir, e.Name())
		switch _, err := os.Stat(filepath.Join(path, ManifestFile)); {
		case err == nil:
			dirs = append(dirs, path)
		case errors.Is(err, fs.ErrNotExist):
			begun = false
			others = append(others, fmt.Sprintf("%s (no %s: it has not begun)", e.Name(), ManifestFile))
		default:
			return nil, nil, fmt.Errorf("looking for shards: %w", err)
		}
	}
	if !begun && len(dirs) == 0 {
		return nil, nil, fmt.Errorf("%s has folders of shards, but none with a %s: no shard has begun", dir, ManifestFile)
	}
	slices.SortStableFunc(dirs, func(a, b string) int {
		i, _ := shardNumber(filepath.Base(a))
		j, _ := shardNumber(filepath.Base(b))
		return i - j
	})
	return dirs, others, nil
}

func shardNumber(name string) (int, bool) {
	number, ok := strings.CutPrefix(name, ShardPrefix)
	n, err := strconv.Atoi(number)
	return n, ok && err == nil
}
