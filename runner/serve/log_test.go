package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestTail(t *testing.T) {
	tests := []struct {
		name, log, want string
	}{
		{"empty", "", ""},
		{"blank lines only", "\n \r\n\n", ""},
		{"no newline at the end", "a\nb", "a\nb"},
		{"blank lines and line ends of Windows", "a\r\n\r\nb\r\n", "a\nb"},
		{"twenty lines", numbered(1, 25), strings.TrimSuffix(numbered(6, 25), "\n")},
		{"colours", "\x1b[1;31mERROR\x1b[0m 05-01 CUDA\x1b[K", "ERROR 05-01 CUDA"},
		{"title and link sequences", "\x1b]0;title\x07a \x1b]8;;http://x\x1b\\b\x1b(B", "a b"},
		{"progress bar", "Loading:  0%\rLoading: 50%\rLoading: 100%\nready\n", "Loading: 100%\nready"},
		{"control characters", "a\x00b\x07c\td\u202ee\x7f", "abc de"},
		{"not UTF-8", "a\xffb", "a\ufffdb"},
		{"other scripts stay", "模型 加载完成 ✓", "模型 加载完成 ✓"},
		{"an endless line", "first\n" + strings.Repeat("é", 3000), strings.Repeat("é", 1024)},
		{"whole lines within the limit", strings.Repeat("x", 1500) + "\n" + strings.Repeat("y", 1500), strings.Repeat("y", 1500)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tail(tt.log); got != tt.want {
				t.Errorf("tail(%q) = %q, want %q", tt.log, got, tt.want)
			}
		})
	}
}

func FuzzTail(f *testing.F) {
	f.Add(numbered(1, 30))
	f.Add("\x1b[31mred\x1b[0m\r\n\x1b]0;t\x07\xff\x9b\x00")
	f.Add(strings.Repeat("é", 4000) + "\n" + strings.Repeat("a\n", 40))
	f.Fuzz(func(t *testing.T, log string) {
		got := tail(log)
		if len(got) > tailBytes {
			t.Errorf("%d bytes", len(got))
		}
		if n := strings.Count(got, "\n") + 1; n > tailLines {
			t.Errorf("%d lines", n)
		}
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		for _, r := range got {
			if r != '\n' && !unicode.IsGraphic(r) {
				t.Errorf("control character %q in %q", r, got)
			}
		}
	})
}

func TestLogQuote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.log")
	quote := func() string {
		f, l, err := openLog(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(""); err != nil {
			t.Fatal(err)
		}
		return l.quote()
	}
	if got, want := quote(), "its log "+path+" is empty"; got != want {
		t.Errorf("new log: %q, want %q", got, want)
	}
	if err := os.WriteFile(path, []byte(numbered(1, 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := quote(), "its log "+path+" is empty"; got != want {
		t.Errorf("nothing since this start: %q, want %q", got, want)
	}
	// Far more than is read back, so that the beginning must not matter.
	big := strings.Repeat("x", 3*tailRead) + "\n" + numbered(1, 3)
	if err := os.WriteFile(path, []byte(big), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "its log " + path + " ends with:\n  line 1\n  line 2\n  line 3"
	if got := (serverLog{path: path}).quote(); got != want {
		t.Errorf("big log: %q, want %q", got, want)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := (serverLog{path: path}).quote(); !strings.Contains(got, path+" cannot be read (") {
		t.Errorf("log removed: %q", got)
	}
}
