//go:build !unix

package main

import "os"

// schedulerSignals is none: there is no SIGUSR1.
func schedulerSignals() []os.Signal { return nil }
