//go:build unix

package serve

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var errWrongModel = errors.New("it serves another model")

func untilEnd(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestStartStopsWhatDoesNotBecomeReady(t *testing.T) {
	const old = "an earlier start's last words\n"
	tests := []struct {
		name  string
		role  string
		setup func(o *Options, hello func() error)
		want  []string
		is    error
	}{
		{
			name: "exits first", role: "die",
			setup: func(o *Options, _ func() error) { o.Ready = untilEnd },
			want:  []string{"server under-test exited before it was ready: exit status 3; its log ", "ends with:\n  die is up\n  out of memory"},
		},
		{
			name: "exits first with status 0", role: "finish",
			setup: func(o *Options, _ func() error) { o.Ready = untilEnd },
			want:  []string{"exited before it was ready (exit status 0: the command must stay in the foreground)"},
		},
		{
			name: "exits, and another server answers in its place", role: "die",
			setup: func(o *Options, _ func() error) {
				o.Ready = func(ctx context.Context) error { <-ctx.Done(); return nil }
			},
			want: []string{"exited before it was ready: exit status 3"},
		},
		{
			name: "is not ready in time", role: "serve",
			setup: func(o *Options, hello func() error) {
				o.ReadyTimeout = 20 * time.Millisecond
				o.Ready = func(ctx context.Context) error { return cmp.Or(hello(), untilEnd(ctx)) }
			},
			want: []string{"server under-test was not ready after 20ms: context deadline exceeded", "\n  serve is up"},
			is:   context.DeadlineExceeded,
		},
		{
			name: "is the wrong server", role: "serve",
			setup: func(o *Options, hello func() error) {
				o.Ready = func(context.Context) error { return cmp.Or(hello(), errWrongModel) }
			},
			want: []string{"server under-test did not become ready: it serves another model", "\n  serve is up"},
			is:   errWrongModel,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLobby(t)
			o := l.options(t, tt.role)
			var server *member
			tt.setup(&o, func() (err error) {
				server, err = l.find(t, tt.role)
				return err
			})
			if err := os.WriteFile(o.LogPath, []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := Start(t.Context(), o)
			if err == nil {
				t.Fatalf("Start = pid %d, want an error", p.PID())
			}
			for _, want := range append(tt.want, o.LogPath) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error lacks %q:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), strings.TrimSpace(old)) {
				t.Errorf("error quotes an earlier start:\n%v", err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("errors.Is(%v, %v) = false", err, tt.is)
			}
			if server == nil {
				server = l.wait(t, tt.role)
			}
			server.mustBeGone(t, "the server")
			if log, err := os.ReadFile(o.LogPath); err != nil || !strings.HasPrefix(string(log), old) {
				t.Errorf("log = %q, %v; want it appended to", log, err)
			}
		})
	}
}

func TestStartExitStatusCanBeAskedFor(t *testing.T) {
	l := newLobby(t)
	o := l.options(t, "die")
	o.Ready = untilEnd
	_, err := Start(t.Context(), o)
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
		t.Errorf("Start = %v, want an *exec.ExitError with status 3 in it", err)
	}
}

func TestStartIsInterrupted(t *testing.T) {
	l := newLobby(t)
	o := l.options(t, "serve")
	ctx, cancel := context.WithCancel(t.Context())
	var server *member
	o.Ready = func(ctx context.Context) (err error) {
		server, err = l.find(t, "serve")
		cancel()
		return cmp.Or(err, untilEnd(ctx))
	}
	_, err := Start(ctx, o)
	if !errors.Is(err, context.Canceled) || server == nil {
		t.Fatalf("Start = %v, want context.Canceled", err)
	}
	server.mustBeGone(t, "the server")

	o.LogPath = filepath.Join(t.TempDir(), "never.log")
	if _, err := Start(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("Start with an ended context = %v, want context.Canceled", err)
	}
	if _, err := os.Stat(o.LogPath); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Start with an ended context made a log: %v", err)
	}
}

func TestStartCannot(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("notes.txt", "not a program", 0o600)
	write("badshebang", "#!/nonexistent/python\n", 0o700)
	log := filepath.Join(dir, "server.log")
	tests := []struct {
		name string
		o    Options
		want string
	}{
		{"no command", Options{LogPath: log}, "the command is empty"},
		{"no log", Options{Command: []string{"/bin/true"}}, "no log file is named"},
		{
			"not in PATH",
			Options{Command: []string{"vllm"}, Environ: []string{"PATH=/nonexistent/a:" + dir}, LogPath: log},
			`command "vllm" not found in the PATH of its environment (/nonexistent/a:` + dir + ")",
		},
		{
			"PATH of the plan wins",
			Options{
				Command: []string{"sh"}, Environ: []string{"PATH=/bin"}, LogPath: log,
				Env: map[string]string{"PATH": "/nonexistent/venv/bin"},
			},
			`command "sh" not found in the PATH of its environment (/nonexistent/venv/bin)`,
		},
		{"no PATH", Options{Command: []string{"sh"}, LogPath: log}, `command "sh" not found: its environment has no PATH`},
		{
			"relative folder in PATH",
			Options{Command: []string{"badshebang"}, Dir: dir, Environ: []string{"PATH=.:"}, LogPath: log},
			`command "badshebang" not found in the PATH of its environment (.:)`,
		},
		{
			"relative to its folder",
			Options{Command: []string{"./serve.sh"}, Dir: dir, LogPath: log},
			`command "./serve.sh", looked for at ` + filepath.Join(dir, "serve.sh") + ": no such file or directory",
		},
		{
			"no program",
			Options{Command: []string{"./notes.txt"}, Dir: dir, LogPath: log},
			`command "./notes.txt", looked for at ` + filepath.Join(dir, "notes.txt") + ", is not an executable file",
		},
		{
			"interpreter is missing",
			Options{Command: []string{"./badshebang"}, Dir: dir, LogPath: log},
			"is the interpreter named in its first line missing?",
		},
		{
			"no working folder",
			Options{Command: []string{"/bin/sh"}, Dir: filepath.Join(dir, "gone"), LogPath: log},
			"its working folder: stat " + filepath.Join(dir, "gone"),
		},
		{
			"no folder for the log",
			Options{Command: []string{"/bin/sh"}, LogPath: filepath.Join(dir, "logs", "a.log")},
			"opening its log: open " + filepath.Join(dir, "logs", "a.log"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Name = "ckpt-1000"
			p, err := Start(t.Context(), tt.o)
			if err == nil {
				t.Fatalf("Start = pid %d, want an error", p.PID())
			}
			for _, want := range []string{"starting server ckpt-1000: ", tt.want} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Start = %q, want it to contain %q", err, want)
				}
			}
		})
	}
}
