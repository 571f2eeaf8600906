//go:build unix

package main

import (
	"os"
	"syscall"
)

// schedulerSignals are what schedulers send before they end a job, beside SIGTERM: the
// one that people name in sbatch --signal.
func schedulerSignals() []os.Signal { return []os.Signal{syscall.SIGUSR1} }
