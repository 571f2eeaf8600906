package result

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// eachLine calls f with every line of a file that is not blank, its number and
// whether it is whole: the last one may have been cut off by the end of a process.
// An error of f ends it.
func eachLine(path string, r io.Reader, f func(n int, text []byte, whole bool) error) error {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if ferr := f(n, text, err == nil); ferr != nil {
				return ferr
			}
		}
		if err != nil {
			return nil
		}
	}
}
