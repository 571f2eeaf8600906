package serve

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// FreePort returns a TCP port on 127.0.0.1 that nothing listens on. The port is
// not reserved: another program may take it before the server does, and the
// server then says so in its log and exits.
func FreePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // returns at once
	if err != nil {
		return 0, fmt.Errorf("asking for a free TCP port on 127.0.0.1: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("releasing port %d on 127.0.0.1: %w", port, err)
	}
	return port, nil
}

// Expand replaces every {port} in a word of a command, a value of an
// environment or a URL. Nothing else in braces is touched: arguments are often
// JSON.
func Expand(s string, port int) string {
	return strings.ReplaceAll(s, "{port}", strconv.Itoa(port))
}
