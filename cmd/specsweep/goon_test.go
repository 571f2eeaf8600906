package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/specsweep/specsweep/plan"
)

func TestGoOnCommand(t *testing.T) {
	t.Parallel()
	shard := &shardJob{Shard: plan.Shard{Index: 2, Of: 8}}
	for _, tt := range []struct {
		name    string
		command []string
		shard   *shardJob
		resume  string
		want    string
	}{
		{"new", []string{"specsweep", "run", "p.yaml"}, nil, "", "specsweep run p.yaml --resume 'a b/set'"},
		{"with out", []string{"specsweep", "run", "--out", "x", "p.yaml"}, nil, "", "specsweep run p.yaml --resume 'a b/set'"},
		{"with out=", []string{"specsweep", "run", "--out=x", "p.yaml"}, nil, "", "specsweep run p.yaml --resume 'a b/set'"},
		{
			"resumed", []string{"specsweep", "run", "p.yaml", "--resume", "last", "--only", "server=it's"},
			nil, "last", `specsweep run p.yaml --only 'server=it'\''s' --resume 'a b/set'`,
		},
		{
			"shard", []string{"specsweep", "run", "p.yaml", "--shard", "2/8", "--out", "x"},
			shard, "", "specsweep run p.yaml --shard 2/8 --out x --resume auto",
		},
		{
			"resumed shard", []string{"specsweep", "run", "p.yaml", "--shard", "2/8", "--out", "x", "--resume=auto"},
			shard, "auto", "specsweep run p.yaml --shard 2/8 --out x --resume=auto",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			job := sweepJob{command: tt.command, shard: tt.shard, resume: resumeFlags{dir: tt.resume}}
			if got := goOnCommand(&job, filepath.Join("a b", "set")); got != filepath.FromSlash(tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// The second Ctrl-C kills; no other signal does, whatever came before it.
func TestInterruptedBy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		signals []os.Signal
		letKill int // how often Ctrl-C was given its default effect back
	}{
		{"Ctrl-C", []os.Signal{os.Interrupt}, 1},
		{"SIGTERM", []os.Signal{syscall.SIGTERM}, 0},
		{"SIGTERM twice, SIGHUP", []os.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGHUP}, 0},
		{"SIGTERM, then Ctrl-C", []os.Signal{syscall.SIGTERM, os.Interrupt}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			signals, over := make(chan os.Signal), make(chan struct{})
			ctx, cancel := context.WithCancelCause(t.Context())
			letKill, done := 0, make(chan struct{})
			go func() {
				defer close(done)
				interruptedBy(signals, over, cancel, func() { letKill++ })
			}()
			for _, s := range tt.signals {
				signals <- s // unbuffered: each is taken, so none stops it listening
			}
			close(over)
			<-done
			if !errors.Is(context.Cause(ctx), errInterrupted) || letKill != tt.letKill {
				t.Errorf("cause %v, Ctrl-C kills again %d times, want %v and %d", context.Cause(ctx), letKill, errInterrupted, tt.letKill)
			}
		})
	}
}
