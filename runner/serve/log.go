package serve

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What an error quotes of a log.
const (
	tailLines = 20
	tailBytes = 2 << 10
	// tailRead is how far back the log is read: much more than is quoted, since
	// one progress bar redraws its line hundreds of times.
	tailRead = 64 << 10
)

// ansi matches terminal escape sequences (ECMA-48): CSI with parameters, OSC up
// to its terminator, and the two-byte forms. Servers colour their logs.
var ansi = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])`)

// serverLog is the file that takes a server's output. start is where this
// start's output begins: what an earlier one left is never quoted.
type serverLog struct {
	path  string
	start int64
}

// openLog opens the log for appending and remembers where it ends now.
func openLog(path string) (*os.File, serverLog, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, serverLog{}, fmt.Errorf("opening its log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, serverLog{}, fmt.Errorf("opening its log: %w", err)
	}
	return f, serverLog{path: path, start: info.Size()}, nil
}

// quote is the end of an error message: the log's name and its last lines.
func (l serverLog) quote() string {
	tail, err := l.read()
	switch {
	case err != nil:
		return fmt.Sprintf("its log %s cannot be read (%v)", l.path, err)
	case tail == "":
		return fmt.Sprintf("its log %s is empty", l.path)
	}
	return fmt.Sprintf("its log %s ends with:\n  %s", l.path, strings.ReplaceAll(tail, "\n", "\n  "))
}

func (l serverLog) read() (string, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	from := max(l.start, size-tailRead)
	b, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
	if err != nil {
		return "", err
	}
	return tail(string(b)), nil
}

// tail returns the last lines of a log, at most tailLines and tailBytes, as
// text that is safe to show: valid UTF-8 without escape sequences or control
// characters. Blank lines are left out, and of a line that was redrawn with
// carriage returns only its last state stays.
func tail(log string) string {
	log = ansi.ReplaceAllString(strings.ToValidUTF8(log, string(utf8.RuneError)), "")
	lines := strings.Split(log, "\n")
	var kept []string // last first
	room := tailBytes
	for i := len(lines) - 1; i >= 0 && len(kept) < tailLines; i-- {
		line := clean(lines[i])
		if line == "" {
			continue
		}
		if len(line) > room {
			if len(kept) == 0 { // one endless line: better its end than nothing
				kept = append(kept, strings.ToValidUTF8(line[len(line)-room:], ""))
			}
			break
		}
		kept = append(kept, line)
		room -= len(line) + len("\n")
	}
	var b strings.Builder
	for i := len(kept) - 1; i >= 0; i-- {
		b.WriteString(kept[i])
		if i > 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func clean(line string) string {
	line = strings.TrimRight(line, "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	line = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, line)
	return strings.TrimRight(line, " ")
}
