package load

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
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
	words := append(strings.Fields(os.Getenv(wrapperEnv)), os.Args[0], "-test.run=^$")
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), serveEnv+"=1", "GOMAXPROCS=1")
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
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatalf("benchmark server: %v", err)
	}
	return strings.TrimSpace(url)
}

// serveBench is the server's process.
func serveBench() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(benchAnswer)
	})}
	go func() { // the process ends with it
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = srv.Close()
	}()
	fmt.Printf("http://%s\n", l.Addr())
	if err := srv.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
