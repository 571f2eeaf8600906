//go:build unix

package serve

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/specsweep/specsweep/runner/secret"
)

// run starts a shell script as a server, waits for its end and returns its log.
func run(t *testing.T, o Options, script string) (log string, err error) {
	t.Helper()
	o.Name, o.Command = "shell", []string{"/bin/sh", "-c", script}
	o.Environ = []string{"PATH=" + os.Getenv("PATH")}
	if o.LogPath == "" {
		o.LogPath = filepath.Join(t.TempDir(), "server.log")
	}
	o.Ready = untilEnd
	_, err = Start(t.Context(), o)
	b, readErr := os.ReadFile(o.LogPath)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(b), err
}

func TestSecretsStayOutOfTheLog(t *testing.T) {
	tests := []struct {
		name, script, want string
		secrets            []string
	}{
		{"none to hide", `printf 'key %s\n' "$KEY"; exit 3`, "key planted-key-1\n", nil},
		{"stdout and stderr", `echo "out $KEY"; echo "err $KEY" >&2; exit 3`, "out ***\nerr ***\n", []string{"planted-key-1"}},
		{"in pieces", `for c in key plan ted -key -1 .; do printf %s "$c"; done; exit 3`, "key***.", []string{"planted-key-1"}},
		{"cut off by the end", `printf 'key planted-key-'; exit 3`, "key ***", []string{"planted-key-1"}},
		{"much", `i=0; while [ $i -lt 3000 ]; do echo "line $KEY $KEY"; i=$((i+1)); done; exit 3`,
			strings.Repeat("line *** ***\n", 3000), []string{"planted-key-1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log, err := run(t, Options{Env: map[string]string{"KEY": "planted-key-1"}, Secrets: secret.NewRedactor(tt.secrets...)}, tt.script)
			if log != tt.want {
				t.Errorf("log = %.200q, want %.200q", log, tt.want)
			}
			if err == nil || tt.secrets != nil && strings.Contains(err.Error(), "planted") {
				t.Errorf("error = %v, shows a secret", err)
			}
		})
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	_, err := Start(t.Context(), Options{
		Name: "a", Command: []string{"./planted-key-1"}, Dir: t.TempDir(), LogPath: filepath.Join(t.TempDir(), "a.log"),
		Secrets: secret.NewRedactor("planted-key-1"),
	})
	if err == nil || strings.Contains(err.Error(), "planted-key-1") || !strings.Contains(err.Error(), `command "./***"`) {
		t.Errorf("Start = %v", err)
	}
}

// What has left the group and cleared its environment is beyond our reach, and may hold
// the pipe for as long as it likes.
func TestStopDoesNotWaitForWhoeverHoldsThePipe(t *testing.T) {
	l := newLobby(t)
	o := l.options(t, "setsid")
	o.Secrets = secret.NewRedactor("planted-key-1")
	p := mustStart(t, t.Context(), o)
	l.wait(t, "setsid")
	outsider := l.wait(t, "outsider")
	if err := p.Stop(); err != nil {
		t.Errorf("Stop() = %v", err)
	}
	outsider.mustAnswer(t, "what has left the group")
	outsider.end(t)
	outsider.mustBeGone(t, "what has left the group")
}

// A server's life does not depend on the disk that its log is on.
func TestLogThatCannotBeWritten(t *testing.T) {
	log, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := newOutput(log, secret.NewRedactor("planted-key-1"))
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 1<<20) // more than any pipe holds
	if n, err := out.server.WriteString(big); n != len(big) || err != nil {
		t.Errorf("the server's write = %d, %v: it is held up by its log", n, err)
	}
	out.started()
	out.drain()
	if out.err == nil {
		t.Error("nobody is told that the log is not whole")
	}
	p := &Process{log: serverLog{path: filepath.Join(t.TempDir(), "gone")}, out: out}
	if got := p.quote(); !strings.Contains(got, "its log could not be written to the end (") {
		t.Errorf("quote() = %q", got)
	}
}

// outside starts a helper in a session of its own, which inherits our output, and the
// mark where it is not to be beyond our reach.
func outside(role string, reach bool) error {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperRole+"="+role)
	if !reach {
		cmd.Env = slices.DeleteFunc(cmd.Env, func(kv string) bool { return strings.HasPrefix(kv, markName+"=") })
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}
