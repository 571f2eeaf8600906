package serve

import (
	"fmt"
	"net"
	"testing"
)

func TestFreePort(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatalf("port %d is not free: %v", port, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestExpand(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing to replace", "--host=0.0.0.0", "--host=0.0.0.0"},
		{"a word", "{port}", "31337"},
		{"a URL", "http://localhost:{port}/v1", "http://localhost:31337/v1"},
		{"twice", "{port}:{port}", "31337:31337"},
		{"other braces stay", `{"method": "eagle3", "k": {k}, "p": {port}}`, `{"method": "eagle3", "k": {k}, "p": 31337}`},
		{"case counts", "{PORT} {port", "{PORT} {port"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Expand(tt.in, 31337); got != tt.want {
				t.Errorf("Expand(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}
