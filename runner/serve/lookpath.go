package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// lookPath finds a command's file the way the server's own shell would: by the
// PATH of the server's environment, and relative to its working folder. os/exec
// would take this program's PATH, and so miss the virtual environment that a
// plan's env names. The error names the command and where it was looked for.
func lookPath(name, dir string, env []string) (string, error) {
	if filepath.Base(name) != name {
		return lookFile(name, dir)
	}
	path, ok := lookupEnv(env, "PATH")
	if !ok || path == "" {
		return "", fmt.Errorf("command %q not found: its environment has no PATH; give the full path", name)
	}
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue // as os/exec does: what runs must not depend on the folder one stands in
		}
		if found, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("command %q not found in the PATH of its environment (%s); give the full path, or set PATH in its env",
		name, path)
}

func lookFile(name, dir string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		abs, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			return "", fmt.Errorf("command %q: %w", name, err)
		}
		path = abs
	}
	found, err := exec.LookPath(path)
	if err == nil {
		return found, nil
	}
	// The path stands in our own words; only the reason is taken from these two.
	if e, ok := errors.AsType[*exec.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", fmt.Errorf("command %q, looked for at %s, is not an executable file: %w", name, path, err)
	}
	return "", fmt.Errorf("command %q, looked for at %s: %w", name, path, err)
}

// lookupEnv returns the last value, which is the one that os/exec passes on.
// Windows writes Path and does not mind the case.
func lookupEnv(env []string, key string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		k, v, ok := strings.Cut(env[i], "=")
		if ok && (k == key || runtime.GOOS == "windows" && strings.EqualFold(k, key)) {
			return v, true
		}
	}
	return "", false
}
