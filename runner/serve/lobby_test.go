//go:build unix

package serve

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// patience bounds what must happen; no test waits for it to pass.
const patience = 30 * time.Second

// dismissGuard takes the guard away, as somebody's kill would.
func dismissGuard(p *Process) { p.group.guard.dismiss() }

// lobby is where helper processes report.
type lobby struct {
	listener *net.TCPListener
	early    map[string]*member // who came before being asked for
}

// member is one helper process, seen through its connection.
type member struct {
	pid  int
	conn net.Conn
	in   *bufio.Reader
}

func newLobby(t *testing.T) *lobby {
	t.Helper()
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &lobby{listener: l, early: map[string]*member{}}
}

// options are those of a server that plays a role.
func (l *lobby) options(t *testing.T, role string) Options {
	t.Helper()
	return Options{
		Name:    "under-test",
		Command: []string{executable(t)},
		LogPath: filepath.Join(t.TempDir(), "server.log"),
		Env:     map[string]string{helperRole: role, helperAddr: l.listener.Addr().String(), "GORACE": exitAtOnce},
		// Long, so that a test which needs the kill has to say so.
		StopGrace: patience,
	}
}

func executable(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// find returns the helper that plays a role once it has reported. It may be
// called where a test must not be ended, in Ready.
func (l *lobby) find(t *testing.T, role string) (*member, error) {
	for l.early[role] == nil {
		if err := l.accept(t); err != nil {
			return nil, fmt.Errorf("waiting for %s to report: %w", role, err)
		}
	}
	m := l.early[role]
	delete(l.early, role)
	return m, nil
}

func (l *lobby) wait(t *testing.T, role string) *member {
	t.Helper()
	m, err := l.find(t, role)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (l *lobby) accept(t *testing.T) error {
	if err := l.listener.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	conn, err := l.listener.Accept()
	if err != nil {
		return err
	}
	t.Cleanup(func() { conn.Close() })
	m := &member{conn: conn, in: bufio.NewReader(conn)}
	var role string
	if _, err := fmt.Fscanln(m.in, &role, &m.pid); err != nil {
		return err
	}
	l.early[role] = m
	return nil
}

// mustBeGone fails the test when the process does not end.
func (m *member) mustBeGone(t *testing.T, who string) {
	t.Helper()
	if err := m.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	// End of file, or a reset when it was killed with unread bytes.
	if _, err := m.in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s (pid %d) still runs", who, m.pid)
	}
}

// end tells the process to exit by itself, with status 1.
func (m *member) end(t *testing.T) {
	t.Helper()
	if _, err := fmt.Fprintln(m.conn, "end"); err != nil {
		t.Error(err)
	}
}

// mustAnswer fails the test when the process does not run.
func (m *member) mustAnswer(t *testing.T, who string) {
	t.Helper()
	if err := m.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(m.conn, "ping"); err != nil {
		t.Fatalf("%s (pid %d): %v", who, m.pid, err)
	}
	if answer, err := m.in.ReadString('\n'); err != nil {
		t.Errorf("%s (pid %d) answers %q, %v", who, m.pid, answer, err)
	}
}
