package result

import (
	"errors"
	"os"
	"path/filepath"
)

// replaceFile writes beside the file and renames: Windows has no rename that is
// known to be atomic, which is why renameio does not support it.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// syncDir does nothing: Windows cannot sync a folder.
func syncDir(string) error { return nil }
