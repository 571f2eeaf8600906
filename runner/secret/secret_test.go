package secret

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	tests := map[string]bool{
		"HF_TOKEN": true, "OPENAI_API_KEY": true, "openai_apikey": true, "DB_PASSWORD": true, "MYSQL_PASSWD": true,
		"AWS_SECRET_ACCESS": true, "GOOGLE_APPLICATION_CREDENTIALS": true, "Set-Cookie": true, "Authorization": true,
		"X-Auth": true, "--api-key": true, "TOKENIZER_TOKEN": true,
		"PATH": false, "TOKENIZERS_PARALLELISM": false, "--tokenizer": false, "GIT_AUTHOR_NAME": false,
		"Accept": false, "": false, "CUDA_VISIBLE_DEVICES": false,
	}
	for name, want := range tests {
		if got := Name(name); got != want {
			t.Errorf("Name(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestRedactorString(t *testing.T) {
	tests := []struct {
		name    string
		secrets []string
		text    string
		want    string
	}{
		{"none", nil, "sk-1234", "sk-1234"},
		{"not there", []string{"sk-1234"}, "sk-123", "sk-123"},
		{"whole text", []string{"sk-1234"}, "sk-1234", "***"},
		{"within a word", []string{"sk-1234"}, "asked with sk-12345.", "asked with ***5."},
		{"twice", []string{"sk-1234"}, "sk-1234sk-1234", "******"},
		{"the longest wins", []string{"sk-1", "sk-1234"}, "sk-1234 sk-12", "*** ***2"},
		{"overlapping", []string{"abcdef", "efghij"}, "<abcdefghij>", "<***>"},
		{"a false start", []string{"aaab"}, "aaaab", "a***"},
		{"blanks around it", []string{" sk-1234\n"}, "(sk-1234)", "(***)"},
		{"in a URL", []string{"p@ss w/rd"}, "u:p%40ss+w%2Frd@h u:p@ss%20w%2Frd@h", "u:***@h u:***@h"},
		{"lines of one", []string{"first line\r\nsecond\n"}, "a second\nfirst line", "a ***\n***"},
		{"too short", []string{"abc", ""}, "abc", "abc"},
		{"not UTF-8", []string{"\xff\xfe\xfdz"}, "a\xff\xfe\xfdz\xff", "a***\xff"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := NewRedactor(tt.secrets...).String(tt.text); got != tt.want {
				t.Errorf("String(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
	var none *Redactor
	if got := none.String("sk-1234"); got != "sk-1234" {
		t.Errorf("the nil Redactor makes %q", got)
	}
}

func TestRedactorError(t *testing.T) {
	r := NewRedactor("sk-1234")
	err := r.Error(&fs.PathError{Op: "open", Path: "/x/sk-1234", Err: fs.ErrNotExist})
	if err.Error() != "open /x/***: file does not exist" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Error = %v", err)
	}
	if err := r.Error(nil); err != nil {
		t.Errorf("Error(nil) = %v", err)
	}
	if err := r.Error(fs.ErrExist); err != fs.ErrExist { //nolint:errorlint // the very same
		t.Errorf("Error of an innocent error = %#v", err)
	}
}

func TestWriter(t *testing.T) {
	tests := []struct {
		name   string
		writes []string
		early  string // what is there before Close
		want   string
	}{
		{"one write", []string{"key sk-1234\n"}, "key ***\n", "key ***\n"},
		{"split", []string{"key sk-", "12", "34\n"}, "key ***\n", "key ***\n"},
		{"a false start", []string{"key sk-", "12x\n"}, "key sk-12x\n", "key sk-12x\n"},
		{"held back", []string{"Loading sk-"}, "Loading ", "Loading sk-"},
		{"no newline, nothing held back", []string{"Loading 5 %\r"}, "Loading 5 %\r", "Loading 5 %\r"},
		{"torn at the end", []string{"key sk-123"}, "key ", "key ***"},
		{"overlap over two writes", []string{"sk-12", "34secret\n"}, "***\n", "***\n"},
		{"overlap torn", []string{"sk-1234sec"}, "***", "***"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			w := NewWriter(&b, NewRedactor("sk-1234", "1234secret"))
			for _, text := range tt.writes {
				if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			if got := b.String(); got != tt.early {
				t.Errorf("before Close %q, want %q", got, tt.early)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != tt.want {
				t.Errorf("at the end %q, want %q", got, tt.want)
			}
		})
	}
}

func TestInURL(t *testing.T) {
	tests := []struct{ url, text, want string }{
		{"http://127.0.0.1:1", "http://127.0.0.1:1", "http://127.0.0.1:1"},
		{"http://user:pass-3@h:1", "user:pass-3 Basic dXNlcjpwYXNzLTM=", "user:*** Basic ***"},
		{"http://u:p%40ss@h", "p@ss p%40ss", "*** ***"},
		{"http://token-5@h", "token-5", "***"},
		{"http://user:pass-3@h:{port}", "pass-3 user:pass-3", "*** ***"},
		{"user:pass-3@h:%", "pass-3", "***"},
	}
	for _, tt := range tests {
		if got := NewRedactor(InURL(tt.url)...).String(tt.text); got != tt.want {
			t.Errorf("InURL(%q): %q, want %q", tt.url, got, tt.want)
		}
	}
}

// However a stream is cut into writes, it says the same, and no secret.
func FuzzWriter(f *testing.F) {
	f.Add("sk-1234", "1234secret", "key sk-1234secret sk-12", 3)
	f.Add("aaab", "aabaaab", "aaaabaaabaab", 1)
	f.Fuzz(func(t *testing.T, a, b, text string, step int) {
		if step < 1 || strings.ContainsAny(a+b, "*") {
			return // "***" may be part of such a secret
		}
		r := NewRedactor(a, b)
		var out bytes.Buffer
		w := NewWriter(&out, r)
		for rest := text; rest != ""; {
			n := min(step, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		whole := r.String(text)
		if !strings.HasPrefix(whole, out.String()) {
			t.Errorf("in steps of %d: %q, at once %q", step, out.String(), whole)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{strings.TrimSpace(a), strings.TrimSpace(b)} {
			if len(value) >= MinLength && strings.Contains(out.String(), value) {
				t.Errorf("%q holds %q", out.String(), value)
			}
		}
	})
}
