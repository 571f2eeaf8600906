package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	// fileEnding tells data/chat.jsonl from org/chat; Llama-3.1 has none, and .v2 is
	// a version.
	fileEnding    = regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]*$`)
	versionEnding = regexp.MustCompile(`\.[vV][0-9]+$`)
	// hubID is owner/name as the Hub allows them.
	hubID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

// IsHubID reports whether input_data names a dataset on the Hub when no file or
// folder of that name exists: owner/name, without the ending of a file and without
// a leading ./ ../ / or ~.
func IsHubID(name string) bool {
	return hubID.MatchString(name) && !hasFileEnding(name)
}

func hasFileEnding(name string) bool {
	return fileEnding.MatchString(name) && !versionEnding.MatchString(name)
}

// input finds out what input_data names: what exists here wins over the Hub. The
// Hub itself is not asked.
func (l *loader) input(doc *document, at, name string, d *Dataset) {
	d.InputData = l.path(name)
	problem := ""
	_, err := os.Stat(d.InputData)
	switch {
	case strings.TrimSpace(name) == "":
		problem = "must not be empty"
	case strings.HasPrefix(name, "~"):
		problem = fmt.Sprintf("no such file or folder: %s (~ is not expanded: write ${HOME} or the whole path)", name)
	case err == nil:
	case errors.Is(err, fs.ErrNotExist) && IsHubID(name):
		d.InputData, d.Hub = name, true
		return
	default:
		problem = statProblem(d.InputData, err)
		if errors.Is(err, fs.ErrNotExist) {
			problem += nearby(name, d.InputData) + notOnHub(name)
		}
	}
	if problem != "" {
		doc.add(at+".input_data", "%s", problem)
		return
	}
	for _, key := range []string{"dataset_name", "revision"} {
		if doc.has(at + "." + key) {
			doc.add(at+"."+key, "goes with a dataset on the Hub only, and %s is a file or folder here", d.InputData)
		}
	}
}

// nearby names the file beside a missing one that it may have been meant for.
func nearby(name, path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "" // that the file is missing has been said
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := nearest(filepath.Base(path), names); near != "" {
		return fmt.Sprintf(" (nearby: %s)", filepath.ToSlash(filepath.Join(filepath.Dir(name), near)))
	}
	return ""
}

// notOnHub says of a name that might also be an id why it is not taken for one.
func notOnHub(name string) string {
	if hubID.MatchString(name) {
		return fmt.Sprintf("; not looked for on the Hub either, since %s is the ending of a file", fileEnding.FindString(name))
	}
	return ""
}

func statProblem(path string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file or folder: " + path
	}
	return err.Error()
}
