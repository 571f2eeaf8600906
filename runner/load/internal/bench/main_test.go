package bench

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// roleEnv makes this binary something else than tests: a server, or a client with
// its arguments as JSON in jobEnv.
const (
	roleEnv = "SPECSWEEP_BENCH_ROLE"
	jobEnv  = "SPECSWEEP_BENCH_JOB"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleEnv) {
	case "":
		goleak.VerifyTestMain(m)
		return
	case "server":
		err = serve(os.Stdin, os.Stdout)
	case "client":
		err = client(os.Getenv(jobEnv), os.Stdout)
	default:
		err = fmt.Errorf("%s=%s: want server or client", roleEnv, os.Getenv(roleEnv))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
