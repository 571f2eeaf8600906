package load

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The benchmarks' server is a process of its own, this test binary started again,
// so that it has a core of its own: otherwise half of what is measured is the
// server. SPECSWEEP_BENCH_SERVER is a command put before it, such as `taskset -c 0`.
const (
	serveEnv   = "SPECSWEEP_BENCH_SERVE"
	wrapperEnv = "SPECSWEEP_BENCH_SERVER"
)

// startBenchServer gives the URL of a server that answers every request with
// benchAnswer, until the benchmark ends.
func startBenchServer(b *testing.B) string {
	b.Helper()
	url, _, _ := startHoldingServer(b, 0)
	return url
}

// startHoldingServer gives a server that holds its answers back until so many
// requests have come: then it says a line on full, and answers them after a line
// on release; and so on.
func startHoldingServer(b *testing.B, hold int) (url string, full *bufio.Reader, release io.Writer) {
	b.Helper()
	words := append(strings.Fields(os.Getenv(wrapperEnv)), os.Args[0], "-test.run=^$")
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", serveEnv, hold), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // its end ends the server
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			b.Errorf("benchmark server: %v", err)
		}
	})
	full = bufio.NewReader(stdout)
	line, err := full.ReadString('\n')
	if err != nil {
		b.Fatalf("benchmark server: %v", err)
	}
	return strings.TrimSpace(line), full, stdin
}

// serveBench is the server's process: it lives as long as its standard input.
func serveBench() error {
	hold, err := strconv.Atoi(os.Getenv(serveEnv))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g := gate{hold: hold, open: make(chan struct{})}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if hold > 0 {
			<-g.enter()
		}
		_, _ = w.Write(benchAnswer)
	})}
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			g.release()
		}
		_ = srv.Close()
	}()
	fmt.Printf("http://%s\n", l.Addr())
	if err := srv.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// gate holds requests back until there are enough and somebody lets them go.
type gate struct {
	hold int

	mu    sync.Mutex
	count int
	open  chan struct{}
}

func (g *gate) enter() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.count++; g.count == g.hold {
		fmt.Println("full")
	}
	return g.open
}

func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
	g.count, g.open = 0, make(chan struct{})
}
