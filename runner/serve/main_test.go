//go:build unix

package serve

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is also every server of these tests: with helperRole set it
// plays that role instead of running tests.
const (
	helperRole   = "SERVE_HELPER_ROLE"
	helperAddr   = "SERVE_HELPER_ADDR"   // the test's lobby
	helperLog    = "SERVE_HELPER_LOG"    // for roles that start a server themselves
	helperScript = "SERVE_HELPER_SCRIPT" // what the role "sweep" launches
	helperTerms  = "SERVE_HELPER_TERMS"  // how many SIGTERMs it takes to end the process; default 1

	// The race detector sleeps a second before each exit unless told not to.
	exitAtOnce = "atexit_sleep_ms=0"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(helperRole); role != "" {
		os.Exit(play(role))
	}
	goleak.VerifyTestMain(m)
}

// play is the life of a helper process. Each tells the lobby its role and pid
// and keeps the connection open, so that its end is seen there, whoever caused
// it. It ends by itself when the test ends.
func play(role string) int {
	terminated, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	switch role {
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		terminated = context.Background()
	case "print-env":
		dir, _ := os.Getwd()
		fmt.Println("cwd " + dir)
		for _, kv := range os.Environ() {
			fmt.Println("env " + kv)
		}
	case "parent", "parent-without-guard":
		startAsParent(role) // first, so that its report says that the server is guarded
	case "sweep":
		return sweep()
	}
	if n, _ := strconv.Atoi(os.Getenv(helperTerms)); n > 1 {
		terminated = terminatedTimes(n)
	}
	fmt.Println(role, "is up")
	told := report(role)
	switch role {
	case "die":
		fmt.Fprintln(os.Stderr, "\x1b[31mout of memory\x1b[0m")
		return 3
	case "finish":
		return 0
	case "family":
		spawn("stubborn")
	case "setsid", "daemon":
		if err := outside("outsider", role == "daemon"); err != nil {
			fmt.Println("starting what leaves the group:", err)
			return 9
		}
	}
	select {
	case <-terminated.Done():
		fmt.Println(role, "says goodbye")
		return 0
	case <-told:
		return 1
	}
}

// report says hello and answers every line with "pong", until it is told "end"
// or the test ends.
func report(role string) (told <-chan struct{}) {
	conn, err := net.Dial("tcp", os.Getenv(helperAddr))
	if err != nil {
		fmt.Println("no lobby:", err)
		os.Exit(9)
	}
	fmt.Fprintln(conn, role, os.Getpid())
	end := make(chan struct{})
	go func() {
		defer close(end)
		for lines := bufio.NewScanner(conn); lines.Scan() && lines.Text() != "end"; {
			fmt.Fprintln(conn, "pong")
		}
	}()
	return end
}

// spawn starts a grandchild and returns once it is up (it prints a line then).
func spawn(role string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperRole+"="+role)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		fmt.Println("spawning:", err)
		os.Exit(9)
	}
}

func startAsParent(role string) {
	child := "family"
	if role == "parent-without-guard" {
		child = "serve"
	}
	p, err := Start(context.Background(), Options{
		Name: child, Command: []string{os.Args[0]}, LogPath: os.Getenv(helperLog), StopGrace: time.Second,
		Env: map[string]string{helperRole: child, helperAddr: os.Getenv(helperAddr), "GORACE": exitAtOnce},
	})
	if err != nil {
		fmt.Println("starting:", err)
		os.Exit(9)
	}
	if role == "parent-without-guard" {
		dismissGuard(p)
	}
}
