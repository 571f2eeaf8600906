package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What stands before the server's and the clients' commands, such as `taskset -c 0`.
const (
	serverEnv = "SPECSWEEP_BENCH_SERVER"
	clientEnv = "SPECSWEEP_BENCH_CLIENT"
)

// startServer gives the root of a server in a process of its own.
func startServer(tb testing.TB) string {
	tb.Helper()
	words := append(strings.Fields(os.Getenv(serverEnv)), os.Args[0])
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), roleEnv+"=server", "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // its end ends the server
	if err != nil {
		tb.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			tb.Errorf("benchmark server: %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		tb.Fatalf("benchmark server: %v", err)
	}
	return strings.TrimSpace(line)
}

// get is a page of the server's.
func get(tb testing.TB, url string) []byte {
	tb.Helper()
	hc := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := hc.Get(url)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		tb.Fatalf("GET %s: %s, %v", url, resp.Status, err)
	}
	return text
}

// count is how many requests the server has answered: its word, not a client's.
func count(tb testing.TB, root string) int {
	tb.Helper()
	n, err := strconv.Atoi(string(get(tb, root+"/count")))
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// figures are one client's turn.
type figures struct {
	rate float64 // requests/s
	cpu  float64 // µs of user and system time a request, start-up and warm-up included
}

// turn runs a client's command once. The command prints a JSON object with its
// Requests, without those before its clock started, and their Seconds; read turns
// the output of others into that.
func turn(tb testing.TB, root string, cmd *exec.Cmd, read func([]byte) (outcome, error)) figures {
	tb.Helper()
	before := count(tb, root)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s: %v\n%s", cmd, err, text)
	}
	got, err := read(text)
	if err != nil {
		tb.Fatalf("%s: %v\n%s", cmd, err, text)
	}
	answered := count(tb, root) - before
	if got.Requests <= 0 || got.Seconds <= 0 || answered < got.Requests {
		tb.Fatalf("%s: %d requests in %g s; the server answered %d", cmd, got.Requests, got.Seconds, answered)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return figures{
		rate: float64(got.Requests) / got.Seconds,
		cpu:  float64(used) / float64(time.Microsecond) / float64(answered),
	}
}

type outcome struct {
	Requests int
	Seconds  float64
}

func readOutcome(text []byte) (o outcome, err error) {
	if err = json.Unmarshal(text, &o); err != nil {
		err = fmt.Errorf("reading its figures: %w", err)
	}
	return o, err
}

// pinned is a command on the clients' core.
func pinned(tb testing.TB, words ...string) *exec.Cmd {
	words = append(strings.Fields(os.Getenv(clientEnv)), words...)
	return exec.CommandContext(tb.Context(), words[0], words[1:]...)
}
