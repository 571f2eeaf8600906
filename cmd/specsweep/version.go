package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases and `make build`.
var version = "dev"

func newVersionCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactArgs(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(e.stdout, versionLine())
			return err
		},
	}
}

func versionLine() string {
	built := []string{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if commit := buildCommit(); commit != "" {
		built = append([]string{"commit " + commit}, built...)
	}
	return fmt.Sprintf("specsweep %s (%s)\n", version, strings.Join(built, ", "))
}

// buildCommit is the commit that the go command stamped into the binary; empty
// when it was built elsewhere than in a checkout.
func buildCommit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var rev, dirty string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			rev = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	return rev + dirty
}
